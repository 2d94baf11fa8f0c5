// The number and size of a log's events, by kind.

import SynclineCore

/// The number of events of each kind in a log, found by their first bytes.
struct EventCounts {
    struct Kind {
        var name: String
        var count: UInt64 = 0
        var bytes: UInt64 = 0
        var first: UInt64 = 0
        var last: UInt64 = 0
    }

    private(set) var kinds: [Kind] = []

    init(_ reading: EventReading) throws {
        var all = (UInt8.min...UInt8.max).map { Kind(name: EventKind(rawValue: $0)?.cause ?? "other") }
        try reading.forEachRecord { number, record in
            let kind = record.first.flatMap(EventKind.init(rawValue:))?.rawValue ?? 0
            let place = Int(kind)
            if all[place].count == 0 { all[place].first = number }
            all[place].count += 1
            all[place].bytes += UInt64(record.count)
            all[place].last = number
            return true
        }
        kinds = all.filter { $0.count > 0 }
    }
}
