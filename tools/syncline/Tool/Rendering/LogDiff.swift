// `diff --log`: where two logs part, event by event.

import SegmentLog
import Syncline
import SynclineGround

/// The records of a log, one after the other.
private struct RecordStream: ~Copyable {
    private var cursor: LogCursor
    private var waiting: [(number: UInt64, bytes: [UInt8])] = []
    private var place = 0

    init(_ storage: any LogStorage, from first: UInt64) throws {
        let reader = try LogReader.open(storage, showing: .written)
        cursor =
            first <= 1 ? try reader.cursor() : try reader.cursor(from: SequenceNumber(rawValue: first))
    }

    mutating func next() throws -> (number: UInt64, bytes: [UInt8])? {
        while place >= waiting.count {
            waiting.removeAll(keepingCapacity: true)
            place = 0
            guard try cursor.nextFrame() else { return nil }
            var records: [(number: UInt64, bytes: [UInt8])] = []
            try cursor.forEachRecord { (number, record) throws in
                records.append((number.rawValue, record.withUnsafeBytes { [UInt8]($0) }))
            }
            waiting = records
        }
        defer { place += 1 }
        return waiting[place]
    }
}

struct LogDiff {
    /// How many events both have, and from which on they were compared.
    private(set) var compared: UInt64 = 0
    private(set) var from: UInt64
    /// The first event that differs, on both sides; a side is nil if its log has ended. Nil if none differs.
    private(set) var first: (number: UInt64, left: EventSummary?, right: EventSummary?)?

    /// - Parameter ignoresTimes: Whether the times of events, and what opened the store, are ignored.
    init(_ left: any LogStorage, _ right: any LogStorage, ignoresTimes: Bool, redacts: Bool) throws {
        let storages = [left, right]
        let claims = storages.map { HistoryReading.claim($0) }
        defer { for claim in claims { claim?.release() } }
        let floors = try storages.map { try LogReader.open($0, showing: .written).floor.rawValue }
        from = max(1, floors[0], floors[1])
        var leftStream = try RecordStream(left, from: from)
        var rightStream = try RecordStream(right, from: from)
        let shapes = (ShapeTable(), ShapeTable())
        while true {
            let (mine, theirs) = (try leftStream.next(), try rightStream.next())
            guard mine != nil || theirs != nil else { return }
            if let mine, let theirs, mine.number == theirs.number {
                let isSame =
                    try mine.bytes == theirs.bytes
                    || ignoresTimes && LogDiff.means(mine.bytes, theirs.bytes, shapes)
                if isSame {
                    compared += 1
                    continue
                }
            }
            let number = min(mine?.number ?? .max, theirs?.number ?? .max)
            func side(_ record: (number: UInt64, bytes: [UInt8])?, _ shapes: ShapeTable) throws -> EventSummary? {
                guard let record, record.number == number else { return nil }
                let event = try record.bytes.withBytes { try Event($0, shapes: shapes) }
                return EventSummary(number: number, event: event, redacts: redacts)
            }
            first = (number, try side(mine, shapes.0), try side(theirs, shapes.1))
            return
        }
    }

    /// Whether two events say the same at other times.
    private static func means(_ left: [UInt8], _ right: [UInt8], _ shapes: (ShapeTable, ShapeTable)) throws -> Bool {
        var one = try left.withBytes { try Event($0, shapes: shapes.0) }
        var other = try right.withBytes { try Event($0, shapes: shapes.1) }
        if case .opened = one.body, case .opened = other.body { return true }
        one.time = 0
        other.time = 0
        return one == other
    }

    /// The members of the first difference that are not the same on both sides.
    var members: [(name: String, left: JSONValue?, right: JSONValue?)] {
        guard case .object(let left)? = first?.left?.json, case .object(let right)? = first?.right?.json else {
            return []
        }
        var names = left.map(\.key)
        names += right.map(\.key).filter { !names.contains($0) }
        return names.compactMap { name in
            let one = left.first { $0.key == name }?.value
            let other = right.first { $0.key == name }?.value
            return one == other ? nil : (name, one, other)
        }
    }

    var json: JSONValue {
        [
            "equal": .boolean(first == nil), "compared": .number(compared), "from": .string("@\(from)"),
            "first": .optional(first.map { "@\($0.number)" }), "left": first?.left?.json ?? .null,
            "right": first?.right?.json ?? .null,
            "members": .array(members.map { .string($0.name) }),
        ]
    }

    /// The same for people; `names` are what the logs are called.
    func lines(_ names: (String, String), _ style: TextStyle) -> [String] {
        let begins = from > 1 ? " from @\(from) on" : ""
        guard let first else { return ["\(counted(compared, "event"))\(begins): no difference"] }
        let same = "\(counted(compared, "event")) before it are the same"
        var lines = ["@\(first.number) is the first event that differs; \(same)\(begins)"]
        for (name, event, role) in [(names.0, first.left, TextRole.bad), (names.1, first.right, .good)] {
            let what =
                event.map { "\(style.isForPeople ? $0.humanTime : $0.time)  \($0.event.cause)  \($0.line)" }
                ?? "it ends before"
            lines.append("  \(style.paint(escaped(name), role))  \(escaped(what))")
        }
        for member in members {
            let (one, other) = (member.left?.text ?? "–", member.right?.text ?? "–")
            lines.append(
                "  \(escaped(member.name)): \(style.paint(escaped(one), .bad)) → \(style.paint(escaped(other), .good))")
        }
        if members.isEmpty, first.left != nil, first.right != nil {
            lines.append("  they mean the same, but their bytes differ")
        }
        return lines
    }
}
