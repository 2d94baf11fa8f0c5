// Following a log: a command reads the present events, then new ones as they are written, until it is interrupted.

import SegmentLog

extension Context {
    /// The pause after which a quiet log is read again: short at first, then twice as long each time.
    private static let pauses = (first: Duration.milliseconds(5), longest: Duration.milliseconds(160))

    /// Calls `frame` with each frame of a log from an event on, and `caughtUp` after the last one that is there.
    func follow(
        _ storage: any LogStorage, from first: UInt64, frame: (inout LogCursor) throws -> Void,
        caughtUp: () throws -> Void
    ) async throws {
        host.interrupt.listen()
        var cursor = try LogReader.open(storage, showing: .written).cursor(from: SequenceNumber(rawValue: first))
        var pause = Context.pauses.first
        while !host.interrupt.isSet {
            var hasNews = false
            while try cursor.nextFrame() {
                hasNews = true
                try frame(&cursor)
            }
            if hasNews {
                try caughtUp()
                pause = Context.pauses.first
            }
            try output.flush()
            if output.isClosed { throw ClosedPipe() }
            try await Task.sleep(for: pause)
            pause = min(pause * 2, Context.pauses.longest)
        }
    }
}
