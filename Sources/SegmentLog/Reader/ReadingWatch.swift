// How far a reading of a log is, for whoever runs one and has people waiting. What reads passes nothing on: it is a value of
// the task.

package enum ReadingWatch {
    /// Told with each frame where in the log it ends, in bytes, and how many bytes the log has.
    @TaskLocal package static var observer: (@Sendable (_ done: UInt64, _ total: UInt64) -> Void)?
}

extension LogCursor {
    /// Tells where the frame in hand ends.
    static func tell(_ segments: [LogCatalog.Segment], current: Int, offset: UInt64) {
        guard let observer = ReadingWatch.observer else { return }
        let before = segments[..<current].reduce(0) { $0 + $1.size }
        let total = segments[current...].reduce(before) { $0 + $1.size }
        observer(min(before + offset, total), total)
    }
}
