// A temporary folder that is removed when it is no longer used.

import SegmentLog
import SynclineGround

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A temporary folder.
final class ScratchFolder: Sendable {
    let path: String

    init() throws(ToolError) {
        var template = Array((getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp").utf8CString.dropLast())
        template += Array("/syncline-report.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            let error = StorageError(number: errno, operation: "createDirectory", name: "a temporary directory")
            throw ToolError(LogError(error))
        }
        path = template.withUnsafeBufferPointer {
            String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
        Leftovers.add(path)
    }

    deinit { Leftovers.discard(path) }
}
