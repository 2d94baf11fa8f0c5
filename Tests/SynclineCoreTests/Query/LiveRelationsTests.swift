// How many queries a page with related rows takes, at first and after changes.

import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct LiveRelationsTests {
    /// Findings `f0` to `f99`, of which `s` is one of the ten sites `s0` to `s9`, and a page of the first 40.
    private final class Inspections {
        let projector: Projector
        var pair = LiveRelations(
            page: RowQuery(table: "f", order: [.init("n")], top: 40),
            [RowRelation(to: RowQuery(table: "s"), by: .id { RowReferences($0.map { $0.columns["s"] }) })])
        private var before: StateReader

        init() throws {
            projector = try Projector()
            before = projector.reader(of: projector.store.endCommit())
            for number in 0..<10 { try apply(.insert, "s", "s\(number)", ["name": .integer(0)]) }
            for number in 0..<100 {
                let columns: [String: Value] = ["n": .integer(Int64(number)), "s": .string("s\(number % 5)")]
                try apply(.insert, "f", "f\(number)", columns)
            }
            before = commit()
            try pair.load(before)
        }

        func commit() -> StateReader { projector.reader(of: projector.store.endCommit()) }

        func apply(_ kind: OperationKind, _ table: String, _ id: String, _ columns: [String: Value]) throws {
            let row = Row(columns.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) })
            let change = LocalChange(kind: kind, table: table, id: id, columns: row)
            try projector.apply(
                Event(time: 0, .local(LocalTransaction([change], isGrouped: false))), number: projector.through + 1)
        }

        /// Changes rows in one commit. Returns whether the page changed, and checks that it is right.
        func change(_ changes: (table: String, id: String, columns: [String: Value])...) throws -> Bool {
            for change in changes { try apply(.update, change.table, change.id, change.columns) }
            let after = commit()
            var isChanged = false
            for table in pair.tables ?? [] {
                let keys = changes.filter { $0.table == table }.map { RowKey.bytes(table, $0.id, .exact) }
                if keys.isEmpty { continue }
                isChanged = try pair.update(TableChanges(of: table, keys, from: before, to: after)) || isChanged
            }
            let page = try after.run(RowQuery(table: "f", order: [.init("n")], top: 40)).rows
            let sites = Set(page.map { $0.columns["s"] })
            #expect(pair.result.page.rows == page)
            #expect(
                pair.result.related[0]
                    == (try after.run(RowQuery(table: "s")).rows.filter { sites.contains(.string($0.id)) }))
            before = after
            return isChanged
        }
    }

    @Test func `a page and what is related to it are two queries, and each related row is read once`() throws {
        let inspections = try Inspections()
        #expect(inspections.pair.loads == 2)
        #expect(inspections.pair.result.page.rows.count == 40 && inspections.pair.result.related[0].count == 5)
        let ids = (0..<5).map { FilterExpression.literal(.string("s\($0)")) }
        let query = RowQuery(table: "s", filter: .oneOf(.column("id"), ids))
        #expect(try inspections.commit().explain(query).plan.rowsRead == 5)
    }

    @Test func `a change costs a query only if the page refers to other rows`() throws {
        let inspections = try Inspections()
        #expect(try !inspections.change(("f", "f90", ["n": 91])))
        #expect(try !inspections.change(("s", "s7", ["name": 1])))
        #expect(try inspections.change(("s", "s3", ["name": 2])))
        #expect(try inspections.change(("f", "f1", ["s": "s2"])))
        #expect(inspections.pair.loads == 2)
        // A row of each table in one commit, of which one is related only from now on.
        #expect(try inspections.change(("f", "f2", ["s": "s8"]), ("s", "s8", ["name": 3])))
        #expect(inspections.pair.loads == 3)
        #expect(inspections.pair.result.related[0].map(\.id) == ["s0", "s1", "s2", "s3", "s4", "s8"])
        // The related row is new, and in the result once.
        #expect(try inspections.change(("f", "f3", ["s": "t"]), ("s", "t", ["name": 4])))
        #expect(inspections.pair.result.related[0].map(\.id) == ["s0", "s1", "s2", "s3", "s4", "s8", "t"])
    }
}
