// The only error type of the tool: its message for people and programs, and the exit code. All other errors are
// converted to it here.

package import SegmentLog
package import SynclineCore

/// The reason why a command failed.
package struct ToolError: Error, Hashable, Sendable {
    /// A stable kebab-case name.
    package var code: String
    /// The error in a sentence.
    package var message: String
    /// The place: `s7:5209663`.
    package var address: String?
    package var file: String?
    package var records: String?
    /// What the user can do next.
    package var hint: String?
    package var exit: ExitCode

    package init(_ code: String, _ message: String, hint: String? = nil, exit: ExitCode = .failed) {
        self.code = code
        self.message = message
        self.hint = hint
        self.exit = exit
    }

    package static func usage(_ message: String, hint: String? = nil) -> ToolError {
        ToolError("usage", message, hint: hint, exit: .usage)
    }

    package init(_ error: LogError) {
        // For a writer that stopped, the user needs the reason.
        let stopped = error.isDiskFull ? LogError.Code.diskFull : .ioError
        let code = error.code == .storageFailed ? stopped : error.code
        self.init(code.rawValue, error.message, hint: ToolError.hint(error.hint))
        address = error.position?.description
        file = error.file
        records = error.records?.description
    }

    package init(_ error: SyncError) {
        let exit: ExitCode =
            switch error.code {
            case .operationNotFound: .no
            case .internalError: .internalError
            default: .failed
            }
        self.init(error.code.rawValue, error.message, hint: ToolError.hint(error.hint), exit: exit)
        address = error.address
    }

    /// The hint of the library, or the command that does what it says.
    private static func hint(_ hint: String?) -> String? { hint.map { commands[$0] ?? $0 } }

    private static let commands = [
        LogError.absenceHint: "Run `syncline init`, or check the path.",
        LogError.damageHint: "Nothing was changed. `syncline verify` lists the damage; `syncline repair --salvage DIR` "
            + "makes a new store of all that can be read.",
        Hint.damage: "Nothing was changed. `syncline verify` lists the damage.",
        Hint.untrueCheckpoint: "Close the store and run `syncline repair`: it moves the checkpoint into quarantine, "
            + "and the state is rebuilt from the log.",
        Hint.unreadableChanges: "`syncline repair` moves the file into quarantine.",
        Hint.backend: "Set its URL: `syncline config backend URL`.",
        Hint.branch: "Land it, then do this in the store: `syncline branch land NAME`.",
        Hint.branches: "Nothing was changed. Land or drop them first: `syncline branch land NAME`.",
        Hint.branchBase: "Its rows can still be read: `syncline export --branch NAME`.",
    ]

    /// Converts any error; nil if the reader of the output has closed it, which is not an error.
    init?(_ error: any Error) {
        switch error {
        case is ClosedPipe, is CancellationError: return nil
        case let error as ToolError: self = error
        case let error as LogError: self.init(error)
        case let error as SyncError: self.init(error)
        case let error as StorageError: self.init(LogError(error))
        default:
            self.init(
                "internal", "\(error)", hint: "This is a bug in syncline; please report it.", exit: .internalError)
        }
    }

    package var json: JSONValue {
        let fields: JSONValue = ["code": .string(code), "message": .string(message), "hint": .optional(hint)]
        return [
            "error": fields.adding([
                "address": address.map(JSONValue.string), "file": file.map(JSONValue.string),
                "records": records.map(JSONValue.string),
            ])
        ]
    }
}
