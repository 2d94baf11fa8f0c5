// The exit codes of the tool.

/// How a command ended.
package enum ExitCode: Int32, Sendable {
    /// Done, or the answer is yes.
    case done = 0
    /// The answer is no.
    case no = 1
    /// The command line is wrong.
    case usage = 2
    /// The command failed.
    case failed = 3
    /// Part of the answer could not be shown.
    case partial = 4
    /// A bug in the tool.
    case internalError = 70
}
