// The one place where the log's errors become the app's.

import SegmentLog
import SynclineCore

extension SyncError {
    init(_ error: LogError) {
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

/// Runs something that throws the log's error, in the app's words.
func inAppWords<Result>(_ body: () throws(LogError) -> Result) throws(SyncError) -> Result {
    do throws(LogError) { return try body() } catch { throw SyncError(error) }
}

/// Runs something that throws the state's error, in the app's words.
func inAppWords<Result>(_ body: () throws(StateError) -> Result) throws(SyncError) -> Result {
    do throws(StateError) { return try body() } catch { throw SyncError(error) }
}
