// Commands of a shell, and files for them.

import ChildProcesses
import Foundation

/// How a command ends.
func shell(_ command: String) throws -> Int32 {
    try ChildProcess.run("/bin/sh", ["-c", command]).exit
}

extension [UInt8] {
    func write(to path: String) throws {
        try Data(self).write(to: URL(fileURLWithPath: path))
    }
}
