// Indexes: how filters use them, and that each entry matches a current row.

import Testing

@testable import SynclineCore

@Suite struct IndexTests {
    private func state(_ count: Int) throws -> Projector {
        let projector = try Projector()
        try projector.apply(Event(time: 0, .indexed(table: "t", column: "n", isOn: true)), number: 1)
        for number in 0..<count {
            let row = Row([.init("n", .integer(Int64(number))), .init("m", .integer(1))])
            let change = LocalChange(kind: .insert, table: "t", id: "\(number)", columns: row)
            try projector.apply(
                Event(time: 0, .local(LocalTransaction([change], isGrouped: false))), number: UInt64(number) + 2)
        }
        return projector
    }

    private func candidates(_ filter: String, _ projector: Projector) throws -> Int? {
        let reader = StateReader(projector.store.snapshot, projector.shapes)
        return try reader.candidates(RowQuery(table: "t", filter: try FilterExpression(parsing: filter)))?.count
    }

    @Test(arguments: [
        ("n eq 5", 1), ("n ge 5 and n lt 8", 4), ("n gt 97", 3), ("m eq 1 and n le 2", 3),
        ("not (m eq 2) and n eq 500", 0),
    ])
    func `an index returns few rows`(filter: String, count: Int) throws {
        #expect(try candidates(filter, state(100)) == count)
    }

    @Test(arguments: [
        "n ne 5", "n eq 5 or m eq 1", "not (n eq 5)", "m eq 1", "n eq null", "n add 1 eq 5", "n eq '2020-01-01'",
    ])
    func `a filter that an index can't answer reads the table`(filter: String) throws {
        #expect(try candidates(filter, state(10)) == nil)
    }

    @Test func `a stretch of very many rows is left to reading the table`() throws {
        #expect(try candidates("n ge 0", state(5000)) == nil)
    }

    @Test func `tables whose names differ in their bytes have indexes of their own`() throws {
        let projector = try Projector()
        for (number, table) in ["caf\u{e9}", "cafe\u{301}"].enumerated() {
            try projector.apply(
                Event(time: 0, .indexed(table: table, column: "n", isOn: true)), number: UInt64(number) + 1)
            let reader = StateReader(projector.store.snapshot, projector.shapes)
            #expect(try reader.indexedColumns(of: table) == ["n"])
        }
    }
}
