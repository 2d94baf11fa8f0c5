// Shows how far a reading is.

import SegmentLog

extension Context {
    /// Runs what reads a log, and shows its progress on a terminal.
    func whileReading<Value, Failure: Error>(
        _ label: String, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let progress = narration.progress(label, total: 0)
        defer { progress.finish() }
        // Called by the reading itself, on this thread.
        nonisolated(unsafe) let watched = progress
        var result: Result<Value, Failure>?
        ReadingWatch.observe({ watched.move(to: $0, of: $1) }) {
            result = Result { () throws(Failure) in try body() }
        }
        guard let result else { preconditionFailure("a reading ends") }
        return try result.get()
    }

    /// The same for a task that waits.
    func whileReading<Value>(
        _ label: String, _ body: () async throws -> Value
    ) async throws -> Value {
        let progress = narration.progress(label, total: 0)
        defer { progress.finish() }
        // Called by the task itself, one call after the other.
        nonisolated(unsafe) let watched = progress
        return try await ReadingWatch.observe({ watched.move(to: $0, of: $1) }, during: body)
    }

    /// Runs what writes a list while it reads. Progress would be in the way of a list on the same terminal.
    func whileListing(_ label: String, _ body: () throws -> Void) throws {
        if output.form == .human { try body() } else { try whileReading(label, body) }
    }
}
