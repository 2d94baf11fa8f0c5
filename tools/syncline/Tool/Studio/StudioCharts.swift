// The data of the page's charts: changes made and done, pending operations, the age of the oldest of them, and the
// size of the log before and after compression, each at a hundred places in the history.

import SegmentLog
import Syncline

struct StudioCharts {
    private var points: [JSONValue] = []
    private let segments: [LogReport.Segment]
    private let last: UInt64
    /// How many events are between two places.
    private let step: UInt64
    private var bytes: UInt64 = 0
    /// The time of each change that may be needed, by its place in the series.
    private var times: [(event: UInt64, time: Int64)] = []
    private static let places: UInt64 = 100

    init(_ storage: any LogStorage, through last: UInt64) throws {
        let claim = HistoryReading.claim(storage)
        defer { claim?.release() }
        self.last = last
        segments = try LogInspection(storage).verify().segments
        let first = try StateLoader(storage).earliest().through
        step = max(1, (last - min(last, first)) / StudioCharts.places)
        var rows = FoldedRows()
        var lost: UInt64?
        while true {
            (points, bytes, times) = ([], 0, [])
            var outbox = try OutboxFold(from: StateLoader(storage).earliest(), folding: rows)
            lost = try add(&outbox, storage)
            if rows.areAll || lost == nil && outbox.isExact { break }
            rows = lost == nil ? outbox.rows : FoldedRows(areAll: true)
        }
        // Where events are lost, the state is known again from the next checkpoint on.
        for through in try Checkpoint.list(storage).reversed() {
            guard let start = lost, through.rawValue >= start, through.rawValue < last else { continue }
            if let projector = try? StateLoader(storage).load(through: through.rawValue) {
                var outbox = try OutboxFold(from: projector, folding: FoldedRows(areAll: true))
                lost = try add(&outbox, storage)
            }
        }
    }

    /// Adds the places after a state. Returns the first lost event if there is one, and ends before it.
    private mutating func add(_ outbox: inout OutboxFold, _ storage: any LogStorage) throws -> UInt64? {
        let first = outbox.projector.through
        var charts = self
        defer { self = charts }
        var lost: UInt64?
        try LogInspection(storage).forEachRecord(from: first + 1) { number, record in
            if number > last || lost != nil { return false }
            try outbox.apply(record, number: number)
            charts.bytes += UInt64(record.count)
            if outbox.isExact, (number - first) % step == 0 || number == last {
                try charts.add(number, try EventReader(record, outbox.projector.shapes).time, outbox)
            }
            return true
        } lost: {
            if $0.isLoss { lost = lost ?? outbox.projector.through + 1 }
        }
        return lost
    }

    private mutating func add(_ number: UInt64, _ time: Int64, _ outbox: OutboxFold) throws {
        times.append((number, time))
        // Milliseconds since the oldest pending change was made.
        var age: Int64 = 0
        if let oldest = try outbox.oldestPending {
            // The time of the last sampled event up to the change.
            let since = times.last { $0.event <= oldest }?.time ?? times.first?.time ?? time
            age = max(0, time - since)
        }
        let totals = outbox.totals
        let pending = try outbox.toPush
        points.append([
            "n": .number(number), "time": .number(time), "made": .number(totals.made),
            "done": .number(totals.done + totals.superseded), "pending": .number(pending), "age": .number(age),
            "bytes": .number(bytes),
        ])
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
