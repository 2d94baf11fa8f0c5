// Finds the first event after which a condition is true or a count has changed, in the whole history in the log or a part
// of it, and refuses conditions that can't be true because a word in them is misspelt.

import SegmentLog
import Syncline
import SynclineGround

struct Bisection {
    private let storage: any LogStorage
    private let condition: Condition
    private let from: UInt64?
    private let last: UInt64
    private let interrupt: Interrupt

    /// - Parameter from: The first event to search; nil for the first event in the log.
    init(
        _ storage: any LogStorage, _ condition: Condition, from: UInt64?, through last: UInt64,
        until interrupt: Interrupt = Interrupt()
    ) {
        self.interrupt = interrupt
        self.storage = storage
        self.condition = condition
        self.from = from
        self.last = last
    }

    /// Reads a condition, and refuses one that is always true or always false.
    static func condition(_ text: String) throws -> Condition {
        let condition: Condition
        do throws(FilterError) {
            condition = try Condition(parsing: text)
        } catch {
            throw ToolError(
                "invalid-query", "the condition can't be read: \(error)", hint: "See `syncline help replay`.")
        }
        if let answer = condition.constant {
            throw ToolError(
                "invalid-query", "the condition is \(answer ? "true" : "false") for every state: a count is 0 or more",
                hint: "Compare with a number that the count can reach and leave, as in `pending eq 0`.")
        }
        return condition
    }

    func run() throws -> ConditionSearch.Finding {
        let loader = StateLoader(storage)
        let inspection = LogInspection(storage)
        let search = ConditionSearch(condition, through: last) { through, visit in
            try inspection.forEachRecord(
                from: through + 1,
                { number, record in
                    try interrupt.check()
                    return try visit(number, record)
                },
                lost: { lost in
                    if case .damage(let damage) = lost, damage.remedy != .cutTail { throw damage.error }
                })
        }
        var tables: [String] = []
        let finding = try search.run {
            let start =
                try from.map { $0 <= 1 ? try loader.earliest() : try loader.load(through: $0 - 1) } ?? loader.earliest()
            tables = try start.present.tables()
            return start
        }
        if finding.event == nil { try checkWords(finding, tables) }
        return finding
    }

    /// Refuses an unknown table, row or column, because it is misspelt. `tables` existed when the search began.
    private func checkWords(_ finding: ConditionSearch.Finding, _ tables: [String]) throws {
        guard let table = condition.table else { return }
        let loader = StateLoader(storage)
        let end = try loader.load(through: last == .max ? nil : last)
        if finding.knowsSubject != true {
            let known = try tables + [end, loader.earliest(), loader.load()].flatMap { try $0.present.tables() }
            if !known.contains(table) { throw Bisection.unknown("there is no table \(table)", table, known) }
            if let focus = condition.focus { try check(focus, finding, loader) }
        }
        let known = try end.present.knownColumns()
        let unknown = condition.filter?.columns.subtracting(known).min()?.text
        if let unknown {
            let range = last == .max ? "no row ever had" : "no row had"
            let end = last == .max ? "" : " through @\(last)"
            throw Bisection.unknown("\(range) a column \(unknown)\(end)", unknown, known.sorted().map(\.text))
        }
    }

    /// Refuses a row that neither an event of the range nor the newest state has.
    private func check(_ row: RowFocus, _ finding: ConditionSearch.Finding, _ loader: StateLoader) throws {
        let newest = try loader.load().present
        if try newest.entry(row.table, row.id) != nil { return }
        let nearby = try RowsNearby.addresses(row.table, row.id, newest)
        throw ToolError(
            "invalid-query",
            escaped("there is no row \(row.table)/\(row.id)\(finding.range.map { " in \($0)" } ?? "")"),
            hint: nearby.first.map { "Did you mean `\(escaped($0))`?" })
    }

    private static func unknown(_ message: String, _ word: String, _ known: [String]) -> ToolError {
        ToolError(
            "invalid-query", escaped(message),
            hint: Suggestion.nearest(to: word, in: known).map { "Did you mean `\($0)`?" })
    }
}

extension Interrupt {
    /// Ends a search that was cancelled.
    func check() throws(ToolError) {
        if isSet { throw ToolError("cancelled", "the search was cancelled") }
    }
}

extension ConditionSearch.Finding {
    /// The message if no event made the condition true, or changed the count.
    func sentence(of condition: Condition) -> String {
        guard let searched = range else { return "there are no events to search" }
        if condition.isOnChanges { return "it was \(counts.after) in all of \(searched)" }
        if !heldBefore { return "it never became true in \(searched)" }
        return ceased
            ? "it was true before \(searched), and did not become true again in it"
            : "it was true before \(searched), and at every event in it"
    }

    /// `@1..41`
    var range: String? {
        searched.map { range in
            let (first, last) = (range.lowerBound, range.upperBound)
            return "\(SequenceRange(first: SequenceNumber(rawValue: first), last: SequenceNumber(rawValue: last)))"
        }
    }
}
