// The bytes of all files of a folder, to show that nothing was written.

import Foundation

/// Returns the content of each file below a folder, by its name.
func folderBytes(_ path: String) throws -> [String: Data] {
    var bytes: [String: Data] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: path) {
        bytes[name] = FileManager.default.contents(atPath: path + "/" + name)
    }
    return bytes
}
