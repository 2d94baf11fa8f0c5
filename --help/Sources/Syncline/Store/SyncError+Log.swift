// Maps the errors of the log and the state to `SyncError`.

import SegmentLog
package import SynclineCore

extension SyncError {
    package init(_ error: LogError) {
        let code: Code =
            switch error.code {
            case .storageFailed where error.isDiskFull: .diskFull
            case .storageFailed, .takenBack: .ioError
            case .invalidArgument: .usage
            default: Code(rawValue: error.code.rawValue)
            }
        var place = error.position.map(\.description)
        if place == nil { place = error.file }
        self.init(code, error.message, hint: error.hint, address: place)
    }
}

extension LogError {
    /// The error for a path where the store that was opened is no longer.
    static func otherStore(_ storage: any LogStorage, hint: String) -> LogError {
        LogError(.storeReplaced, "the store at \(storage.location) was removed or replaced", hint: hint)
    }
}

/// Runs `body` and maps the log's errors to `SyncError`.
func mapErrors<Result: ~Copyable>(_ body: () throws(LogError) -> Result) throws(SyncError) -> Result {
    do throws(LogError) { return try body() } catch { throw SyncError(error) }
}

/// Runs `body` and maps the state's errors to `SyncError`.
package func mapErrors<Result>(_ body: () throws(StateError) -> Result) throws(SyncError) -> Result {
    do throws(StateError) { return try body() } catch { throw SyncError(error) }
}
