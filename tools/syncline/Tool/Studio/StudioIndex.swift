// The events of a log in sixteen bytes each: when they were made, of what kind they are, which table and how many rows
// they concern, and how the server answered. It is read once and continued as an app writes, so that lists, filters
// and the timeline of a million events need no further look into the log.

import SynclineCore

struct StudioIndex {
    struct Mark {
        /// The kind of the event; nil for an event that can't be read.
        var kind: EventKind?
        /// The place of the outcome in `outcomes`; 0 for none.
        var outcome: UInt8 = 0
        /// The place of the table in `tables`, from 1; 0 for none, `several` for more than one.
        var table: UInt16 = 0
        /// Changes, rows or operations in the event.
        var size: UInt32 = 0
    }

    /// The words of outcomes, by their numbers in marks.
    static let outcomes = [
        "", "done", "conflict", "parked", "not received", "tombstone", "revived", "failing", "interrupted",
    ]
    /// The outcomes that need attention.
    static let problems: Set<String> = ["conflict", "parked", "failing"]
    static let several = UInt16.max

    /// The number of the first event.
    private(set) var first: UInt64 = 1
    private(set) var times: [Int64] = []
    private(set) var marks: [Mark] = []
    private(set) var tables: [String] = []
    private var tableNumbers: [String: UInt16] = [:]
    /// The tables of events that concern more than one.
    private var manyTables: [UInt64: Set<String>] = [:]

    /// The number after that of the last event.
    var next: UInt64 { first + UInt64(marks.count) }
    var isEmpty: Bool { marks.isEmpty }
    var numbers: Range<UInt64> { first..<next }

    func place(of number: UInt64) -> Int? { numbers.contains(number) ? Int(number - first) : nil }

    // MARK: Growing

    /// Begins the index; events before the first are not in the log.
    mutating func begin(at number: UInt64) {
        if isEmpty { first = number }
    }

    /// Forgets the events before a number, which were removed from the log. Returns whether there were any.
    mutating func remove(before number: UInt64) -> Bool {
        guard number > first else { return false }
        let count = Int(min(UInt64(marks.count), number - first))
        times.removeFirst(count)
        marks.removeFirst(count)
        manyTables = manyTables.filter { $0.key >= number }
        first = number
        return true
    }

    /// Adds an event; nil for one that can't be read. Numbers that were left out can't be read, either.
    mutating func add(_ number: UInt64, _ event: Event?) {
        guard number >= next else { return }
        while next < number { append(Mark(), times.last ?? event?.time ?? 0) }
        guard let event else { return append(Mark(), times.last ?? 0) }
        let names = EventSummary(number: number, event: event).tables
        var mark = Mark(kind: event.kind, outcome: event.outcomeNumber, size: UInt32(clamping: event.size))
        if names.count > 1 {
            mark.table = StudioIndex.several
            manyTables[number] = names
        } else if let name = names.first {
            mark.table = self.number(ofTable: name)
        }
        for name in names { _ = self.number(ofTable: name) }
        append(mark, event.time)
    }

    private mutating func append(_ mark: Mark, _ time: Int64) {
        marks.append(mark)
        times.append(time)
    }

    private mutating func number(ofTable name: String) -> UInt16 {
        if let known = tableNumbers[name] { return known }
        guard tables.count < Int(StudioIndex.several) - 1 else { return 0 }
        tables.append(name)
        tableNumbers[name] = UInt16(tables.count)
        return UInt16(tables.count)
    }

    // MARK: Questions

    func concerns(_ place: Int, table: String) -> Bool {
        let number = marks[place].table
        if number == StudioIndex.several { return manyTables[first + UInt64(place)]?.contains(table) ?? false }
        return number > 0 && tables[Int(number) - 1] == table
    }

    func table(_ place: Int) -> String? {
        let number = marks[place].table
        return number == 0 || number == StudioIndex.several ? nil : tables[Int(number) - 1]
    }

    func outcome(_ place: Int) -> String { StudioIndex.outcomes[Int(marks[place].outcome)] }

    /// The last event up to a time, as `--at` finds it; the one before the first if there is none.
    func event(at time: Int64) -> UInt64 {
        let place = times.firstIndex { $0 > time } ?? times.count
        return first + UInt64(place) - 1
    }

    /// The stretches that can't be read.
    var gaps: [ClosedRange<UInt64>] {
        var gaps: [ClosedRange<UInt64>] = []
        for (place, mark) in marks.enumerated() where mark.kind == nil {
            let number = first + UInt64(place)
            if let last = gaps.last, last.upperBound + 1 == number {
                gaps[gaps.count - 1] = last.lowerBound...number
            } else {
                gaps.append(number...number)
            }
        }
        return gaps
    }
}

extension Event {
    fileprivate var outcomeNumber: UInt8 {
        guard case .answered(let answer) = body else { return 0 }
        return UInt8(StudioIndex.outcomes.firstIndex(of: answer.outcome.name) ?? 0)
    }

    /// Changes, rows or operations in the event; for a decision, 1 if a policy made it.
    fileprivate var size: Int {
        switch body {
        case .local(let transaction): transaction.changes.count
        case .page(let page): page.rows.count
        case .sent(let operations): operations.count
        case .carried(_, let rows): rows.count
        case .purged(let purge): purge.ids?.count ?? 0
        case .resolved(let resolution): resolution.policy == nil ? 0 : 1
        default: 0
        }
    }
}
