// The number and size of a log's events, by kind, or by kind and table.

import SegmentLog
import SynclineCore

struct EventCounts {
    /// What the events of a group concern.
    enum Subject: Hashable {
        /// No table, or it was not asked.
        case none
        case table(String)
        case several
    }

    struct Group {
        var kind: String
        var subject: Subject
        var count: UInt64 = 0
        /// The bytes of the events, and their share of the frames on the disk.
        var bytes: UInt64 = 0
        var storedBytes: UInt64 = 0
        var first: UInt64
        var last: UInt64
    }

    /// By the number of the kind.
    private var all = [[Subject: Group]](repeating: [:], count: 256)

    /// Counts by kind, which the first byte of an event tells.
    init(_ reading: EventReading) throws {
        try reading.forEachRecord { number, record in
            add(number, record, .none, stored: 0)
            return true
        }
    }

    /// Counts by kind and table, with shares of the frames.
    init(byTable storage: any LogStorage, lost: (RecordFound) throws -> Void) throws {
        let inspection = LogInspection(storage)
        var shares = try FrameShares(inspection)
        let shapes = ShapeTable()
        try inspection.forEachRecord(
            { number, record in
                let event = try? Event(record, shapes: shapes)
                let subject = event.map { Subject(EventSummary(number: number, event: $0).tables) } ?? .none
                add(number, record, subject, stored: try shares.take(number, record.count))
                return true
            }, lost: lost)
    }

    private mutating func add(
        _ number: UInt64, _ record: UnsafeRawBufferPointer, _ subject: Subject, stored: UInt64
    ) {
        let kind = record.first.flatMap(EventKind.init(rawValue:))
        let empty = Group(kind: kind?.cause ?? "other", subject: subject, first: number, last: number)
        func add(to group: inout Group) {
            group.count += 1
            group.bytes += UInt64(record.count)
            group.storedBytes += stored
            group.last = number
        }
        add(to: &all[Int(kind?.rawValue ?? 0)][subject, default: empty])
    }

    /// The groups by kind, and then by table.
    var groups: [Group] { all.flatMap { $0.values.sorted { $0.subject.order < $1.subject.order } } }

    /// The last event that opened the store.
    var lastOpening: UInt64? { all[Int(EventKind.opened.rawValue)].values.map(\.last).max() }
}

extension EventCounts.Subject {
    init(_ tables: Set<String>) {
        self = tables.count > 1 ? .several : tables.first.map { .table($0) } ?? .none
    }

    var text: String {
        switch self {
        case .none: "–"
        case .table(let name): escaped(name)
        case .several: "several"
        }
    }

    fileprivate var order: (Int, String) {
        switch self {
        case .none: (0, "")
        case .table(let name): (1, name)
        case .several: (2, "")
        }
    }
}

extension EventCounts.Group {
    /// How much smaller its events are on the disk; nil if that was not counted.
    var ratio: Double? { storedBytes == 0 ? nil : Double(bytes) / Double(storedBytes) }

    var json: JSONValue {
        let table: String? = if case .table(let name) = subject { name } else { nil }
        return [
            "kind": .string(kind), "table": .optional(table), "several": .boolean(subject == .several),
            "events": .number(count), "bytes": .number(bytes), "storedBytes": .number(storedBytes),
            "ratio": ratio.map { .number($0, places: 2) } ?? .null, "first": .string("@\(first)"),
            "last": .string("@\(last)"),
        ]
    }
}
