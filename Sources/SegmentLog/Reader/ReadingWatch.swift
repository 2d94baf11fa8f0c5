// Reports how far a reading of a log is. Readers pass nothing on for it: the observer is a value of the task.

package enum ReadingWatch {
    /// A class, because a task-local closure is passed with a wrong type by the optimizer of Swift 6.3, and crashes.
    private final class Observer: Sendable {
        let tell: @Sendable (_ done: UInt64, _ total: UInt64) -> Void

        init(_ tell: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void) {
            self.tell = tell
        }
    }

    @TaskLocal private static var observer: Observer?

    /// Runs `body`. Each log that it reads tells the observer, with each frame, where in the log the frame ends, in bytes, and
    /// how many bytes the log has.
    package static func observe<Value>(
        _ tell: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void, during body: () throws -> Value
    ) rethrows -> Value {
        try $observer.withValue(Observer(tell), operation: body)
    }

    /// Runs a task that reads logs, or writes checkpoints, in the same way.
    package static func observe<Value>(
        _ tell: @escaping @Sendable (_ done: UInt64, _ total: UInt64) -> Void, during body: () async throws -> Value
    ) async rethrows -> Value {
        try await $observer.withValue(Observer(tell), operation: body)
    }

    package static func tell(_ done: UInt64, of total: UInt64) {
        observer?.tell(done, total)
    }

    /// Tells where a frame of a log ends.
    static func tell(_ offset: UInt64, in current: Int, of segments: [LogCatalog.Segment]) {
        guard observer != nil else { return }
        let before = segments[..<current].reduce(0) { $0 + $1.size }
        let total = segments[current...].reduce(before) { $0 + $1.size }
        tell(min(before + offset, total), of: total)
    }
}
