// The real tool as a process of its own.

import ChildProcesses
import Foundation

extension ChildProcess {
    /// The tool that was built with these tests.
    static var tool: String {
        get throws { try builds.appending(path: "syncline").path }
    }

    static func tool(_ words: String..., on log: TestLog, variables: [String: String] = [:]) throws -> ChildProcess {
        let known = ["PATH": "/usr/bin:/bin", "SYNCLINE_STORE": log.path]
        return try ChildProcess(
            try tool, words, variables: known.merging(variables) { $1 }, input: .pipe, errors: .kept)
    }
}
