// Runs long tasks: an interrupt cancels them, and progress is shown on a terminal.

import Syncline
import SynclineGround

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
        let begin = SystemSource.instant()
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
                if let progress = latest.current, SystemSource.instant() - begin > .milliseconds(500) {
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

extension SyncProgress {
    fileprivate var text: String {
        switch self {
        case .pushing(let done, let total): "pushing  \(done) of \(total)"
        case .pulling(let table, let received, let total):
            "pulling \(table)  \(received)" + (total.map { " of \(max($0, received))" } ?? "")
        }
    }
}
