// Which schemas are refused, and what opening a store with one decides.

import Testing

@testable import SynclineCore

@Suite struct SchemaTests {
    @Test(arguments: [
        SyncSchema(version: 0),
        SyncSchema(version: 1, tables: [TableSchema("t"), TableSchema("t")]),
        SyncSchema(version: 1, tables: [TableSchema("a/b")]),
        SyncSchema(version: 1, tables: [TableSchema("t", localColumns: ["x", "x"])]),
        SyncSchema(version: 1, tables: [TableSchema("t", localColumns: ["id"])]),
        SyncSchema(version: 1, tables: [TableSchema("t", localColumns: ["updatedAt"])]),
        SyncSchema(version: 1, tables: [TableSchema("t", localColumns: ["__x"])]),
        SyncSchema(version: 1, tables: [TableSchema("t", localColumns: [""])]),
        SyncSchema(version: 1, migrations: [Migration(to: 2, steps: [])]),
        SyncSchema(version: 3, migrations: [Migration(to: 3, steps: []), Migration(to: 2, steps: [])]),
        SyncSchema(version: 3, migrations: [Migration(to: 2, steps: []), Migration(to: 2, steps: [])]),
        SyncSchema(version: 1, migrations: [Migration(to: 0, steps: [])]),
        SyncSchema(version: 2, migrations: [Migration(to: 2, steps: [.dropColumn(table: "t", column: "version")])]),
        SyncSchema(version: 2, migrations: [Migration(to: 2, steps: [.dropColumn(table: "", column: "a")])]),
        SyncSchema(
            version: 2, migrations: [Migration(to: 2, steps: [.renameColumn(table: "t", from: "a", to: "deleted")])]),
        SyncSchema(version: 2, migrations: [Migration(to: 2, steps: [.renameColumn(table: "t", from: "id", to: "a")])]),
        SyncSchema(version: 2, migrations: [Migration(to: 2, steps: [.renameColumn(table: "t", from: "a", to: "a")])]),
        SyncSchema(version: 1, tables: [TableSchema("t", columns: [.column("a"), .column("a")])]),
        SyncSchema(version: 1, tables: [TableSchema("t", columns: [.column("a", onServer: "c"), .column("c")])]),
        SyncSchema(version: 1, tables: [TableSchema("t", columns: [.column("a", onServer: "version")])]),
        SyncSchema(version: 1, tables: [TableSchema("t", columns: [.column("id", onServer: "key")])]),
        SyncSchema(version: 1, tables: [TableSchema("t", columns: [.column("a", onServer: "b")], localColumns: ["a"])]),
        SyncSchema(version: 1, tables: [TableSchema("t", columns: [.column("a", default: .double(.nan))])]),
        SyncSchema(
            version: 1,
            migrations: [Migration(to: 1, steps: [.addColumn(table: "t", column: "updatedAt", default: 1)])]),
        SyncSchema(version: 1, migrations: [Migration(to: 1, steps: [.transform(table: "t", column: "id") { $0 }])]),
        SyncSchema(version: 1, migrations: [Migration(to: 1, steps: [.dropTable("")])]),
    ])
    func `an invalid schema is refused`(_ schema: SyncSchema) {
        let error = #expect(throws: SyncError.self) { try schema.check() }
        #expect(error?.code == .invalidConfiguration)
    }

    private static let steps: [Migration.Step] = [
        .renameColumn(table: "t", from: "a", to: "b"), .dropColumn(table: "t", column: "c"),
        .dropColumn(table: "u", column: "d"),
    ]

    private static func schema(_ version: UInt32, local: [String] = []) -> SyncSchema {
        SyncSchema(
            version: version, tables: [TableSchema("t", localColumns: local)],
            migrations: (1..<version).map { Migration(to: $0 + 1, steps: [steps[Int($0) - 1]]) })
    }

    @Test func `the steps between two versions are taken, and no others`() throws {
        for from in UInt32(1)...3 {
            let recorded = try #require(try SchemaChange(opening: nil, with: Self.schema(from))).declaration
            for to in UInt32(1)...4 where to >= from {
                let change = try SchemaChange(opening: recorded, with: Self.schema(to))
                let expected = Self.steps[Int(from - 1)..<Int(to - 1)].compactMap(\.plain)
                #expect(change?.steps.compactMap(\.plain) == (from == to ? nil : expected))
            }
        }
        #expect(try SchemaChange(opening: nil, with: Self.schema(4))?.steps.count == Self.steps.count)
    }

    @Test func `an older schema is refused, an equal one needs nothing, another of the version is recorded`() throws {
        let recorded = try #require(try SchemaChange(opening: nil, with: Self.schema(2))).declaration
        let error = #expect(throws: SyncError.self) { try SchemaChange(opening: recorded, with: Self.schema(1)) }
        #expect(error?.code == .storeNewer)
        #expect(try SchemaChange(opening: recorded, with: Self.schema(2)) == nil)
        var other = Self.schema(2)
        other.isStrict = true
        let change = try #require(try SchemaChange(opening: recorded, with: other))
        #expect(change.declaration.isStrict && change.steps.isEmpty)
    }

    @Test func `a rename onto a column that a row has is refused, unless a step drops one of them before`() throws {
        var desk = try SchemaDesk()
        try desk.pull(["a": 1])
        try desk.change(.update, ["b": 2])
        func check(_ steps: Migration.Step...) throws(SyncError) {
            let change = SchemaChange(Declaration(version: 2, isStrict: false, tables: []), steps)
            try change.check(over: nil, desk.reader)
        }
        let rename = Migration.Step.renameColumn(table: "t", from: "a", to: "b")
        let error = #expect(throws: SyncError.self) { try check(rename) }
        #expect(error?.code == .invalidConfiguration && error?.address == "t/r")
        try check(.dropColumn(table: "t", column: "b"), rename)
        try check(.dropColumn(table: "t", column: "a"), rename)
        try check(.renameColumn(table: "t", from: "a", to: "c"))
        try check(.renameColumn(table: "u", from: "a", to: "b"))
    }

    @Test func `a column that is local is never sent after the next opening`() throws {
        var desk = try SchemaDesk()
        try desk.declare(local: ["l"])
        func check(local: [String], _ steps: Migration.Step...) throws(SyncError) {
            let tables = local.isEmpty ? [] : [TableSchema("t", localColumns: local)]
            let change = SchemaChange(Declaration(version: 9, isStrict: false, tables: tables), steps)
            try change.check(over: desk.projector.declaration, desk.reader)
        }
        let error = #expect(throws: SyncError.self) { try check(local: []) }
        #expect(error?.code == .invalidConfiguration)
        try check(local: ["l", "m"])
        try check(local: [], .dropColumn(table: "t", column: "l"))
        try check(local: ["k"], .renameColumn(table: "t", from: "l", to: "k"))
        #expect(throws: SyncError.self) {
            try check(local: ["l"], .renameColumn(table: "t", from: "l", to: "k"))
        }
    }

    @Test func `a strict declaration refuses other tables and names its own`() throws {
        let strict = Declaration(version: 1, isStrict: true, tables: [TableSchema("caf\u{e9}"), TableSchema("t")])
        try strict.check("t")
        let error = #expect(throws: SyncError.self) { try strict.check("u") }
        #expect(error?.code == .unknownTable && error?.hint == "Declared tables: caf\u{e9}, t.")
        #expect(throws: SyncError.self) { try strict.check("cafe\u{301}") }
        try Declaration(version: 1, isStrict: false, tables: []).check("u")
        #expect(try Declaration(strict.value) == strict)
        #expect(throws: SyncError.self) { try Declaration(.integer(1)) }
    }

    @Test func `the tool's list keeps what an app declared`() throws {
        let app = Declaration(
            version: 3, isStrict: false, tables: [TableSchema("t", localColumns: ["l"]), TableSchema("u")])
        let change = try #require(try SchemaChange(strictTables: ["t", "v"], over: app))
        #expect(
            change.declaration
                == Declaration(
                    version: 3, isStrict: true, tables: [TableSchema("t", localColumns: ["l"]), TableSchema("v")]))
        #expect(try SchemaChange(strictTables: nil, over: app) == nil)
        #expect(try SchemaChange(strictTables: nil, over: change.declaration)?.declaration.isStrict == false)
        #expect(throws: SyncError.self) { try SchemaChange(strictTables: ["t", "t"], over: nil) }
    }
}
