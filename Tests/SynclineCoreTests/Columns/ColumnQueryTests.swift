// Questions to a state whose rows are kept in columns, compared with those to the same state in memory.

import Foundation
import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

/// Two states of the same events: in memory, and in runs, which have blocks in columns.
struct TwoStates {
    var chance: Chance
    let plain: Projector
    let columns: Projector
    private let kinds: [Int]
    private var ids: Set<String> = []
    /// Values that rows have, for literals that match.
    private var values: [Value] = [.null]

    static let names = ["a", "b", "c", "d", "e", "f"]
    private static let words = ["buy", "milk", "für", "the", "garden", "Zebra", "\0", ""]

    init(seed: UInt64) throws {
        var chance = Chance(seed: seed)
        kinds = Self.names.map { _ in chance.below(12) }
        self.chance = chance
        (plain, columns) = (try Projector(), try Projector())
        let types: [ColumnType] = [.integer, .date, .string, .decimal, .uuid, .boolean, .number]
        let typed = Self.names.compactMap { name in
            self.chance.once(in: 3) ? TypedColumn(name, self.chance.pick(types)) : nil
        }
        if !typed.isEmpty { try apply(.typed(TypeDeclaration(table: "t", columns: typed))) }
    }

    private func apply(_ body: Event.Body) throws {
        for projector in [plain, columns] {
            try projector.apply(Event(time: 0, body), number: projector.through + 1)
            projector.store.endCommit()
        }
    }

    private mutating func value(_ kind: Int) -> Value {
        let value: Value =
            switch kind {
            case 0: .bool(chance.once(in: 2))
            case 1: .integer(Int64(chance.below(6)))
            case 2: .integer(chance.integer())
            case 3: chance.once(in: 3) ? .null : .integer(Int64(chance.below(1000)) - 500)
            case 4: .string(chance.pick(["home", "work", "garden"]))
            case 5: .string((0..<chance.below(9)).map { _ in chance.pick(Self.words) }.joined(separator: " "))
            case 6: chance.once(in: 4) ? .null : .bool(chance.once(in: 3))
            case 7: .date(chance.date())
            case 8: .string(chance.uuid())
            case 9: .string("2026-0\(1 + chance.below(9))-1\(chance.below(9))T21:30:00.\(100 + chance.below(900))Z")
            case 10: chance.spelled()
            default: chance.value(depth: 2)
            }
        if chance.once(in: 20) { values.append(value) }
        // Now and then another kind in a column, which gives its block another encoding.
        return chance.once(in: 400) ? chance.value(depth: 2) : value
    }

    private mutating func row(isPart: Bool = false) -> Row {
        Row(
            Self.names.enumerated().compactMap { place, name in
                if isPart, chance.once(in: 2) { return nil }
                return chance.once(in: 200) ? nil : .init(name, value(kinds[place]))
            })
    }

    /// Changes many rows, or a few.
    mutating func change() throws {
        let count = chance.pick([1, 3, 40, 300])
        if chance.once(in: 3) {
            let rows = (0..<count).map { _ in
                PulledRow(
                    id: id(),
                    row: chance.once(in: 10)
                        ? nil : row().merged(with: Row([.init("version", .string("v\(chance.below(9))"))])))
            }
            try apply(.page(PulledPage(table: "t", queryID: nil, rows: rows, cursor: nil)))
            for row in rows where row.row != nil { ids.insert(row.id) }
        } else {
            var changes: [LocalChange] = []
            let known = ids.sorted()
            var touched: Set<String> = []
            for _ in 0..<count {
                let isOld = !known.isEmpty && chance.once(in: 3)
                let id = isOld ? chance.pick(known) : id()
                guard touched.insert(id).inserted else { continue }
                let isThere = try plain.present.row("t", id) != nil
                if isThere, chance.once(in: 4) {
                    changes.append(LocalChange(kind: .delete, table: "t", id: id))
                } else {
                    changes.append(
                        LocalChange(
                            kind: isThere ? .update : .insert, table: "t", id: id, columns: row(isPart: isThere)))
                    ids.insert(id)
                }
            }
            if !changes.isEmpty { try apply(.local(LocalTransaction(changes, isGrouped: true))) }
        }
        if !chance.once(in: 3) { try columns.store.settle(above: 0) }
    }

    private mutating func id() -> String {
        chance.once(in: 8) ? chance.pick(["x", "y", "row "]) + "\(chance.below(500))" : chance.uuid("0123456789abcdef")
    }

    // MARK: Questions

    private mutating func literal() -> FilterExpression {
        .literal(chance.once(in: 3) ? value(chance.below(12)) : chance.pick(values))
    }

    private mutating func condition(_ depth: Int = 0) -> FilterExpression {
        let column = FilterExpression.column(chance.pick(Self.names + ["id", "none"]))
        switch chance.below(depth < 2 ? 10 : 6) {
        case 0, 1, 2: return .compare(chance.pick(FilterExpression.Comparison.allCases), column, literal())
        case 3: return .compare(chance.pick([.equal, .notEqual]), column, .literal(.null))
        case 4: return .oneOf(column, (0..<1 + chance.below(4)).map { _ in literal() })
        case 5:
            let part = FilterExpression.literal(.string(chance.pick(Self.words + ["ho", "k", "2026-03"])))
            return .call(chance.pick([.contains, .startswith, .endswith]), [column, part])
        case 6: return .not(condition(depth + 1))
        case 7: return .or(condition(depth + 1), condition(depth + 1))
        default: return .and(condition(depth + 1), condition(depth + 1))
        }
    }

    /// Asks both states the same; returns what differs.
    mutating func differing() throws -> String? {
        var query = RowQuery(table: "t")
        if !chance.once(in: 4) { query.filter = condition() }
        for _ in 0..<chance.below(3) {
            query.order.append(.init(chance.pick(Self.names + ["id"]), descending: chance.once(in: 2)))
        }
        if chance.once(in: 2) { query.top = chance.pick([0, 1, 5, 20, 200]) }
        if chance.once(in: 4) { query.skip = chance.below(5) }
        query.countsAll = chance.once(in: 3)
        if chance.once(in: 4) { query.select = ["b", "f"] }
        let (one, other) = (plain.present, columns.present)
        let (expected, found) = (try one.run(query), try other.run(query))
        if found != expected { return "\(query): \(found) instead of \(expected)" }
        let (count, counted) = (try one.count(query), try other.count(query))
        if count != counted { return "\(query): counts \(counted) instead of \(count)" }
        return try differingGroups(query.filter) ?? differingCursors()
    }

    /// Reads both states row by row, from any id on.
    private mutating func differingCursors() throws -> String? {
        let start = chance.once(in: 2) ? nil : chance.pick(ids.sorted() + [""])
        let byID = chance.once(in: 2)
        let cursors = try [plain.present, columns.present].map { reader in
            try RowCursor(reader, table: "t", from: start, byID: byID)
        }
        var places = Self.names.map { ColumnPlaces($0) }
        while let row = cursors[0].row {
            guard let other = cursors[1].row, other.id == row.id, try other.row == row.row else {
                return "cursor from \(start ?? "the first") at \(row.id): \(cursors[1].row?.id ?? "the end")"
            }
            for place in places.indices {
                guard let entry = other.entryValue(&places[place]) else { continue }
                let value = row.value(ofColumn: Self.names[place])
                if value.description != entry.value.description { return "\(row.id): \(entry) is not \(value)" }
            }
            for cursor in cursors { try cursor.advance() }
        }
        return cursors[1].row.map { "cursor continues with \($0.id)" }
    }

    /// Whether rows in columns were among those that were asked for, and what differed.
    static func run(seed: UInt64) throws -> (hasColumns: Bool, fault: String?) {
        var states = try TwoStates(seed: seed)
        for _ in 0..<8 {
            for _ in 0...states.chance.below(3) { try states.change() }
            for _ in 0..<6 { if let fault = try states.differing() { return (true, fault) } }
        }
        let agree = try states.columns.agrees(with: states.plain)
        return (states.columns.store.layers.symbols != nil, agree ? nil : "the states differ")
    }

    private mutating func differingGroups(_ filter: FilterExpression?) throws -> String? {
        let aggregate = RowAggregate(
            table: "t", filter: chance.once(in: 2) ? filter : nil,
            groups: (0..<chance.pick([0, 1, 1, 2])).map { _ in chance.pick(Self.names + ["id", "none"]) },
            functions: [.count]
                + (0..<3).map { _ in
                    let column = chance.pick(Self.names)
                    return chance.pick([.sum(column), .average(column), .min(column), .max(column)])
                })
        let readers = [plain.present, columns.present]
        var groups = try readers.map { reader in
            var groups = RowGroups(aggregate, try reader.types(of: "t"))
            try reader.add(to: &groups)
            return groups
        }
        if groups[0].result != groups[1].result {
            return "\(aggregate): \(groups[1].result) instead of \(groups[0].result)"
        }
        // Rows go, and come again.
        let rows = try readers[0].run(RowQuery(table: "t", filter: aggregate.filter)).rows
        for _ in 0..<min(8, rows.count) {
            let row = chance.pick(rows)
            let owned = OwnedRow(id: row.id, row: row.columns)
            for isAdded in [false, true] {
                let exact = try groups.indices.map { try groups[$0].change(owned.sight, isAdded: isAdded) }
                if exact[0] != exact[1] { return "\(aggregate): exact after \(row.id)" }
                if !exact[0] { return nil }
                if groups[0].result != groups[1].result { return "\(aggregate): changed by \(row.id)" }
            }
        }
        return nil
    }
}

@Suite struct ColumnQueryTests {
    private static let seeds = Seeds.some(6, optimized: 40)

    @Test func `rows in columns answer as rows in memory do`() throws {
        var withColumns = 0
        for seed in Self.seeds {
            let (hasColumns, fault) = try TwoStates.run(seed: seed)
            try #require(fault == nil, "seed \(seed)")
            if hasColumns { withColumns += 1 }
        }
        #expect(withColumns > Self.seeds.count / 2)
    }

    @Test func `a group is spelled as in the row with the lowest id, whatever layer has it`() throws {
        #expect(try LayeredSpelling.found() == LayeredSpelling.lower)
    }
}

/// A UUID in lower case in the row with the lowest id and in a newer run, and in upper case between them.
enum LayeredSpelling {
    static let lower = "aaaaaaaa-aaaa-4aaa-8aaa-aaaaaaaaaaaa"

    static func found() throws -> String? {
        let (projector, blocks) = (try Projector(), MemoryBlocks())
        func apply(_ body: Event.Body) throws {
            try projector.apply(Event(time: 0, body), number: projector.through + 1)
            projector.store.endCommit()
        }
        func pull(_ numbers: Range<Int>) throws {
            let rows = numbers.map { number in
                let other = "bbbbbbbb" + lower.dropFirst(8)
                let text = number % 1000 > 1 ? other : number == 1001 ? lower.uppercased() : lower
                return PulledRow(
                    id: "00000000-0000-4000-8000-\(100_000_000_000 + number)",
                    row: Row([.init("u", .string(text)), .init("version", .string("v"))]))
            }
            try apply(.page(PulledPage(table: "t", queryID: nil, rows: rows, cursor: nil)))
            projector.store.rotate()
            try projector.store.mergeFull(into: blocks, merging: 0)
        }
        try apply(.typed(TypeDeclaration(table: "t", columns: [TypedColumn("u", .uuid)])))
        try pull(2..<2000)
        try pull(2950..<3050)
        try #require(projector.store.layers.runs.count == 2)
        let groups = try projector.present.run(RowAggregate(table: "t", groups: ["u"]))
        guard groups.count == 2, case .string(let text) = groups[0].key[0] else { return nil }
        return text
    }
}

extension Projector {
    fileprivate var present: StateReader { StateReader(store.snapshot, shapes) }
}

extension EntryValue {
    /// The value; a date is the string that it is in columns.
    fileprivate var value: Value {
        switch self {
        case .null: .null
        case .bool(let flag): .bool(flag)
        case .integer(let number): .integer(number)
        case .double(let number): .double(number)
        case .date(let instant): .string(Timestamp(instant).description)
        case .uuid(let text): .string(text)
        case .text(let utf8): .string(String(decoding: utf8, as: UTF8.self))
        case .bytes(let bytes): .bytes([UInt8](bytes))
        }
    }
}
