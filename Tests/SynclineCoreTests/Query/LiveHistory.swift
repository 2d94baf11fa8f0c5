// Random histories with live queries, each compared with the same query run again after every commit.

import LogTesting
import SynclineGround

@testable import SynclineCore

extension Chance {
    fileprivate mutating func condition(_ depth: Int = 0) -> FilterExpression {
        let column =
            once(in: 4)
            ? FilterExpression.column([pick(["a", "b"]), pick(["x", "y"])]) : .column(pick(["a", "b", "c"]))
        let literal = FilterExpression.literal(
            once(in: 3) ? .null : once(in: 2) ? .integer(integer()) : .string(text()))
        switch below(depth < 2 ? 6 : 3) {
        case 0: return .compare(.notEqual, column, .literal(.null))
        case 1: return .compare(.equal, column, .literal(.null))
        case 2: return .compare(pick(FilterExpression.Comparison.allCases), column, literal)
        case 3: return .not(condition(depth + 1))
        case 4: return .or(condition(depth + 1), condition(depth + 1))
        default: return .and(condition(depth + 1), condition(depth + 1))
        }
    }

    /// A condition, perhaps one on rows of another table, or of the same.
    fileprivate mutating func liveCondition() -> FilterExpression {
        if !once(in: 4) { return condition() }
        let selection = FilterExpression.Selection(
            table: pick(["a", "b", "caf\u{e9}"]), column: pick(["a", "b", "id"]),
            filter: once(in: 3) ? nil : liveCondition())
        let isRelated = FilterExpression.related(pick(["a", "b", "id"]), selection)
        return once(in: 3) ? .or(isRelated, condition()) : isRelated
    }

    fileprivate mutating func liveQuery() -> RowQuery {
        var query = RowQuery(table: pick(["a", "b", "caf\u{e9}", "cafe\u{301}"]))
        if !once(in: 3) { query.filter = liveCondition() }
        for _ in 0..<below(3) {
            query.order.append(.init(pick(["a", "b", "c", "id", "a/x", "b/y"]), descending: once(in: 2)))
        }
        if once(in: 4) {
            var key = RowQuery.Key(pick(["a", "b", "id", "b/x"]), descending: once(in: 2))
            key.through = OrderThrough(
                pick(["a", "b", "id", "a/x"]), of: pick(["a", "b", "caf\u{e9}"]), hasNumbers: once(in: 4))
            query.order.insert(key, at: below(query.order.count + 1))
        }
        if !once(in: 3) { query.top = below(5) }
        if once(in: 3) { query.skip = below(3) }
        if once(in: 3) { query.select = ["b", "none"] }
        if once(in: 5) {
            query.after = RowQuery.Place(
                values: query.order.map { _ in once(in: 2) ? .null : value(depth: 3) }, id: pick(["1", "x", "y"]))
        }
        query.countsAll = once(in: 3)
        return query
    }
}

extension Chance {
    fileprivate mutating func aggregate() -> RowAggregate {
        let columns = ["a", "b", "c", "id"]
        var functions: [RowAggregate.Function] = []
        for _ in 0..<1 + below(3) {
            functions.append(
                pick([.count, .sum(pick(columns)), .average(pick(columns)), .min(pick(columns)), .max(pick(columns))]))
        }
        return RowAggregate(
            table: pick(["a", "b", "caf\u{e9}", "cafe\u{301}"]), filter: once(in: 3) ? nil : liveCondition(),
            groups: (0..<below(3)).map { _ in pick(columns) }, functions: functions)
    }
}

extension Chance {
    /// What the rows of a section or of a group have in common.
    fileprivate mutating func key() -> FilterExpression {
        let column = FilterExpression.column(pick(["a", "b", "c", "id"]))
        let zone = ClockZone(name: "z", first: -3600, changes: [(start: 0, offset: 7200)])
        switch below(6) {
        case 0: return .call(.length, [column])
        case 1: return .call(.tolower, [column])
        case 2: return .local(column, zone, pick([.day, .month]))
        case 3: return .column([pick(["a", "b"]), pick(["x", "y"])])
        default: return column
        }
    }

    /// Values of groups by computed values, or of the first rows of an order.
    fileprivate mutating func computed() -> RowAggregate {
        var aggregate = aggregate()
        aggregate.groups = (0..<below(3)).map { _ in key() }
        if once(in: 3) {
            let window = liveQuery()
            (aggregate.order, aggregate.top, aggregate.skip) = (window.order, window.top, window.skip)
        }
        return aggregate
    }
}

extension Chance {
    /// A query and the rows that are related to its rows, by random columns of random tables.
    fileprivate mutating func relatedRows() -> RandomRelations {
        let names = ["a", "b", "c", "id"]
        var (page, others) = (liveQuery(), liveQuery())
        page.select = nil
        (others.select, others.top, others.skip, others.after, others.countsAll) = (nil, nil, 0, nil, false)
        if once(in: 3) { others.table = page.table }
        // Equal columns of two tables have equal values more often than others, and most pages shall have related rows.
        if !once(in: 3) { (page.filter, others.filter) = (nil, nil) }
        let reference = pick(names)
        return RandomRelations(
            page: page, others: others, further: once(in: 2) ? page : others, reference: reference,
            column: once(in: 3) ? pick(names) : reference)
    }
}

/// Rows, and the rows related to them.
private struct RandomRelations {
    var page: RowQuery
    var others: RowQuery
    /// Rows that are related to the others in the same way.
    var further: RowQuery
    /// A row of the others is related if it has the value of this column of a row of the page,
    var reference: String
    /// in this column.
    var column: String

    private func keys(_ rows: [StoredRow]) -> [Value] { values(rows).compactMap(\.self) }

    /// The value by which each row is related; nil for none. Only strings are ids.
    private func values(_ rows: [StoredRow]) -> [Value?] {
        rows.map { row in
            switch reference == "id" ? .string(row.id) : row.columns[reference] ?? .null {
            case .null: nil
            case .string(let text): .string(text)
            case let value: column == "id" ? nil : value
            }
        }
    }

    private var relations: [RowRelation] {
        let link = column == "id" ? RowRelation.Link.id { RowReferences(values($0)) } : .column(column) { keys($0) }
        return [RowRelation(to: others, by: link), RowRelation(from: 0, to: further, by: link)]
    }

    func live(spare: Int) -> LiveRelations { LiveRelations(page: page, relations, spare: spare) }

    /// Runs the queries one by one, and together.
    func rows(_ reader: StateReader) throws(SyncError) -> RelatedRows {
        let (expected, found) = (try expected(reader), try reader.run(page, relations))
        if found == expected { return expected }
        throw SyncError(.invalidQuery, "run together, \(self) shows \(found), and is \(expected)")
    }

    private func expected(_ reader: StateReader) throws(SyncError) -> RelatedRows {
        func related(_ query: RowQuery, to rows: [StoredRow]) throws(SyncError) -> [StoredRow] {
            let isRelated = FilterExpression.oneOf(.column(column), keys(rows).map { .literal($0) })
            var query = query
            // A query with a window shows the same rows whatever they are related to, but none without a reference.
            if keys(rows).isEmpty { return [] }
            if query.top == nil, query.skip == 0 {
                query.filter = query.filter.map { .and($0, isRelated) } ?? isRelated
            }
            return try reader.run(query).rows
        }
        let found = try reader.run(page)
        let others = try related(others, to: found.rows)
        return RelatedRows(page: found, related: [others, try related(further, to: others)], references: [])
    }
}

extension LiveContent {
    /// Takes changes between two states into account, as a store does, which tells nothing of rows if columns have other
    /// types. Returns whether the result may have changed.
    fileprivate mutating func takeIn(_ changes: [TableChanges]) throws(SyncError) -> Bool {
        if let first = changes.first, changes.count > 1, try first.before.types != first.after.types {
            try load(first.after)
            return true
        }
        var isChanged = false
        for part in changes { isChanged = try update(part) || isChanged }
        return isChanged
    }
}

/// Live content, and what an observer was told of it.
private struct Followed<Content: LiveContent> {
    /// What it is, for a message.
    let name: String
    var live: Content
    var told: Content.Result
    /// Runs its queries.
    let ask: (StateReader) throws(SyncError) -> Content.Result

    init(
        _ name: String, _ live: Content, _ reader: StateReader,
        ask: @escaping (StateReader) throws(SyncError) -> Content.Result
    ) throws(SyncError) {
        (self.name, self.live, self.ask) = (name, live, ask)
        try self.live.load(reader)
        told = self.live.result
    }

    /// Takes changes into account; returns what is wrong then.
    mutating func update(
        _ reader: StateReader, _ changes: (String) throws -> TableChanges
    ) throws -> String? {
        let isChanged = try live.takeIn(try (live.tables ?? []).map(changes))
        let (result, expected) = (live.result, try ask(reader))
        if result != expected { return "\(name): shows \(result), and is \(expected)" }
        if !isChanged, result != told { return "\(name): says that nothing changed, and \(result) was \(told)" }
        told = result
        return nil
    }

    /// The first fault of several after changes.
    static func fault(
        in all: inout [Followed], _ reader: StateReader, _ changes: (String) throws -> TableChanges
    ) throws -> String? {
        for index in all.indices {
            if let fault = try all[index].update(reader, changes) { return fault }
        }
        return nil
    }
}

extension Followed<LiveRelations> {
    init(_ rows: RandomRelations, spare: Int, _ reader: StateReader) throws(SyncError) {
        try self.init("\(rows)", rows.live(spare: spare), reader, ask: rows.rows)
    }
}

extension Followed<LiveAggregate> {
    init(_ aggregate: RowAggregate, _ reader: StateReader) throws(SyncError) {
        try self.init("\(aggregate)", LiveAggregate(aggregate), reader) { reader throws(SyncError) in
            try reader.run(aggregate)
        }
    }
}

extension Followed<LiveSections> {
    init(_ query: RowQuery, by key: FilterExpression, _ reader: StateReader) throws(SyncError) {
        var counts = RowAggregate(table: query.table, filter: query.filter)
        counts.groups = [key]
        let name = "\(query) in sections by \(key)"
        try self.init(name, LiveSections(query, by: key), reader) { [counts] reader throws(SyncError) in
            let (page, types) = (try reader.run(query), try reader.types(of: query.table))
            let keys = page.rows.map { key.operand(in: $0, FilterWork(types)).value }
            return LiveSections.Rows(page: page, keys: keys, counts: try reader.run(counts))
        }
    }
}

/// A live query, and what an observer was told of it.
private struct LiveQuery {
    let query: RowQuery
    var window: LiveWindow
    var told: QueryResult

    init(_ query: RowQuery, spare: Int, _ reader: StateReader) throws(SyncError) {
        self.query = query
        window = LiveWindow(query, spare: spare)
        try window.load(reader)
        told = window.result
    }

    /// Takes changes into account; returns what is wrong then.
    mutating func update(_ changes: [TableChanges], _ reader: StateReader) throws(SyncError) -> String? {
        let isChanged = try window.takeIn(changes)
        let (result, expected) = (window.result, try reader.run(query))
        if result != expected { return "shows \(result), and is \(expected)" }
        if !isChanged, result != told { return "says that nothing changed, and \(result) was \(told)" }
        var rows = told.rows
        let difference = ListDifference(from: told.rows, to: result.rows)
        difference.apply(to: &rows)
        if rows != result.rows { return "\(difference) makes \(rows) of \(told.rows)" }
        if difference.isEmpty != (told.rows == result.rows) { return "\(difference) between equal results" }
        told = result
        return nil
    }
}

/// What is left to be pushed or decided, and what an observer was told of it.
private struct LiveDecisions {
    var live: LiveOutlook
    let table: String?
    var told: LiveOutlook.Outlook

    init(of table: String?, _ reader: StateReader) throws(SyncError) {
        self.table = table
        live = table.map { LiveOutlook(table: $0) } ?? LiveOutlook()
        try live.load(reader)
        told = live.result
    }

    /// Takes changes into account; returns what is wrong then.
    mutating func update(
        _ changes: [TableChanges], _ projector: Projector, from before: StateReader, _ reader: StateReader
    ) throws -> String? {
        var isChanged = try before.types != reader.types
        // A store does not tell which rows changed if columns have other types.
        if isChanged { try live.load(reader) }
        for part in changes { isChanged = try live.update(part) || isChanged }
        var expected = LiveOutlook.Outlook()
        expected.issues = try reader.issues().filter { table == nil || $0.table == table && $0.conflict != nil }
        if table == nil { expected.pending = Int(projector.totals.pending) }
        if live.result != expected { return "is \(live.result) instead of \(expected)" }
        if !isChanged, expected != told { return "is said not to have changed, and \(told) is now \(expected)" }
        told = expected
        return nil
    }
}

enum LiveHistory {
    /// Returns what is wrong in the history of a seed; nil if nothing is.
    static func fault(seed: UInt64) throws -> String? {
        var history = try RandomHistory(seed: seed)
        for _ in 0..<history.chance.below(20) { try history.step() }
        var before = history.reader
        history.projector.store.endCommit()
        var live: [LiveQuery] = []
        for _ in 0..<6 {
            let query = history.chance.liveQuery()
            live.append(try LiveQuery(query, spare: history.chance.below(3), before))
        }
        var values: [Followed<LiveAggregate>] = []
        for _ in 0..<4 { values.append(try Followed(history.chance.aggregate(), before)) }
        var pages: [Followed<LiveRelations>] = []
        for _ in 0..<4 {
            pages.append(try Followed(history.chance.relatedRows(), spare: history.chance.below(3), before))
        }
        for _ in 0..<2 { values.append(try Followed(history.chance.computed(), before)) }
        var lists: [Followed<LiveSections>] = []
        for _ in 0..<3 {
            var query = history.chance.liveQuery()
            query.select = nil
            lists.append(try Followed(query, by: history.chance.key(), before))
        }
        var decisions = try [nil, "t"].map { try LiveDecisions(of: $0, before) }
        for step in 0..<20 {
            // A commit may come from several events.
            for _ in 0...history.chance.below(3) { try history.step() }
            if history.chance.once(in: 2) { try history.disturb() }
            let after = history.reader
            history.projector.store.endCommit()
            let keys = try changedRows(before, after)
            func changes(of table: String) throws -> TableChanges {
                let mine = keys.filter { $0.starts(with: RowKey.prefix(table)) }
                return TableChanges(of: table, mine, from: before, to: after)
            }
            for index in live.indices {
                let mine = try (live[index].window.tables ?? []).map { try changes(of: $0) }
                let fault = try live[index].update(mine, after)
                if let fault { return "seed \(seed), step \(step), \(live[index].query): \(fault)" }
            }
            let fault =
                try Followed.fault(in: &values, after, changes) ?? Followed.fault(in: &pages, after, changes)
                ?? Followed.fault(in: &lists, after, changes)
            if let fault { return "seed \(seed), step \(step), \(fault)" }
            let tables = Set(keys.map(RowKey.table)).map { String(decoding: $0, as: UTF8.self) }
            for index in decisions.indices {
                let mine = try tables.filter { $0 == decisions[index].table ?? $0 }.map { try changes(of: $0) }
                let fault = try decisions[index].update(mine, history.projector, from: before, after)
                if let fault { return "seed \(seed), step \(step), outlook: \(fault)" }
            }
            before = after
        }
        return nil
    }

    /// The keys of rows of which something differs, and of some of which nothing does.
    private static func changedRows(_ before: StateReader, _ after: StateReader) throws -> [[UInt8]] {
        let (old, new) = (try before.snapshot.contents(), try after.snapshot.contents())
        let keys = Set(old.keys).union(new.keys)
            .filter { old[$0] != new[$0] || $0.first == Keyspace.rows && $0.last.map { $0 % 5 == 0 } ?? false }
        return Set(keys.compactMap { key in key.withBytes { RowKey.ofRow(describedBy: $0) } })
            .sorted { $0.lexicographicallyPrecedes($1) }
    }
}

extension RandomHistory {
    /// Holds a row or releases it, or gets a row that can't be read.
    fileprivate mutating func disturb() throws {
        let table = chance.pick(["a", "b", "caf\u{e9}"])
        let plan = try PushPlan(reader).operations
        if !plan.isEmpty, chance.once(in: 2) {
            let operation = chance.pick(plan)
            let name = Hold.setting(try RowKey(malformed: operation.rowKey))
            try record(.configured(name: name, value: chance.once(in: 3) ? nil : .string(operation.id)))
        } else if chance.once(in: 4), let nameless = try reader.namelessRows(of: table).first {
            var page = PulledPage(table: table, queryID: nil, rows: [], cursor: nil)
            page.vanished = [nameless]
            try record(.page(page))
        } else {
            var page = PulledPage(table: table, queryID: nil, rows: [], cursor: nil)
            page.unreadable = [
                UnreadableRow(
                    table: table, id: chance.once(in: 3) ? nil : chance.pick(["1", "x", "y"]), place: 1,
                    reason: "nested too deep", digest: UInt64(chance.below(3)))
            ]
            try record(.page(page))
        }
        projector.store.endCommit()
    }
}

extension RowReferences {
    /// What rows refer to by strings.
    init(_ values: [Value?]) {
        self.init()
        for (row, value) in values.enumerated() {
            if case .string(let id)? = value { append(id, of: row) }
        }
    }
}
