// What each record takes of the frames of a log: its share by bytes before compression. The shares of the records of a
// frame add up to the frame's size.

import SegmentLog

struct FrameShares {
    /// A frame with the end of its last record, and the fragments before it.
    private struct Frame {
        var last: UInt64 = 0
        var rawSize: UInt64 = 0
        var size: UInt64 = 0
    }

    private let inspection: LogInspection
    /// Those whose frames were not read.
    private var segments: ArraySlice<LogCatalog.Segment>
    private var frames: ArraySlice<Frame> = []
    /// How much of the first frame's records was taken, and what of its size they got.
    private var (taken, given): (UInt64, UInt64) = (0, 0)

    init(_ inspection: LogInspection) throws {
        self.inspection = inspection
        segments = try inspection.catalog().segments[...]
    }

    /// Takes records in order; one in a frame that can't be read has no share.
    mutating func take(_ number: UInt64, _ count: Int) throws -> UInt64 {
        while true {
            while let frame = frames.first, frame.last < number {
                frames.removeFirst()
                (taken, given) = (0, 0)
            }
            if !frames.isEmpty { break }
            guard let segment = segments.popFirst() else { return 0 }
            try read(segment)
        }
        guard let frame = frames.first else { return 0 }
        taken += UInt64(count)
        let share = number == frame.last ? frame.size : min(frame.size, frame.size * taken / max(1, frame.rawSize))
        defer { given = share }
        return share - given
    }

    private mutating func read(_ segment: LogCatalog.Segment) throws {
        var found: [Frame] = []
        var open = Frame()
        try inspection.frames(FrameSelection(segment: segment.ordinal)) { step in
            guard case .item(let entry) = step else { return open = Frame() }
            let summary = entry.summary
            guard summary.kind == .data || summary.kind == .fragment else { return }
            open.rawSize += summary.rawLength.rawValue
            open.size += summary.length.rawValue
            if summary.kind == .fragment { return }
            open.last = summary.records.last.rawValue
            found.append(open)
            open = Frame()
        }
        frames = found[...]
    }
}
