// How a database's own types appear to clients, and how large a response may be.

import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct DatabaseTypeTests {
    @Test func `a key's value has one spelling as an id`() {
        #expect(IDKind.text.canBe("anything"))
        #expect(["0", "7", "-7", "9223372036854775807"].allSatisfy(IDKind.integer.canBe))
        #expect(!["", "07", "+7", "7.0", "-0", "9223372036854775808", "x"].contains(where: IDKind.integer.canBe))
        #expect(IDKind.uuid.canBe("0198b5a2-0000-7000-8000-00000000000a"))
        #expect(
            ![
                "0198b5a2-0000-7000-8000-00000000000A", "0198b5a2-0000-7000-8000-00000000000",
                "0198b5a200007000800000000000000a",
                "0198b5a2-0000-7000-8000-00000000000g", "{0198b5a2-0000-7000-8000-0000000000}",
            ].contains(where: IDKind.uuid.canBe))
    }

    @Test func `a column type is served as the type of its values, or not at all`() {
        func served(_ type: String, _ dialect: SQLDialect) -> ColumnType? {
            DatabaseColumn("c", type).served(dialect)
        }
        #expect(served("character varying", .postgres) == .string && served("enum", .postgres) == .string)
        #expect(served("real", .postgres) == .number && served("date", .postgres) == .date)
        for type in ["interval", "array", "bytea", "user-defined", "time without time zone", "point", "money"] {
            #expect(served(type, .postgres) == nil, "\(type)")
        }
        #expect(served("numeric", .postgres) == .decimal && served("uuid", .postgres) == .uuid)
        #expect(served("DECIMAL(10,2)", .sqlite) == .decimal && served("NUMERIC", .sqlite) == .decimal)
        #expect(served("UUID", .sqlite) == .uuid && served("INTEGER", .sqlite) == .number)
        #expect(served("VARCHAR(20)", .sqlite) == .string && served("DATETIME", .sqlite) == .date)
        #expect(served("BLOB", .sqlite) == nil && served("", .sqlite) == nil)
    }

    @Test func `SQLite's form of a moment is read as UTC`() {
        #expect(Timestamp(stored: "2026-05-19 21:30:00")?.instant == Timestamp("2026-05-19T21:30:00Z")?.instant)
        #expect(Timestamp(stored: "2026-05-19T21:30:00.5Z") == Timestamp("2026-05-19T21:30:00.5Z"))
        for text in ["", "2026-05-19 ", "some words of text", "2026-05-19 21", "20260519 21:30:00"] {
            #expect(Timestamp(stored: text) == nil, "\(text)")
        }
    }

    @Test func `the first row always fits, and others share the rest`() {
        func row(_ size: Int) -> TableRow {
            TableRow(
                id: "i", columns: Row([.init("t", .string(String(repeating: "x", count: size)))]),
                createdAt: .init(seconds: 0), updatedAt: .init(seconds: 0), version: "v")
        }
        func taken(_ sizes: [Int]) -> [Bool] {
            var room = AnswerBudget(1000)
            return sizes.map { room.takes(row($0)) }
        }
        #expect(taken([5000, 1]) == [true, false])
        #expect(taken([300, 300, 300]) == [true, true, false])
        #expect(row(300).bare.size < 200)
    }
}
