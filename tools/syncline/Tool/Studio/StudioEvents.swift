// The list of events and the timeline for the page. The index grows by a part at each request, so that no request
// waits until a long log has been read.

import SegmentLog
import SynclineCore
import SynclineGround

final class StudioEvents: Sendable {
    private let storage: POSIXStorage
    private struct Content {
        var index = StudioIndex()
        /// The lines of the filters used last, for an index of some length.
        var known: [(filter: StudioFilter, next: UInt64, lines: [StudioLine])] = []
        var rows: [(row: StudioRow, numbers: [UInt64], through: UInt64)] = []
        var damage: [LogDamage] = []
        var isComplete = false

        mutating func lines(of filter: StudioFilter, _ ofRow: [UInt64]?) -> [StudioLine] {
            let same = known.first { $0.filter == filter && $0.next == index.next }
            if let same { return same.lines }
            let found = index.lines(filter, ofRow: ofRow)
            known = known.filter { $0.filter != filter }.suffix(StudioEvents.kept - 1) + [(filter, index.next, found)]
            return found
        }
    }
    private let content = Mutex(Content())
    /// The events that one request adds to the index.
    private static let part = 50_000
    private static let kept = 4

    init(_ storage: POSIXStorage) {
        self.storage = storage
    }

    // MARK: Growing

    /// Reads further events, at most a part; returns the end of the index and whether it is that of the log.
    func advance() throws -> (numbers: Range<UInt64>, isComplete: Bool) {
        try content.withLock { content in
            let oldest = try LogInspection(storage).catalog().segments.first
            let floor = oldest?.first.rawValue ?? 1
            content.index.begin(at: floor)
            if content.index.remove(before: floor) {
                content.known = []
                for place in content.rows.indices { content.rows[place].numbers.removeAll { $0 < floor } }
                content.damage.removeAll { $0.position.map { $0.segment < oldest?.ordinal ?? 0 } ?? false }
            }
            let start = content.index.next
            var read = 0
            let shapes = ShapeTable()
            var damage: [LogDamage] = []
            content.isComplete = true
            try LogInspection(storage).forEachRecord(from: start) { number, record in
                if read == StudioEvents.part {
                    content.isComplete = false
                    return false
                }
                read += 1
                content.index.add(number, try? Event(record, shapes: shapes))
                return true
            } lost: { found in
                if case .damage(let found) = found, found.remedy != .cutTail { damage.append(found) }
            }
            for found in damage where !content.damage.contains(found) { content.damage.append(found) }
            if content.isComplete { try StudioEvents.addLost(&content, storage) }
            return (content.index.numbers, content.isComplete)
        }
    }

    /// Adds the events at the end of a damaged log, of which only the number is known.
    private static func addLost(_ content: inout Content, _ storage: POSIXStorage) throws {
        guard !content.damage.isEmpty else { return }
        let inspection = LogInspection(storage)
        let last = try inspection.lastRecord(try inspection.catalog()).rawValue
        if last >= content.index.next { content.index.add(last, nil) }
    }

    /// The damage, as far as the index has been read.
    var damage: [LogDamage] { content.withLock { $0.damage } }
    var gaps: [ClosedRange<UInt64>] { content.withLock { $0.index.gaps } }
    var tables: [String] { content.withLock { $0.index.tables.sorted() } }

    /// The times of the first and the last event.
    var times: (first: Int64, last: Int64)? {
        content.withLock { content in
            guard let first = content.index.times.first, let last = content.index.times.last else { return nil }
            return (first, last)
        }
    }

    /// When an event was made.
    func time(of number: UInt64) -> Int64? {
        content.withLock { content in content.index.place(of: number).map { content.index.times[$0] } }
    }

    /// The last event up to a time.
    func event(at time: Int64) throws -> UInt64 {
        if let first = times?.first, time < first { throw Moment.before((index.first, first)) }
        return content.withLock { max($0.index.first, $0.index.event(at: time)) }
    }

    /// The index as far as it has been read.
    var index: StudioIndex { content.withLock { $0.index } }

    // MARK: Lines

    /// A part of the lines that a filter leaves, and the place of the line that shows an event.
    func lines(
        _ filter: StudioFilter, _ ids: IDComparison, skip: Int, top: Int, find number: UInt64?
    ) throws -> JSONValue {
        do {
            return try known(filter, ids, skip, top, number)
        } catch let error as LogError where error.code == .collected {
            // A compaction has removed events that the index had.
            _ = try advance()
            return try known(filter, ids, skip, top, number)
        }
    }

    private func known(
        _ filter: StudioFilter, _ ids: IDComparison, _ skip: Int, _ top: Int, _ number: UInt64?
    ) throws -> JSONValue {
        let ofRow = try filter.row.map { try numbers(of: $0, ids) }
        let (all, index) = content.withLock { content in (content.lines(of: filter, ofRow), content.index) }
        let place = number.map { all.place(of: $0) }
        let shown = all.dropFirst(max(0, skip)).prefix(top)
        return [
            "count": .number(all.count), "skip": .number(max(0, skip)), "place": place.map { .number($0) } ?? .null,
            "lines": .array(try json(Array(shown), index)),
        ]
    }

    /// The events that concern a row, with those that were indexed since the last request.
    func numbers(of row: StudioRow, _ ids: IDComparison) throws -> [UInt64] {
        let known = content.withLock { content in content.rows.first { $0.row == row } }
        var numbers = known?.numbers ?? []
        var through = known?.through ?? 0
        let next = content.withLock { $0.index.next }
        let focus = RowFocus(table: row.table, id: row.id)
        let shapes = ShapeTable()
        try LogInspection(storage).forEachRecord(from: max(through + 1, content.withLock { $0.index.first })) {
            number, record in
            if number >= next { return false }
            through = number
            guard let kind = try? EventReader(record, shapes).kind, focus.mayConcern(record, kind: kind),
                let event = try? Event(record, shapes: shapes)
            else { return true }
            if case .undone(let undone) = event.body {
                if numbers.contains(undone) { numbers.append(number) }
            } else if event.names(row, ids) {
                numbers.append(number)
            }
            return true
        }
        let found = (row: row, numbers: numbers, through: through)
        content.withLock { content in
            content.rows = content.rows.filter { $0.row != row }.suffix(StudioEvents.kept - 1) + [found]
        }
        return numbers
    }

    private func json(_ lines: [StudioLine], _ index: StudioIndex) throws -> [JSONValue] {
        let single = lines.filter { if case .folded = $0.role { false } else { true } }.map(\.first)
        let events = try summaries(single)
        return lines.map { line in
            let time = index.place(of: line.last).map { index.times[$0] } ?? 0
            let head: JSONValue = [
                "n": .number(line.first), "last": .number(line.last), "time": .number(time),
            ]
            if case .folded(let isOpen) = line.role {
                let words = index.words(line.first...line.last)
                return head.adding([
                    "kind": .string(words.kind), "what": .string(words.what), "open": .boolean(isOpen),
                    "problem": .boolean(index.hasProblem(line.first...line.last)),
                ])
            }
            let event = events[line.first]
            return head.adding([
                "kind": .string(event?.event.cause ?? "lost"),
                "what": .string(event?.line ?? "can’t be read"),
                "part": line.role == .part ? .boolean(true) : nil,
                "problem": .boolean(index.hasProblem(line.first...line.first)),
            ])
        }
    }

    /// The events with some numbers, which are in order. A long way between two of them is not read.
    func summaries(_ numbers: [UInt64]) throws -> [UInt64: EventSummary] {
        var found: [UInt64: EventSummary] = [:]
        let shapes = ShapeTable()
        var place = 0
        while place < numbers.count {
            let start = place
            try LogInspection(storage).forEachRecord(from: numbers[start]) { number, record in
                while place < numbers.count, numbers[place] < number { place += 1 }
                guard place < numbers.count, numbers[place] < number + StudioEvents.reach else { return false }
                guard numbers[place] == number else { return true }
                if let event = try? Event(record, shapes: shapes) {
                    found[number] = EventSummary(number: number, event: event)
                }
                place += 1
                return place < numbers.count
            }
            place = max(place, start + 1)
        }
        return found
    }

    private static let reach: UInt64 = 2000

    // MARK: Timeline

    func timeline(from: Int64?, to: Int64?, count: Int, byTime: Bool) -> JSONValue {
        content.withLock { content in
            let index = content.index
            let first = byTime ? index.times.first ?? 0 : Int64(clamping: index.first)
            let last = byTime ? index.times.last ?? 0 : Int64(clamping: index.next) - 1
            return StudioBuckets(
                index, from: from ?? first, through: to ?? last, count: min(max(1, count), 1000), byTime: byTime
            ).json
        }
    }
}

extension StudioIndex {
    func hasProblem(_ numbers: ClosedRange<UInt64>) -> Bool {
        numbers.contains { number in
            place(of: number).map { StudioIndex.problems.contains(outcome($0)) } ?? false
        }
    }
}

extension [StudioLine] {
    /// The place of the line that shows an event, or of the line before it if none does.
    func place(of number: UInt64) -> Int {
        Swift.max(0, countOfFirst { $0.first <= number } - 1)
    }
}

extension Event {
    fileprivate func names(_ row: StudioRow, _ ids: IDComparison) -> Bool {
        if case .purged(let purge) = body, purge.ids == nil { return purge.table == row.table }
        let key = RowKey.bytes(row.table, row.id, ids)
        return rows.contains { $0.table == row.table && RowKey.bytes($0.table, $0.id, ids) == key }
    }
}
