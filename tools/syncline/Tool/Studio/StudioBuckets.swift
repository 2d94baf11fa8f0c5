// The bars of the timeline: how many events of each sort fall into each part of a stretch of time or of the history.

import SynclineCore

struct StudioBuckets {
    /// The sorts of bars, from the bottom.
    static let sorts = ["local", "push", "pull", "other"]

    struct Bucket {
        /// The first event; nil for a bucket that has none.
        var first: UInt64?
        var counts = [UInt32](repeating: 0, count: StudioBuckets.sorts.count)
        var problems: UInt32 = 0
        var isLost = false
    }

    private(set) var buckets: [Bucket]
    let start: Int64
    let end: Int64

    /// - Parameters:
    ///   - byTime: Whether the axis is time, in milliseconds, rather than the numbers of events.
    init(_ index: StudioIndex, from start: Int64, through end: Int64, count: Int, byTime: Bool) {
        self.start = start
        self.end = max(start, end)
        buckets = Array(repeating: Bucket(), count: count)
        let width = Double(self.end) - Double(start) + 1
        for place in index.marks.indices {
            let number = index.first + UInt64(place)
            let here = byTime ? index.times[place] : Int64(clamping: number)
            guard here >= start, here <= self.end else { continue }
            let bucket = min(count - 1, Int((Double(here) - Double(start)) / width * Double(count)))
            add(index, place, number, to: bucket)
        }
    }

    private mutating func add(_ index: StudioIndex, _ place: Int, _ number: UInt64, to bucket: Int) {
        if buckets[bucket].first == nil { buckets[bucket].first = number }
        guard let kind = index.marks[place].kind else {
            buckets[bucket].isLost = true
            return
        }
        buckets[bucket].counts[StudioBuckets.sort(kind)] += 1
        if StudioIndex.problems.contains(index.outcome(place)) { buckets[bucket].problems += 1 }
    }

    private static func sort(_ kind: EventKind) -> Int {
        switch kind {
        case .local, .undone, .discarded, .resolved: 0
        case .sent, .answered, .serverWorked: 1
        case .page, .purged, .cursorReset: 2
        default: 3
        }
    }

    var json: JSONValue {
        [
            "from": .number(start), "to": .number(end), "sorts": .array(StudioBuckets.sorts.map(JSONValue.string)),
            "buckets": .array(
                buckets.map { bucket in
                    [
                        "first": bucket.first.map { .number($0) } ?? .null,
                        "counts": .array(bucket.counts.map { .number($0) }), "problems": .number(bucket.problems),
                        "lost": .boolean(bucket.isLost),
                    ]
                }),
        ]
    }
}
