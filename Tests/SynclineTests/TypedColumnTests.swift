// Columns with types, compared with a naive evaluator over what the values mean: random rows in every spelling, own and
// pulled, with values that do not fit, with and without indexes.

import Foundation
import SegmentLog
import SynclineGround
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineCore

/// What a value means, computed with Foundation.
private enum Sense: Hashable {
    case nothing
    case fits(Decimal)
    case unfit(String)

    var rank: Int {
        switch self {
        case .nothing: 0
        case .fits: 1
        case .unfit: 2
        }
    }
}

/// A value in some spelling, and what it means in its column.
private struct Spelled {
    var value: Value
    var sense: Sense
}

private struct TypedRow {
    var id: String
    var columns: [String: Spelled]

    func sense(_ column: String) -> Sense { columns[column]?.sense ?? .nothing }
}

extension Chance {
    fileprivate mutating func spelled(_ column: String) -> Spelled {
        if once(in: 8) { return Spelled(value: .null, sense: .nothing) }
        if once(in: 12) {
            let text = pick(["soon", "many", "x"])
            return Spelled(value: .string(text), sense: .unfit(text))
        }
        switch column {
        case "at": return moment()
        case "owner": return uuid()
        case "amount": return amount()
        default: return whole()
        }
    }

    /// A moment of a few, in milliseconds and in some zone.
    private mutating func moment() -> Spelled {
        let milliseconds = Int64(below(8)) * 21_600_000 + (once(in: 2) ? 0 : 250)
        let isDay = milliseconds % 86_400_000 == 0 && once(in: 2)
        let zone: Timestamp.Zone = isDay ? .dateOnly : pick([.utc, .offset(120), .offset(-90), .none])
        let date = Timestamp(
            .init(milliseconds: milliseconds), decimals: isDay ? 0 : pick([3, 7]), zone: zone)
        return Spelled(value: .string(date.description), sense: .fits(Decimal(milliseconds)))
    }

    private mutating func uuid() -> Spelled {
        let number = below(4) * 0xabc + 10
        let text = String(format: "%08X-ABCD-4000-8000-00000000000A", number)
        return Spelled(
            value: .string(pick([text, text.lowercased(), text.capitalized])), sense: .fits(Decimal(number)))
    }

    private mutating func amount() -> Spelled {
        let cents = below(5) * 7 - 10
        let decimal = Decimal(cents) / 100
        let plain = "\(decimal)"
        let spellings = [plain, (plain.contains(".") ? plain : plain + ".") + "00", "\(cents)e-2"]
        return Spelled(value: Value(number: pick(spellings)) ?? .null, sense: .fits(decimal))
    }

    private mutating func whole() -> Spelled {
        let number = below(6) - 2
        return Spelled(
            value: Value(number: pick(["\(number)", "\(number).0", "\(number)e0"])) ?? .null,
            sense: .fits(Decimal(number)))
    }

    fileprivate mutating func row(_ number: Int) -> TypedRow {
        let names = ["at", "owner", "amount", "n"]
        return TypedRow(
            id: String(format: "%03d", number),
            columns: Dictionary(uniqueKeysWithValues: names.map { ($0, spelled($0)) }))
    }
}

@Suite struct TypedColumnTests {
    private static let seeds = Seeds.some(20)

    private static let types: [String: ColumnType] = ["at": .date, "owner": .uuid, "amount": .decimal, "n": .integer]

    /// Rows that were pulled, of which some are declared late, and edited by the app in another spelling.
    private func store(_ chance: inout Chance) async throws -> (SyncDatabase, [TypedRow]) {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let isEarly = chance.once(in: 2)
        if isEarly { try await database.declareColumns(table: "t", Self.types) }
        if chance.once(in: 2) { try await declareIndexes(database, &chance) }
        var rows: [TypedRow] = []
        for number in 0..<40 {
            var row = chance.row(number)
            let columns = Row(row.columns.sorted { $0.key < $1.key }.map { .init($0.key, $0.value.value) })
            try await database.pull(
                PulledPage(table: "t", queryID: nil, rows: [.init(id: row.id, row: columns)], cursor: nil))
            let edit = chance.row(number)
            for (name, spelled) in edit.columns where chance.once(in: 4) {
                if case .unfit = spelled.sense { continue }
                try await database.rows(of: "t").update(.item(row.id, [name: spelled.value]))
                row.columns[name] = stored(spelled, in: name, over: row.columns[name], isTyped: isEarly)
            }
            rows.append(row)
        }
        if !isEarly { try await database.declareColumns(table: "t", Self.types) }
        if chance.once(in: 2) { try await declareIndexes(database, &chance) }
        return (database, rows)
    }

    /// What a row has after an app wrote a value: the old spelling of the same meaning stays.
    private func stored(_ new: Spelled, in column: String, over old: Spelled?, isTyped: Bool) -> Spelled? {
        guard let old else { return new }
        guard isTyped else { return old.value.stays(under: new.value) ? old : new }
        if old.sense == new.sense { return old }
        guard column == "n", case .fits(let number) = new.sense else { return new }
        return Spelled(value: Value(number: "\(number)") ?? .null, sense: new.sense)
    }

    private func declareIndexes(_ database: SyncDatabase, _ chance: inout Chance) async throws {
        let names = ["at", "owner", "amount", "n"]
        for _ in 0..<2 {
            let first = chance.below(4)
            let columns = (0...chance.below(2)).map { names[(first + $0) % 4] }
            try await database.declareIndex(table: "t", columns: columns)
        }
    }

    private static func isBefore(_ left: Sense, _ right: Sense) -> Bool? {
        if left.rank != right.rank { return left.rank < right.rank }
        switch (left, right) {
        case (.fits(let left), .fits(let right)): return left == right ? nil : left < right
        case (.unfit(let left), .unfit(let right)): return left == right ? nil : left < right
        default: return nil
        }
    }

    private static func sorted(_ rows: [TypedRow], _ column: String, descending: Bool) -> [String] {
        rows.sorted { one, other in
            guard let isBefore = isBefore(one.sense(column), other.sense(column)) else { return one.id < other.id }
            return isBefore != descending
        }.map(\.id)
    }

    private static func holds(
        _ comparison: FilterExpression.Comparison, _ left: Sense, _ right: Sense
    ) -> Bool {
        if left == .nothing { return comparison == .notEqual }
        guard left.rank == right.rank else { return comparison == .notEqual }
        let order = isBefore(left, right).map { $0 ? -1 : 1 } ?? 0
        switch comparison {
        case .equal: return order == 0
        case .notEqual: return order != 0
        case .less: return order < 0
        case .lessOrEqual: return order <= 0
        case .greater: return order > 0
        case .greaterOrEqual: return order >= 0
        }
    }

    @Test func `numbers compared in encoded rows are compared as by the evaluator`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let types: [String: ColumnType] = ["i": .integer, "n": .number, "d": .decimal, "s": .decimalString, "j": .json]
        try await database.declareColumns(table: "t", types)
        let spellings = [
            "0", "-0.0", "0.0", "1", "1.0", "63", "64", "63.5", "-1", "-1.5", "12.5", "12.50", "1e1", "0.1", "1e300",
            "-1e300",
            "1e-300", "1e100", "9007199254740992", "9007199254740993", "9007199254740992.0", "9007199254740993.5",
            "9223372036854775807", "-9223372036854775808", "9223372036854775808", "12345678901234567890.12",
        ]
        let numbers = try spellings.map { try #require(Value(number: $0)) }
        let values = numbers + [.null, .bool(true), .string("12.5"), .string("1"), .string("x"), .array([.integer(1)])]
        let names = ["i", "n", "d", "s", "j", "u"]
        let rows = values.enumerated().map { place, value in
            PulledRow(id: String(format: "%02d", place), row: Row(names.sorted().map { .init($0, value) }))
        }
        try await database.pull(PulledPage(table: "t", queryID: nil, rows: rows, cursor: nil))
        for name in names {
            for literal in values {
                for comparison in FilterExpression.Comparison.allCases {
                    let (column, value) = (FilterExpression.column(name), FilterExpression.literal(literal))
                    let direct = FilterExpression.compare(comparison, column, value)
                    // Only a column on the left is compared in the encoded row.
                    let evaluated = FilterExpression.compare(comparison.reversed, value, column)
                    let found = try await database.rows(of: "t").query(RowQuery(table: "t", filter: direct)).rows
                        .map(\.id)
                    let wanted = try await database.rows(of: "t").query(RowQuery(table: "t", filter: evaluated))
                        .rows.map(
                            \.id)
                    #expect(found == wanted, "\(name): \(direct)")
                }
            }
        }
    }

    @Test(arguments: seeds)
    func `lists, counts, sums and groups go by what values mean`(_ seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let (database, rows) = try await store(&chance)
        let table = database.rows(of: "t")
        for _ in 0..<25 {
            let column = chance.pick(["at", "owner", "amount", "n"])
            let isDescending = chance.once(in: 2)
            let order = [RowQuery.Key(column, descending: isDescending)]
            let all = try await table.query(RowQuery(table: "t", order: order)).rows.map(\.id)
            try #require(all == Self.sorted(rows, column, descending: isDescending), "\(column)")
            let top = chance.below(12)
            let page = try await table.query(RowQuery(table: "t", order: order, top: top)).rows.map(\.id)
            try #require(page == Array(all.prefix(top)), "\(column)")

            let literal = chance.spelled(column)
            if literal.value.isNull { continue }
            let comparison = chance.pick(FilterExpression.Comparison.allCases)
            let filter = FilterExpression.compare(comparison, .column(column), .literal(literal.value))
            let matches = rows.filter { Self.holds(comparison, $0.sense(column), literal.sense) }
            let found = try await table.query(RowQuery(table: "t", filter: filter)).rows.map(\.id)
            try #require(found == matches.map(\.id), "\(filter)")
            let count = try await table.count(filter)
            try #require(count == matches.count, "\(filter)")
            try await check(matches, filter, column, table)
        }
    }

    /// Groups by a column and a sum, of the rows that match a filter.
    private func check(
        _ rows: [TypedRow], _ filter: FilterExpression, _ column: String, _ table: RowTable
    ) async throws {
        let aggregate = RowAggregate(
            table: "t", filter: filter, groups: [column], functions: [.count, .sum("amount"), .min("at"), .max("n")])
        let groups = try await table.compute(aggregate)
        var expected: [Sense: [TypedRow]] = [:]
        for row in rows { expected[row.sense(column), default: []].append(row) }
        try #require(groups.count == expected.count, "\(filter)")
        for (sense, members) in expected {
            let first = members[0]
            let group = groups.first { $0.key == [first.columns[column]?.value ?? .null] }
            let values = try #require(group?.values, "\(sense) is spelled as in \(first.id)")
            func numbers(_ name: String) -> [Decimal] {
                members.compactMap { if case .fits(let number) = $0.sense(name) { number } else { nil } }
            }
            let sum = numbers("amount").reduce(Decimal(0), +)
            #expect(values[0] == .integer(Int64(members.count)))
            #expect(NumberDigits(number: values[1]) == NumberDigits(number: .string("\(sum)")), "\(filter)")
            let least = members.filter { $0.sense("at") == numbers("at").min().map { .fits($0) } }.first
            #expect(values[2] == least?.columns["at"]?.value ?? .null)
            let greatest = members.filter { $0.sense("n") == numbers("n").max().map { .fits($0) } }.first
            #expect(values[3] == greatest?.columns["n"]?.value ?? .null)
        }
    }

    @Test(arguments: seeds)
    func `a live list by a typed column is the list asked for again after every change`(_ seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let (database, rows) = try await store(&chance)
        let query = RowQuery(table: "t", order: [.init(chance.pick(["at", "amount"]), descending: true)], top: 10)
        var live = LiveWindow(query)
        try live.load(database.reader)
        for _ in 0..<30 {
            let (id, column) = (chance.pick(rows).id, chance.pick(["at", "owner", "amount", "n"]))
            let spelled = chance.spelled(column)
            if case .unfit = spelled.sense { continue }
            let before = try database.reader
            try await database.rows(of: "t").update(.item(id, [column: spelled.value]))
            let after = try database.reader
            let changes = TableChanges(of: "t", [RowKey.bytes("t", id, .exact)], from: before, to: after)
            _ = try live.update(changes)
            let again = try after.run(query).rows.map(\.id)
            try #require(live.result.rows.map(\.id) == again)
        }
    }

    @Test func `a value that does not fit is refused, and what the row has is not checked`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let row = Row([.init("at", .string("soon")), .init("version", .string("1"))])
        try await database.pull(
            PulledPage(table: "t", queryID: nil, rows: [.init(id: "a", row: row)], cursor: nil))
        try await database.declareColumns(table: "t", ["at": .date])
        let event = database.lastEvent
        let error = await #expect(throws: SyncError.self) {
            try await database.rows(of: "t").update(["id": "a", "at": "later"])
        }
        #expect(error?.code == .invalidItem && error?.address == "t/a" && database.lastEvent == event)
        try await database.rows(of: "t").update(["id": "a", "at": "soon", "note": "x"])
        #expect(try await database.rows(of: "t").get(id: "a")?.columns["note"] == "x")
        #expect(try database.reader.unfitValues(of: "t")["at"] == 1)
    }

    @Test func `types are there after a reopening, a compaction and a rename, and go with their column`() async throws {
        let storage = MemoryStorage()
        var configuration = SyncConfiguration.test()
        configuration.schema = SyncSchema(version: 1, tables: [TableSchema("t", columns: [.column("due", .date)])])
        var database = try await SyncDatabase.open(storage, configuration)
        try await database.declareColumns(table: "t", ["price": .decimal])
        try await database.rows(of: "t").insert(["id": "a", "due": "2026-01-02", "price": 1.5])
        try await database.compact()
        try await database.close()
        configuration.schema = SyncSchema(
            version: 2, tables: [TableSchema("t", columns: [.column("until", .date)])],
            migrations: [
                Migration(
                    to: 2,
                    steps: [
                        .renameColumn(table: "t", from: "due", to: "until"), .dropColumn(table: "t", column: "price"),
                    ])
            ])
        database = try await SyncDatabase.open(storage, configuration)
        #expect(try database.columnTypes(of: "t") == ["until": .date])
        await #expect(throws: SyncError.self) { try await database.declareColumns(table: "t", ["until": .string]) }
        try await database.close()
        configuration.schema = SyncSchema(
            version: 3,
            migrations: [
                Migration(
                    to: 3,
                    steps: [.setType(table: "t", column: "until", to: .integer) { _ in .integer(20_260_102) }])
            ])
        database = try await SyncDatabase.open(storage, configuration)
        #expect(try database.columnTypes(of: "t") == ["until": .integer])
        #expect(try await database.rows(of: "t").get(id: "a")?.columns["until"] == .integer(20_260_102))
        #expect(try await database.pending().count == 1)
    }
}
