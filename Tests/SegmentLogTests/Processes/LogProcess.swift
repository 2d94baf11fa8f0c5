// A child process that writes a log, and its output.

import ChildProcesses
import Foundation

struct LogProcess {
    private let child: ChildProcess

    /// Starts `log-process`, which is beside the tests' executable.
    init(_ arguments: String...) throws {
        let path = try ChildProcess.builds.appending(path: "log-process").path
        child = try ChildProcess(
            path, arguments, variables: ProcessInfo.processInfo.environment, input: .pipe,
            errors: .descriptor(STDERR_FILENO))
    }

    /// Returns the next line of its output; nil at the end.
    func line() throws -> String? {
        guard let line = child.line() else { return nil }
        guard !line.hasPrefix("failed") else { throw ScenarioFailure("the child said: \(line)") }
        return line
    }

    /// Returns the next transaction it acknowledged; nil at the end of its output.
    func acknowledgement() throws -> ClosedRange<UInt64>? {
        guard let line = try line() else { return nil }
        let numbers = line.split(separator: " ").compactMap { UInt64($0) }
        guard numbers.count == 2 else { return try acknowledgement() }
        return numbers[0]...numbers[1]
    }

    /// Whether there is unread output.
    var hasOutput: Bool { child.hasOutput }

    /// Stops it; when this returns it no longer runs.
    func suspend() throws { try child.suspend() }

    /// Kills it; when this returns it is gone and has released everything.
    func kill() { child.kill() }

    func wait() { child.wait() }
}

/// A directory for one test, removed at its end.
final class PrivateDirectory {
    let path: String
    var log: String { path + "/log" }

    init() throws {
        path = FileManager.default.temporaryDirectory.appendingPathComponent("segment-log-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}
