// A clock and ids under a test's control: time passes only when the test advances it.

public import Foundation
public import Syncline
import SynclineGround

/// A clock that moves only when it is advanced, and numbered ids.
public final class ManualEnvironment: SyncEnvironment {
    private struct Sleeper {
        var due: Int64
        var continuation: CheckedContinuation<Bool, Never>
    }

    private struct State {
        var now: Int64
        var ids = 0
        var tickets = 0
        var sleepers: [Int: Sleeper] = [:]
    }

    private let state: Mutex<State>
    private let name: String

    /// Creates a clock at a time, to the millisecond. Ids are `name-1`, `name-2`, and so on.
    public init(now: Date = Date(timeIntervalSince1970: 1_767_225_600), name: String = "id") {
        state = Mutex(State(now: now.milliseconds))
        self.name = name
    }

    public func now() -> Date { Date(milliseconds: state.withLock { $0.now }) }

    public func newID() -> String {
        state.withLock { state in
            state.ids += 1
            return "\(name)-\(state.ids)"
        }
    }

    public func chance() -> Double { 0.5 }

    /// The earliest time that a task is waiting for.
    public var nextWaking: Date? {
        state.withLock { $0.sleepers.values.map(\.due).min() }.map { Date(milliseconds: $0) }
    }

    /// Advances the clock, and wakes the tasks whose time has come.
    public func advance(by duration: Duration) {
        let milliseconds = duration.milliseconds
        let woken = state.withLock { state in
            state.now += milliseconds
            let due = state.sleepers.filter { $0.value.due <= state.now }
            for ticket in due.keys { state.sleepers[ticket] = nil }
            return due.sorted { ($0.value.due, $0.key) < ($1.value.due, $1.key) }.map(\.value.continuation)
        }
        for continuation in woken { continuation.resume(returning: true) }
    }

    public func wait(for duration: Duration) async throws {
        let milliseconds = duration.milliseconds
        let ticket = state.withLock { state in
            state.tickets += 1
            return state.tickets
        }
        let isOver = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let known: Bool? = state.withLock { state in
                    if Task.isCancelled { return false }
                    if milliseconds <= 0 { return true }
                    state.sleepers[ticket] = Sleeper(due: state.now + milliseconds, continuation: continuation)
                    return nil
                }
                if let known { continuation.resume(returning: known) }
            }
        } onCancel: {
            state.withLock { $0.sleepers.removeValue(forKey: ticket) }?.continuation.resume(returning: false)
        }
        if !isOver { throw CancellationError() }
    }
}
