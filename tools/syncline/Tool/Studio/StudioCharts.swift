// The data of the page's charts: changes made and done, pending operations, the age of the oldest of them, and the
// size of the log before and after compression, each at a hundred places in the history.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect

struct StudioCharts {
    private var points: [JSONValue] = []
    private let segments: [LogReport.Segment]
    private static let places: UInt64 = 100

    init(_ storage: any LogStorage, through last: UInt64) throws {
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        let inspection = LogInspection(storage)
        segments = try inspection.verify().segments
        let projector = try StateLoader(storage).earliest()
        let first = projector.through
        let step = max(1, (last - first) / StudioCharts.places)
        var bytes: UInt64 = 0
        // The time of each change that may be needed, by its place in the series.
        var times: [(event: UInt64, time: Int64)] = []
        try inspection.forEachRecord(from: first + 1) { number, record in
            if number > last { return false }
            try projector.apply(record, number: number)
            bytes += UInt64(record.count)
            if number & 0x3ff == 0 { try projector.store.settle(above: 16 << 20) }
            guard (number - first) % step == 0 || number == last else { return true }
            let time = try EventReader(record, projector.shapes).time
            times.append((number, time))
            // Milliseconds since the oldest pending change was made.
            var age: Int64 = 0
            let reader = projector.reader(of: projector.store.snapshot)
            if let oldest = try reader.oldestPending {
                // The time of the last sampled event up to the change.
                let since = times.last { $0.event <= oldest }?.time ?? times.first?.time ?? time
                age = max(0, time - since)
            }
            let totals = projector.totals
            // Operations, as `pending` lists them.
            let pending = try PushPlan(reader).operations.count
            points.append([
                "n": .number(number), "time": .number(time), "made": .number(totals.made),
                "done": .number(totals.done + totals.superseded), "pending": .number(pending), "age": .number(age),
                "bytes": .number(bytes),
            ])
            return true
        } lost: { lost in
            if case .damage(let damage) = lost, damage.remedy != .cutTail { throw damage.error }
        }
    }

    var json: JSONValue {
        [
            "points": .array(points),
            "segments": .array(
                segments.map {
                    [
                        "address": .string("s\($0.ordinal)"), "bytes": .number($0.length.rawValue),
                        "rawBytes": .number($0.rawLength.rawValue),
                    ]
                }),
        ]
    }
}
