// Runs long tasks: an interrupt cancels them, and progress is shown on a terminal.

import SegmentLog
import Syncline
import SynclineGround
import SynclineInspect

/// The latest progress of a running task.
private final class Latest<Value: Sendable>: Sendable {
    private let value = Mutex<Value?>(nil)

    func set(_ new: Value) { value.withLock { $0 = new } }

    var current: Value? { value.withLock { $0 } }
}

extension Context {
    func whileWatching<Value: Sendable>(
        _ body: @escaping @Sendable (@escaping @Sendable (SyncProgress) -> Void) async throws -> Value
    ) async throws -> Value {
        let latest = Latest<SyncProgress>()
        let interrupt = host.interrupt
        let listens = host.session == nil
        if listens { interrupt.listen() }
        let begin = ContinuousClock.now
        defer { narration.endProgress() }
        return try await withThrowingTaskGroup(of: Value?.self) { group in
            group.addTask { try await body { latest.set($0) } }
            if listens { group.addTask { await Self.tick() } }
            while let result = try await group.next() {
                if let value = result {
                    group.cancelAll()
                    return value
                }
                if interrupt.isSet {
                    // The task ends with its own report.
                    group.cancelAll()
                    continue
                }
                if let progress = latest.current, ContinuousClock.now - begin > .milliseconds(500) {
                    narration.showProgress(progress.text)
                }
                group.addTask { await Self.tick() }
            }
            throw CancellationError()
        }
    }

    private static func tick<Value: Sendable>() async -> Value? {
        try? await Task.sleep(for: .milliseconds(100))
        return nil
    }
}

extension Context {
    /// Runs what reads a log, and shows how far it is where people watch.
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

extension SyncProgress {
    fileprivate var text: String {
        switch self {
        case .pushing(let done, let total): "pushing  \(done) of \(total)"
        case .pulling(let table, let received, let total):
            "pulling \(table)  \(received)" + (total.map { " of \(max($0, received))" } ?? "")
        }
    }
}
