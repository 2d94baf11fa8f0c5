// What rights cost, as counts: who joins a list reads that list, and a change of a list writes one row.

import SynclineCore
import SynclineGround
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

@Suite struct RightsCostTests {
    private static let tables = #"""
        {"note":{"columns":{"list":"string","text":"string"},"read":"list in share(list where user eq auth.sub)"},
        "share":{"columns":{"user":"string","list":"string"},"softDelete":false,
          "insert":"role:admin","update":"role:admin","delete":"role:admin","undelete":"role:admin"}}
        """#

    private func insert(_ store: SQLStore, _ table: String, _ rows: [[String: String]]) throws {
        for start in stride(from: 0, to: rows.count, by: 500) {
            let writes = rows[start..<min(start + 500, rows.count)].map { row in
                var write = TableWrite(
                    .insert(Row(row.filter { $0.key != "id" }.map { Value.Member($0.key, .string($0.value)) })),
                    table: table, id: row["id"] ?? "", serverProtocol: .zumo2)
                write.caller = row["list"].map { _ in SynclineTables.Caller(subject: "writer") }
                return [write]
            }
            let outcomes = try store.write(writes, stopsAtRefusal: true, wantsRows: false)
            let refused = outcomes.joined().filter(\.isRefused)
            #expect(refused.isEmpty)
        }
    }

    private func id(_ number: Int) -> String {
        "0000000000000000000000" + Hexadecimal.text(number + (1 << 36), digits: 10)
    }

    @Test func `a join costs its list, and a change costs one row`() throws {
        let (inner, keeper) = try TestBackend.sqlite.database()
        let database = CountingDatabase(inner: inner)
        let settings = try configuration(#"{"auth":{"key":"\#(testSecret)"},"tables":\#(Self.tables)}"#)
        let store = try SQLStore(database, settings.tables, StillEnvironment())
        // A list of 1,000 rows and 1,000 members, among 5 others.
        let lists = (0..<6).map { "l\($0)" }
        try insert(store, "share", lists.map { ["id": "w\($0)", "user": "writer", "list": $0] })
        try insert(store, "share", (0..<1000).map { ["id": "m\($0)", "user": "u\($0)", "list": "l0"] })
        try insert(store, "note", (0..<6000).map { ["id": id($0), "list": lists[$0 % 6], "text": "t"] })
        let mark = try store.mark().change

        func cost(_ body: () throws -> Void) rethrows -> (statements: Int, rows: Int) {
            let before = (
                database.counts.trips.load(ordering: .relaxed), database.counts.rows.load(ordering: .relaxed)
            )
            try body()
            return (
                database.counts.trips.load(ordering: .relaxed) - before.0,
                database.counts.rows.load(ordering: .relaxed) - before.1
            )
        }

        let grant = try cost { try insert(store, "share", [["id": "x", "user": "eve", "list": "l0"]]) }
        #expect(grant.statements <= 10, "\(grant)")
        var found: Set<String> = []
        var plan = ChangePlan(table: "note", since: mark, limit: 100)
        plan.subject = "eve"
        let join = try cost {
            while true {
                let page = try store.changes(plan)
                found.formUnion(page.changes.map(\.row.id))
                guard page.hasMore, let last = page.changes.last else { break }
                (plan.since, plan.sinceID) = (last.number, last.row.id)
            }
        }
        #expect(found.count == 1000 && join.rows <= 3000, "\(join)")
        let write = try cost { try insert(store, "note", [["id": id(9000), "list": "l0", "text": "t"]]) }
        #expect(write.statements <= 14, "\(write)")
        plan = ChangePlan(table: "note", since: try store.mark().change, limit: 100)
        plan.subject = "u7"
        var news = 0
        let idle = try cost { news = try store.changes(plan).changes.count }
        #expect(news == 0)
        #expect(idle.rows <= 5, "\(idle)")
        // By time, as the older clients do.
        let newest = try store.row("note", id: id(9000)).map(\.updatedAt)
        var list = ListPlan(table: "note", order: [.init("updatedAt", descending: false)], limit: 50)
        (list.subject, list.includesDeleted) = ("u7", true)
        list.filter = .compare(.greater, .column(["updatedAt"]), .literal(.date(Timestamp(try #require(newest)))))
        var rows = 0
        let later = try cost { rows = try store.list(list).rows.count }
        #expect(rows == 0)
        #expect(later.rows <= 5, "\(later)")
        list.filter = nil
        let page = try cost { rows = try store.list(list).rows.count }
        #expect(rows == 50)
        #expect(page.rows <= 160, "\(page)")
        // A page ends where its answer does, before all of it is in memory.
        let long = String(repeating: "x", count: 1 << 20)
        for number in 9100..<9112 { try insert(store, "note", [["id": id(number), "list": "l0", "text": long]]) }
        list.filter = .compare(.greater, .column(["updatedAt"]), .literal(.date(Timestamp(try #require(newest)))))
        var hasMore = false
        let large = try cost {
            let outcome = try store.list(list)
            (rows, hasMore) = (outcome.rows.count, outcome.hasMore)
        }
        #expect(rows == 3 && hasMore && large.rows <= 12, "\(large)")
        list.filter = nil
        (list.includesDeleted, list.order) = (false, [])
        let plain = try cost { rows = try store.list(list).rows.count }
        #expect(rows == 50)
        #expect(plain.rows <= 110 && plain.statements <= 8, "\(plain)")
        withExtendedLifetime(keeper) {}
    }

    @Test func `nothing new in many lists is found with few statements`() throws {
        let (inner, keeper) = try TestBackend.sqlite.database()
        let database = CountingDatabase(inner: inner)
        let settings = try configuration(#"{"auth":{"key":"\#(testSecret)"},"tables":\#(Self.tables)}"#)
        let store = try SQLStore(database, settings.tables, StillEnvironment())
        let lists = (0..<50).map { "l\($0)" }
        for user in ["writer", "eve"] {
            try insert(store, "share", lists.map { ["id": "\(user) \($0)", "user": user, "list": $0] })
        }
        try insert(store, "note", (0..<200).map { ["id": id($0), "list": lists[$0 % 50], "text": "t"] })
        var plan = ChangePlan(table: "note", since: try store.mark().change, limit: 100)
        plan.subject = "eve"
        func trips() throws -> Int {
            let before = database.counts.trips.load(ordering: .relaxed)
            #expect(try store.changes(plan).changes.isEmpty)
            return database.counts.trips.load(ordering: .relaxed) - before
        }
        let atHead = try trips()
        // A row of a list that she does not see.
        try insert(store, "share", [["id": "writer other", "user": "writer", "list": "other"]])
        try insert(store, "note", [["id": id(800), "list": "other", "text": "t"]])
        let amongNews = try trips()
        #expect(atHead < amongNews && amongNews <= 10, "\(atHead), \(amongNews)")
        try insert(store, "note", [["id": id(900), "list": "l7", "text": "t"]])
        #expect(try store.changes(plan).changes.map(\.row.id) == [id(900)])
        withExtendedLifetime(keeper) {}
    }

    @Test func `pages over more lists than a statement reads have each row once, in order`() throws {
        let (database, keeper) = try TestBackend.sqlite.database()
        let settings = try configuration(#"{"auth":{"key":"\#(testSecret)"},"tables":\#(Self.tables)}"#)
        let store = try SQLStore(database, settings.tables, StillEnvironment())
        let lists = (0..<40).map { "l\($0)" }
        try insert(store, "share", lists.map { ["id": "w\($0)", "user": "writer", "list": $0] })
        // Eve sees half of the lists grow, and is given the others at one time, and five of them one by one.
        try insert(store, "share", lists[..<20].map { ["id": "e\($0)", "user": "eve", "list": $0] })
        try insert(store, "note", (0..<200).map { ["id": id($0 * 7919 % 200), "list": lists[$0 % 40], "text": "t"] })
        try insert(store, "share", lists[20..<35].map { ["id": "e\($0)", "user": "eve", "list": $0] })
        for list in lists[35...] { try insert(store, "share", [["id": "e\(list)", "user": "eve", "list": list]]) }
        for page in [7, 50, 199, 200, 1000] {
            var plan = ChangePlan(table: "note", since: 0, limit: page)
            plan.subject = "eve"
            var changes: [TableChange] = []
            while true {
                let some = try store.changes(plan)
                changes += some.changes
                guard some.hasMore, let last = some.changes.last else { break }
                (plan.since, plan.sinceID) = (last.number, last.row.id)
            }
            #expect(Set(changes.map(\.row.id)).count == 200 && changes.count == 200)
            #expect(zip(changes, changes.dropFirst()).allSatisfy { $0.isBefore($1) })
            var list = ListPlan(table: "note", order: [.init("updatedAt", descending: false)], limit: page)
            (list.subject, list.includesDeleted) = ("eve", true)
            var rows: [TableRow] = []
            while true {
                let some = try store.list(list).rows
                rows += some
                guard some.count == page, let last = some.last else { break }
                list.after = PagePlace(last, order: list.order)
            }
            #expect(Set(rows.map(\.id)).count == 200 && rows.count == 200)
        }
        withExtendedLifetime(keeper) {}
    }

    @Test(.enabled(if: TestBackend.available.contains(.postgres)))
    func `PostgreSQL finds the next places of lists by their indexes`() throws {
        let (database, keeper) = try TestBackend.postgres.database()
        let settings = try configuration(#"{"auth":{"key":"\#(testSecret)"},"tables":\#(Self.tables)}"#)
        let store = try SQLStore(database, settings.tables, StillEnvironment())
        let lists = (0..<5).map { "l\($0)" }
        try insert(store, "share", lists.map { ["id": "w\($0)", "user": "writer", "list": $0] })
        try insert(store, "note", (0..<5000).map { ["id": id($0), "list": lists[$0 % 5], "text": "t"] })
        try database.write { connection throws(StoreFailure) in try connection.execute("ANALYZE") }
        // No row is as old as the rights, which PostgreSQL does not expect.
        let catalogue = store.currentCatalogue
        let statements = try #require(catalogue.tables["note"])
        let rights = try #require(catalogue.rights["note"])
        let plans = try database.read { connection throws(StoreFailure) in
            let read = RuledRead(statements, rights, subject: "writer", store, connection)
            let spans = read.spans(try read.known())
            var plans: [[String]] = []
            for axis in [RightsWindow.Axis.number, .time] {
                var window = RightsWindow(axis: axis, since: .min, limit: 1000)
                var asked = read.questions(spans, window, true).map(\.statement)
                window.since = axis.value(of: spans[0].interval.begin)
                asked.append(statements.active(lists, of: spans[0].bucket, spans[0].number, window))
                for statement in asked {
                    let text = "EXPLAIN " + statement.text(.postgres)
                    let explain = SQLStatement(prepared: text, values: statement.allValues)
                    plans.append(try connection.all(explain) { $0.value(0).text })
                }
            }
            return plans
        }
        #expect(plans.count == 4)
        for plan in plans { #expect(!plan.contains { $0.contains("Seq Scan") }, "\(plan)") }
        withExtendedLifetime(keeper) {}
    }
}
