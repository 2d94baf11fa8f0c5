// The data of the page's charts: changes made and done, pending operations, the age of the oldest of them, and the
// size of the log before and after compression, each at a hundred places in the history.

import SegmentLog
import Syncline
import SynclineCore

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
        let projector = try StateLoader(storage).earliest()
        step = max(1, (last - min(last, projector.through)) / StudioCharts.places)
        var lost = try add(after: projector, storage)
        // Where events are lost, the state is known again from the next checkpoint on.
        for through in try Checkpoint.list(storage).reversed() {
            guard let start = lost, through.rawValue >= start, through.rawValue < last else { continue }
            if let projector = try? StateLoader(storage).load(through: through.rawValue) {
                lost = try add(after: projector, storage)
            }
        }
    }

    /// Adds the places after a state. Returns the first lost event if there is one, and ends before it.
    private mutating func add(after projector: Projector, _ storage: any LogStorage) throws -> UInt64? {
        let first = projector.through
        var charts = self
        defer { self = charts }
        var lost: UInt64?
        try LogInspection(storage).forEachRecord(from: first + 1) { number, record in
            if number > last || lost != nil { return false }
            try projector.apply(record, number: number)
            charts.bytes += UInt64(record.count)
            if number & 0x3ff == 0 { try projector.store.settle(above: 16 << 20) }
            if (number - first) % step == 0 || number == last {
                try charts.add(number, try EventReader(record, projector.shapes).time, projector)
            }
            return true
        } lost: { found in
            if case .damage(let damage) = found, damage.remedy == .cutTail { return }
            lost = lost ?? projector.through + 1
        }
        return lost
    }

    private mutating func add(_ number: UInt64, _ time: Int64, _ projector: Projector) throws {
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
        // Operations that a push would send.
        let pending = try PushPlan(reader).toPush.count
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
