// The real server as a process of its own, which a test may stop or kill.

import ChildProcesses
import Foundation
import SynclineCore
import SynclineWire

final class ServerProcess {
    private let child: ChildProcess
    /// Zero if it did not start.
    let port: UInt16

    init(
        _ words: [String], variables: [String: String] = [:], directory: String? = nil,
        errors: ChildProcess.Stream = .kept
    ) throws {
        let path = try ChildProcess.builds.appending(path: "syncline-server").path
        child = try ChildProcess(path, words, variables: variables, directory: directory, errors: errors)
        let url = (try? Value(json: Array((child.line() ?? "").utf8)))?["url"]?.string
        port = url?.split(separator: ":").last.flatMap { UInt16($0) } ?? 0
    }

    var errors: String { child.errors }
    var processID: Int32 { child.identifier }

    func kill() { child.kill() }
    func signal(_ number: Int32) { child.signal(number) }
    func wait() -> Int32 { child.wait() }
}
