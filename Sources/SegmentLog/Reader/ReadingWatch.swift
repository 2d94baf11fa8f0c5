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

    static func tell(_ done: UInt64, of total: UInt64) {
        observer?.tell(done, total)
    }

    static var isObserved: Bool { observer != nil }
}

extension LogCursor {
    /// Tells where the frame in hand ends.
    static func tell(_ segments: [LogCatalog.Segment], current: Int, offset: UInt64) {
        guard ReadingWatch.isObserved else { return }
        let before = segments[..<current].reduce(0) { $0 + $1.size }
        let total = segments[current...].reduce(before) { $0 + $1.size }
        ReadingWatch.tell(min(before + offset, total), of: total)
    }
}
