// Rules that change between starts: what callers saw by the old rule they are told to drop, and what they gain they receive.

import SynclineCore
import SynclineGround
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

@Suite struct RuleChangeTests {
    private let environment = StillEnvironment()

    private func definitions(
        _ rule: String?, write: String = "owner eq auth.sub"
    ) throws -> [TableDefinition] {
        let read = rule.map { #","read":"\#($0)","write":"\#(write)""# } ?? ""
        let json = #"""
            {"auth":{"key":"\#(testSecret)"},"tables":{"note":{"columns":{"owner":"string","list":"string"}\#(read)},
            "share":{"columns":{"user":"string","list":"string"},"insert":"role:admin","update":"role:admin",
            "delete":"role:admin","undelete":"role:admin"}}}
            """#
        return try configuration(json).tables
    }

    private func id(_ number: Int) -> String { "00000000-0000-7000-8000-00000000000\(number)" }

    private func insert(
        _ store: SQLStore, _ table: String, _ id: String, _ row: [String: String], by user: String? = nil
    ) throws {
        let columns = Row(row.sorted { $0.key < $1.key }.map { Value.Member($0.key, .string($0.value)) })
        var write = TableWrite(.insert(columns), table: table, id: id, serverProtocol: .zumo2)
        write.caller = (user ?? row["owner"]).map { SynclineTables.Caller(subject: $0) }
        #expect(try store.write([[write]], stopsAtRefusal: true)[0][0].isRefused == false)
    }

    private func changes(_ store: SQLStore, since: Int64 = 0) throws -> [String] {
        var plan = ChangePlan(table: "note", since: since, limit: 100)
        plan.subject = "ann"
        return try store.changes(plan).changes.map { "\($0.row.id.suffix(1))\($0.isByRight ? "-" : "+")" }
    }

    @Test(arguments: TestBackend.available)
    func `a changed rule is told as gains and losses, and an older server refuses`(_ backend: TestBackend) throws {
        let (database, keeper) = try backend.database()
        func start(_ rule: String?) throws -> SQLStore {
            try SQLStore(database, try definitions(rule), environment)
        }
        let byOwner = "owner eq auth.sub"
        let byList = "list in share(list where user eq auth.sub)"
        let old = try start(byOwner)
        try insert(old, "share", "s", ["user": "ann", "list": "l"])
        try insert(old, "note", id(1), ["owner": "ann"])
        try insert(old, "note", id(2), ["owner": "bob", "list": "l"])
        #expect(try changes(old) == ["1+"])
        let mark = try old.mark()

        let new = try start(byList)
        #expect(try new.mark().epoch == mark.epoch)
        #expect(try changes(new) == ["2+"])
        // Listeners of the older server hear of everything, because it can't say what concerns them.
        let last = try new.mark().change
        #expect(old.buckets("note", of: "ann", at: last) == nil)
        #expect(old.touched("note", after: 0, through: last) == nil)
        #expect(new.buckets("note", of: "ann", at: last)?.buckets.map(\.name.text) == ["l"])
        #expect(try changes(new, since: mark.change) == ["1-", "2+"])
        // The older server's rule is not in force any more.
        #expect(throws: StoreFailure.self) { try changes(old) }
        var write = TableWrite(.delete, table: "note", id: id(1), serverProtocol: .zumo2)
        write.caller = SynclineTables.Caller(subject: "ann")
        let late = try? old.write([[write]], stopsAtRefusal: true)
        #expect(late?[0][0].isRefused ?? true)

        // Back again, with what was written meanwhile.
        try insert(new, "note", id(3), ["owner": "ann", "list": "x"])
        let second = try new.mark().change
        let again = try start("\(byOwner) or \(byList)")
        let (all, news) = (try changes(again), try changes(again, since: second))
        #expect(Set(all) == ["1+", "2+", "3+"])
        #expect(news.contains("1+") && news.contains("3+"))
        // The same rules begin nothing.
        let number = try again.mark().change
        #expect(try start("\(byOwner) or \(byList)").mark().change == number)
        withExtendedLifetime(keeper) {}
    }

    @Test(arguments: TestBackend.available)
    func `an older server refuses after another rule for writes, which moves no row`(_ backend: TestBackend) throws {
        let (database, keeper) = try backend.database()
        func start(write: String) throws -> SQLStore {
            try SQLStore(database, try definitions("owner eq auth.sub", write: write), environment)
        }
        func delete(_ store: SQLStore, by user: String) throws -> Bool {
            var write = TableWrite(.delete, table: "note", id: id(1), serverProtocol: .zumo2)
            write.caller = SynclineTables.Caller(subject: user, roles: user == "ann" ? ["admin"] : [])
            return try store.write([[write]], stopsAtRefusal: true)[0][0].isRefused == false
        }
        let old = try start(write: "owner eq auth.sub")
        try insert(old, "note", id(1), ["owner": "ann"])
        let mark = try old.mark()
        let new = try start(write: "role:admin")
        #expect(try new.mark().epoch == mark.epoch && changes(new, since: mark.change) == [])
        #expect(try changes(new) == ["1+"])
        #expect(throws: StoreFailure.self) { try changes(old) }
        #expect((try? delete(old, by: "ann")) != true)
        let number = try new.mark().change
        #expect(try start(write: "role:admin").mark().change == number)
        #expect(try delete(new, by: "ann"))
        withExtendedLifetime(keeper) {}
    }

    @Test(arguments: TestBackend.available)
    func `a first rule of a table with rows, and the end of the last, begin a new epoch`(_ backend: TestBackend) throws
    {
        let (database, keeper) = try backend.database()
        let open = try SQLStore(database, try definitions(nil), environment)
        try insert(open, "note", id(1), ["owner": "ann"])
        let epoch = try open.mark().epoch
        let ruled = try SQLStore(database, try definitions("owner eq auth.sub"), environment)
        let next = try ruled.mark().epoch
        #expect(next != epoch && ruled.epoch == next)
        #expect(try changes(ruled) == ["1+"])
        let ended = try SQLStore(database, try definitions(nil), environment)
        #expect(try ended.mark().epoch != next)
        withExtendedLifetime(keeper) {}
    }

    @Test(arguments: TestBackend.available, [false, true])
    func `a server without the rules in force serves no table that has a part in them`(
        _ backend: TestBackend, _ hasRows: Bool
    ) throws {
        let (database, keeper) = try backend.database()
        let old = try SQLStore(database, try definitions(nil), environment)
        try insert(old, "share", "s", ["user": "ann", "list": "l"])
        if hasRows { try insert(old, "note", id(1), ["list": "l"]) }
        let new = try SQLStore(
            database, try definitions("list in share(list where user eq auth.sub)", write: "list eq auth.sub"),
            environment)
        if !hasRows { try insert(new, "note", id(1), ["list": "l"], by: "l") }
        // It would show hidden rows, even if it only counts them, and keep no rights up to date.
        for table in ["note", "share"] {
            var plan = ListPlan(table: table, limit: 1)
            (plan.skip, plan.counts) = (5, true)
            #expect(throws: StoreFailure.self) { try old.list(plan).count }
            let row = table == "note" ? id(1) : "s"
            #expect(throws: StoreFailure.self) { try old.row(table, id: row) }
            let write = TableWrite(.delete, table: table, id: row, serverProtocol: .zumo2)
            let late = try? old.write([[write]], stopsAtRefusal: true)
            #expect(late?[0][0].isRefused ?? true)
        }
        #expect(throws: StoreFailure.self) { try changes(old) }
        #expect(try changes(new) == ["1+"])
        withExtendedLifetime(keeper) {}
    }

    @Test(arguments: TestBackend.available)
    func `rules that ended cost no statements, and are forgotten`(_ backend: TestBackend) throws {
        let (inner, keeper) = try backend.database()
        let database = CountingDatabase(inner: inner)
        func start(_ rules: String...) throws -> SQLStore {
            for rule in rules.dropLast() { _ = try SQLStore(database, try definitions(rule), environment) }
            let store = try SQLStore(database, try definitions(rules.last), environment)
            _ = try store.mark()
            return store
        }
        /// Of a caller who begins, and of one who continues.
        func costs(_ store: SQLStore) throws -> [Int] {
            try [0, store.mark().change].map { since in
                let before = database.counts.trips.load(ordering: .relaxed)
                let told = try changes(store, since: since)
                #expect(told == (since == 0 ? ["1+"] : []))
                return database.counts.trips.load(ordering: .relaxed) - before
            }
        }
        let (byList, byOwner) = ("list in share(list where user eq auth.sub)", "owner eq auth.sub")
        let first = try start(byList)
        try insert(first, "share", "s", ["user": "ann", "list": "l"])
        try insert(first, "note", id(1), ["owner": "ann", "list": "l"])
        let few = try costs(start(byOwner, byList, byOwner, byList))
        for _ in 0..<20 { _ = try start(byOwner, byList) }
        let store = try start(byList)
        let many = try costs(store)
        #expect(many == few)
        #expect(store.currentCatalogue.rights["note"]?.terms.count == 45)
        let end = try store.mark().change
        try store.purge(tombstonesBefore: environment.now() + 10_000)
        let last = try start(byList)
        #expect(last.currentCatalogue.rights["note"]?.terms.count == 1)
        // The last rule began where the one before it ended.
        #expect(try last.mark().purged == end)
        let rest = try costs(last)
        #expect(zip(rest, few).allSatisfy(<=), "\(rest) \(few)")
        withExtendedLifetime(keeper) {}
    }

    @Test(arguments: TestBackend.available)
    func `who comes late hears of rows that left since the rule ended`(_ backend: TestBackend) throws {
        let (database, keeper) = try backend.database()
        let old = try SQLStore(database, try definitions("owner eq auth.sub"), environment)
        for number in 1...3 { try insert(old, "note", id(number), ["owner": "ann", "list": "l"]) }
        let mark = try old.mark()
        let new = try SQLStore(
            database, try definitions("list in share(list where user eq auth.sub)", write: "list eq auth.sub"),
            environment)
        // The rows go where they would not be noticed by the old rule.
        var writes = [TableWrite(.delete, table: "note", id: id(1), serverProtocol: .zumo2)]
        writes.append(
            TableWrite(
                .update(Row([.init("owner", .string("bob"))])), table: "note", id: id(2), serverProtocol: .zumo2))
        for place in writes.indices { writes[place].caller = SynclineTables.Caller(subject: "l") }
        let share = ["user": "l", "list": "l"]
        try insert(new, "share", "s", share)
        let outcomes = try new.write([writes], stopsAtRefusal: true)[0]
        #expect(outcomes.allSatisfy { !$0.isRefused })
        #expect(try changes(new, since: mark.change) == ["1-", "2-", "3-"])
        withExtendedLifetime(keeper) {}
    }

    @Test(arguments: TestBackend.available)
    func `what ended long ago is forgotten, and cursors before it are refused`(_ backend: TestBackend) throws {
        let (database, keeper) = try backend.database()
        let store = try SQLStore(
            database, try definitions("list in share(list where user eq auth.sub)"), environment)
        try insert(store, "share", "s", ["user": "ann", "list": "l"])
        var write = TableWrite(
            .insert(Row([.init("list", .string("l"))])), table: "note", id: id(1), serverProtocol: .zumo2)
        write.caller = SynclineTables.Caller(subject: "ann")
        // The owner's rule to write refuses it.
        #expect(try store.write([[write]], stopsAtRefusal: true)[0][0].isRefused)
        try insert(store, "note", id(2), ["owner": "ann", "list": "l"])
        let before = try store.mark().change
        let end = TableWrite(.delete, table: "share", id: "s", serverProtocol: .zumo2)
        #expect(try store.write([[end]], stopsAtRefusal: true)[0][0].isRefused == false)
        #expect(try changes(store, since: before) == ["2-"])
        try store.purge(tombstonesBefore: environment.now() + 10_000)
        #expect(try store.mark().purged > before)
        #expect(try changes(store, since: before) == [])
        withExtendedLifetime(keeper) {}
    }
}
