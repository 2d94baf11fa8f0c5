// Indexes: how queries use them, and that they change no result.

import Foundation
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct IndexTests {
    private static func insert(_ number: Int, _ members: [Value.Member], into projector: Projector) throws {
        let change = LocalChange(kind: .insert, table: "t", id: "\(number)", columns: Row(members))
        try projector.apply(
            Event(time: 0, .local(LocalTransaction([change], isGrouped: false))), number: projector.through + 1)
    }

    private static func declare(_ change: IndexChange, in projector: Projector) throws {
        try projector.apply(Event(time: 0, .indexed(change)), number: projector.through + 1)
    }

    /// Rows whose `n` counts up, whose `m` is 1, and whose `s` is one of ten strings.
    private func state(_ count: Int, _ indexes: [IndexChange]) throws -> Projector {
        let projector = try Projector()
        for index in indexes { try Self.declare(index, in: projector) }
        for number in 0..<count {
            try Self.insert(
                number,
                [.init("n", .integer(Int64(number))), .init("m", .integer(1)), .init("s", .string("s\(number % 10)"))],
                into: projector)
        }
        return projector
    }

    private static func reader(_ projector: Projector) -> StateReader {
        StateReader(projector.store.snapshot, projector.shapes)
    }

    private static let index = IndexChange(table: "t", columns: ["n"], isOn: true)

    @Test(
        arguments: [
            ("n eq 5", 1), ("n ge 5 and n lt 8", 3), ("n gt 97", 2), ("m eq 1 and n le 2", 3),
            ("not (m eq 2) and n eq 500", 0), ("5 eq n", 1), ("n in (3, 4, 3.0, 900)", 2), ("90 lt n and n le 92", 2),
        ])
    func `an index returns few rows`(filter: (text: String, count: Int)) throws {
        let query = RowQuery(table: "t", filter: try FilterExpression(parsing: filter.text))
        let (result, plan) = try Self.reader(state(100, [Self.index])).explain(query)
        #expect(plan.access == .index(columns: ["n"], isOrdered: false, isCovering: false))
        #expect(plan.rowsRead == filter.count)
        #expect(result.rows.count == filter.count)
    }

    @Test func `a condition on related rows uses an index on the column that refers to them`() throws {
        let selection = FilterExpression.Selection(
            table: "t", column: "s", filter: try FilterExpression(parsing: "n eq 5"))
        let query = RowQuery(table: "t", filter: .related("s", selection))
        let index = IndexChange(table: "t", columns: ["s"], isOn: true)
        let (result, plan) = try Self.reader(state(100, [index])).explain(query)
        #expect(plan.access == .index(columns: ["s"], isOrdered: false, isCovering: false))
        #expect(result.rows.count == 10)
    }

    @Test(arguments: [
        "n ne 5", "n eq 5 or m eq 1", "not (n eq 5)", "m eq 1", "n add 1 eq 5",
    ])
    func `a filter that an index can't answer reads the table`(filter: String) throws {
        let query = RowQuery(table: "t", filter: try FilterExpression(parsing: filter))
        #expect(try Self.reader(state(10, [Self.index])).explain(query).plan.access == .table)
    }

    @Test func `a date in a column of dates finds all spellings of it, with an index and without`() throws {
        let values = ["2026-05-19T00:00:00Z", "2026-05-19T02:00:00.000+02:00", "2026-05-19", "2026-05-18", "soon"]
        for indexes in [[], [Self.index]] {
            let projector = try state(0, indexes)
            try projector.apply(
                Event(time: 0, .typed(TypeDeclaration(table: "t", columns: [TypedColumn("n", .date)]))),
                number: projector.through + 1)
            for (number, value) in values.enumerated() {
                try Self.insert(number, [.init("n", .string(value))], into: projector)
            }
            for text in ["'2026-05-19T00:00:00Z'", "datetimeoffset'2026-05-19T01:00:00+01:00'"] {
                let query = RowQuery(table: "t", filter: try FilterExpression(parsing: "n eq \(text)"))
                let (result, plan) = try Self.reader(projector).explain(query)
                #expect(result.rows.map(\.id) == ["0", "1", "2"])
                #expect((plan.access == .table) == indexes.isEmpty)
            }
        }
    }

    @Test func `a stretch of very many rows is left to reading the table`() throws {
        let query = RowQuery(table: "t", filter: try FilterExpression(parsing: "n ge 0"))
        let plan = try Self.reader(state(5000, [Self.index])).explain(query).plan
        #expect(plan.access == .table)
        #expect(plan.givenUp == [["n"]])
        #expect(
            plan.description == "the index on n has too many entries to be of use; reads the whole table: 5000 rows")
    }

    @Test func `a count that an index decides reads no rows`() throws {
        let reader = try Self.reader(state(5000, [Self.index]))
        for (filter, expected) in [("n ge 10", 4990), ("n eq 3", 1), ("n ne null", 5000), ("n gt 1 and n lt 4", 2)] {
            let (count, plan) = try reader.explainCount(
                RowQuery(table: "t", filter: try FilterExpression(parsing: filter)))
            #expect(count == expected)
            #expect(plan.rowsRead == 0, "\(filter)")
            // So is a query for no rows but their number.
            let none = try reader.explain(
                RowQuery(table: "t", filter: try FilterExpression(parsing: filter), top: 0, countsAll: true))
            #expect(none.result == QueryResult(rows: [], count: expected) && none.plan == plan, "\(filter)")
        }
    }

    @Test func `the first rows of an order are read from either end of an index`() throws {
        let reader = try Self.reader(state(200, [Self.index]))
        for (isDescending, first) in [(false, 0), (true, 199)] {
            let query = RowQuery(table: "t", order: [.init("n", descending: isDescending)], top: 3, skip: 2)
            let (result, plan) = try reader.explain(query)
            let step = isDescending ? -1 : 1
            #expect(result.rows.map(\.id) == (2..<5).map { "\(first + step * $0)" })
            #expect(plan.access == .index(columns: ["n"], isOrdered: true, isCovering: false))
            #expect(plan.entriesRead == 6 && plan.rowsRead == 5)
        }
    }

    @Test func `pages by key read as much for the last page as for the first`() throws {
        let reader = try Self.reader(state(200, [Self.index]))
        for isDescending in [false, true] {
            var query = RowQuery(table: "t", order: [.init("n", descending: isDescending)], top: 10)
            var seen: [String] = []
            while true {
                let (result, plan) = try reader.explain(query)
                #expect(plan.entriesRead <= 12)
                seen += result.rows.map(\.id)
                guard let end = result.end else { break }
                query.after = end
            }
            let all = (0..<200).map { "\($0)" }
            #expect(seen == (isDescending ? all.reversed() : all))
        }
    }

    @Test(arguments: [["n"], ["upper"], ["lower"], ["n", "upper", "lower"]])
    func `pages of a value in the order of ids are those of the table, whatever ids look like`(forms: [String]) throws {
        func id(_ number: Int) -> String {
            let digits = (number * 7919 % 300).formatted(.number.grouping(.never).precision(.integerLength(12...)))
            return switch forms[number % forms.count] {
            case "n": "\(number)"
            case "upper": "ABCDEF00-0000-4000-8000-\(digits)"
            default: "abcdef00-0000-4000-8000-\(digits)"
            }
        }
        let (plain, indexed) = (try Projector(), try Projector())
        try Self.declare(IndexChange(table: "t", columns: ["s"], isOn: true), in: indexed)
        for projector in [plain, indexed] {
            for number in 0..<300 {
                let columns = Row([.init("s", .string("s\(number % 3)"))])
                let change = LocalChange(kind: .insert, table: "t", id: id(number), columns: columns)
                try projector.apply(
                    Event(time: 0, .local(LocalTransaction([change], isGrouped: false))), number: projector.through + 1)
            }
        }
        let starts: [String?] =
            [nil, "", "5", "zz", "ABCDEF00-0000-4000-8000-000000000150", "abcdef00-0000-4000-8000-000000000150"]
            + (0..<60).map(id)
        for start in starts {
            let query = RowQuery(
                table: "t", filter: try FilterExpression(parsing: "s eq 's1'"), top: 7,
                after: start.map { RowQuery.Place(values: [], id: $0) })
            let (found, plan) = try Self.reader(indexed).explain(query)
            #expect(try found == Self.reader(plain).run(query), "\(start ?? "")")
            let isOrdered = forms.count == 1
            #expect(plan.access == .index(columns: ["s"], isOrdered: isOrdered, isCovering: false))
            // No more entries than rows are wanted, the one before them, and the one after them.
            let isKnown = start.map { (0..<300).map(id).contains($0) } ?? true
            if isOrdered, isKnown { #expect(plan.entriesRead <= 9, "\(start ?? "")") }
        }
    }

    @Test func `an index on several columns filters by the first and sorts by the next`() throws {
        let reader = try Self.reader(state(400, [IndexChange(table: "t", columns: ["s", "n"], isOn: true)]))
        let query = RowQuery(
            table: "t", filter: try FilterExpression(parsing: "s eq 's3' and n lt 300"),
            order: [.init("n", descending: true)],
            top: 4)
        let (result, plan) = try reader.explain(query)
        #expect(result.rows.map(\.id) == ["293", "283", "273", "263"])
        #expect(plan.access == .index(columns: ["s", "n"], isOrdered: true, isCovering: false))
        #expect(plan.entriesRead == 5)
        let (count, counted) = try reader.explainCount(query)
        #expect(count == 4 && counted.rowsRead == 0)
    }

    @Test func `beginnings of strings are a range`() throws {
        let projector = try state(0, [IndexChange(table: "t", columns: ["s"], isOn: true)])
        let long = String(repeating: "x", count: 100)
        for (number, text) in ["a", "ab", "abc", "b", "", "a\0b", long, long + "1", long + "2"].enumerated() {
            try Self.insert(number, [.init("s", .string(text))], into: projector)
        }
        let reader = Self.reader(projector)
        for (prefix, expected) in [("a", ["0", "1", "2", "5"]), ("ab", ["1", "2"]), (long, ["6", "7", "8"])] {
            let filter = FilterExpression.call(.startswith, [.column("s"), .literal(.string(prefix))])
            let (result, plan) = try reader.explain(RowQuery(table: "t", filter: filter))
            #expect(result.rows.map(\.id) == expected)
            #expect(plan.rowsRead == expected.count)
        }
        let ordered = try reader.explain(RowQuery(table: "t", order: [.init("s", descending: true)], top: 3))
        #expect(ordered.result.rows.map(\.id) == ["8", "7", "6"])
    }

    @Test func `an index that includes the columns asked for reads no rows`() throws {
        let index = IndexChange(table: "t", columns: ["s"], including: ["n"], isOn: true)
        let reader = try Self.reader(state(100, [index]))
        var query = RowQuery(table: "t", filter: try FilterExpression(parsing: "s eq 's7' and n gt 50"), select: ["n"])
        let (result, plan) = try reader.explain(query)
        #expect(plan.access == .index(columns: ["s"], isOrdered: false, isCovering: true))
        #expect(plan.rowsRead == 0)
        #expect(result.rows.map(\.id) == ["57", "67", "77", "87", "97"])
        #expect(result.rows.first?.columns == Row([.init("n", .integer(57))]))
        query.select = nil
        #expect(try reader.explain(query).plan.rowsRead == 10)
        #expect(try reader.explainCount(query).count == 5)
    }

    @Test func `rows are found by the ids in a filter`() throws {
        let reader = try Self.reader(state(100, []))
        let query = RowQuery(table: "t", filter: try FilterExpression(parsing: "id in ('7', '70', 'none') and n gt 7"))
        let (result, plan) = try reader.explain(query)
        #expect(result.rows.map(\.id) == ["70"])
        #expect(plan.access == .ids && plan.rowsRead == 2)
    }

    @Test func `tables whose names differ in their bytes have indexes of their own`() throws {
        let projector = try Projector()
        for table in ["caf\u{e9}", "cafe\u{301}"] {
            for column in ["n", "m"] {
                try Self.declare(IndexChange(table: table, columns: [column], isOn: true), in: projector)
            }
            #expect(try Self.reader(projector).indexes(of: table).map(\.columns) == [["n"], ["m"]])
        }
    }

    @Test func `a declaration replaces the index on the same columns`() throws {
        let projector = try state(20, [Self.index])
        let before = projector.store.digest
        try Self.declare(IndexChange(table: "t", columns: ["n"], including: ["m"], isOn: true), in: projector)
        let indexes = try Self.reader(projector).indexes(of: "t")
        #expect(indexes.map(\.columns) == [["n"]] && indexes.map(\.including) == [["m"]])
        try Self.declare(IndexChange(table: "t", columns: ["n"], isOn: false), in: projector)
        #expect(try Self.reader(projector).indexes(of: "t").isEmpty)
        // Nothing of it is left: the first one can be made again.
        try Self.declare(Self.index, in: projector)
        #expect(projector.store.digest != Digest())
        let summed = try projector.store.snapshot.summed()
        #expect(summed == projector.store.digest)
        // The shape of the included columns stays, and nothing else.
        var added = before
        let number = projector.shapes.count - 1
        var key = ByteWriter()
        key.append(shapeKey: number)
        let shape = try #require(projector.shapes.shape(number))
        key.bytes.withBytes { key in shape.encodedNames.withBytes { added.add(key, $0) } }
        #expect(projector.store.digest == added)
    }

    @Test(arguments: [(5, []), (5.0, [2]), (5.5, []), ("\0", [1])] as [(Value, [UInt8])])
    func `an entry has the mark of its row's newest value`(value: Value, mark: [UInt8]) throws {
        func marks(_ projector: Projector) throws -> [[UInt8]] {
            try projector.store.snapshot.contents().filter { $0.key.first == 7 }.map(\.value)
        }
        let index = IndexChange(table: "t", columns: ["n"], isOn: true)
        let early = try state(0, [index])
        for number in [Value.double(7), .integer(5), value] {
            let change = LocalChange(
                kind: number == 7.0 ? .insert : .update, table: "t", id: "1", columns: Row([.init("n", number)]))
            try early.apply(
                Event(time: 0, .local(LocalTransaction([change], isGrouped: false))), number: early.through + 1)
        }
        #expect(try marks(early) == [mark])
        // The same for an index that is declared when the row is there.
        try Self.declare(IndexChange(table: "t", columns: ["n"], isOn: false), in: early)
        try Self.declare(index, in: early)
        #expect(try marks(early) == [mark])
    }

    @Test func `a column that an index has twice is one condition`() throws {
        let index = IndexChange(table: "t", columns: ["n", "n"], isOn: true)
        let projector = try state(0, [index])
        try Self.insert(1, [.init("n", .integer(1)), .init("s", .string("a"))], into: projector)
        try Self.insert(2, [.init("n", .integer(1))], into: projector)
        for order in [[], [RowQuery.Key("n", descending: true)]] {
            let query = RowQuery(
                table: "t", filter: try FilterExpression(parsing: "n eq 1 and s ne null"), order: order, top: 4)
            #expect(try Self.reader(projector).run(query).rows.map(\.id) == ["1"])
        }
    }
}
