// Numbers from a sequence with ticks: readers stop before a change that a running transaction may still make, and get every
// change once.

import Foundation
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

/// The cluster is their own: they hold transactions open, for which readers in other databases would wait.
@Suite(.serialized) struct TickTests {
    private static let cluster = TestBackend.available.contains(.postgres) ? PrivatePostgres(syncs: false) : nil

    /// A store of one process, over a database that others use, too.
    private static func open(
        _ url: String, _ numbers: NumberSource? = .ticks, renews: Bool = false
    ) throws -> (SQLStore, TableAnswers) {
        let settings = try configuration(
            #"{"tables":{"t":{"columns":{"text":"string"}},"h":{"softDelete":false,"columns":{"text":"string"}}}}"#)
        let environment = SystemServerEnvironment()
        let store = try SQLStore(
            try PostgresDatabase(url: url, connections: 4, limits: .patient), settings.tables, environment,
            renewsEpoch: renews,
            numbers: numbers)
        return (store, TableAnswers(settings, store, environment))
    }

    private static func newDatabase() throws -> (cluster: PrivatePostgres, url: String)? {
        guard let cluster else { return nil }
        return (cluster, cluster.url(try cluster.newDatabase()))
    }

    private static func write(
        _ store: SQLStore, _ kind: TableWrite.Kind, _ id: String, operation: String? = nil, table: String = "t"
    ) throws -> WriteOutcome {
        var write = TableWrite(kind, table: table, id: id, serverProtocol: .zumo2)
        write.operation = operation.map { OperationKey(id: $0, caller: "") }
        return try store.write([[write]], stopsAtRefusal: false)[0][0]
    }

    private static func text(_ text: String) -> Row { Row([.init("text", .string(text))]) }

    private static func ids(_ service: TableAnswers, _ target: String) throws -> [String] {
        let request = try #require(HTTPRequest("GET", target: target))
        return service.answer(request, url: "").ids
    }

    /// Another program's insert.
    private static func insertion(_ id: String, into table: String = "t") -> String {
        """
        INSERT INTO "\(table)" ("id", "text", "version", "createdAt", "updatedAt", "deleted") \
        SELECT '\(id)', 'x', "change", to_timestamp("time" / 1000.0), to_timestamp("time" / 1000.0), false \
        FROM syncline_take('\(table)')
        """
    }

    @Test(arguments: ["COMMIT", "ROLLBACK"])
    func `readers stop before a transaction that runs, and get its changes in order`(_ end: String) throws {
        guard let (cluster, url) = try Self.newDatabase() else { return }
        let (store, service) = try Self.open(url)
        let other = try PostgresConnection(url: url)
        _ = try Self.write(store, .insert(Self.text("1")), "a")
        #expect(try Self.ids(service, "/tables/t/changes?since=") == ["a"])
        try other.execute("BEGIN; \(Self.insertion("a-slow"))")
        _ = try Self.write(store, .insert(Self.text("2")), "b")
        for _ in 0..<3 {
            #expect(try Self.ids(service, "/tables/t/changes?since=") == ["a"])
            #expect(try Self.ids(service, "/tables/t?$orderby=updatedAt") == ["a"])
            #expect(
                try Self.ids(service, "/tables/t?$filter=updatedAt%20gt%20datetimeoffset'2000-01-01T00:00:00Z'") == [
                    "a"
                ])
        }
        #expect(try Self.ids(service, "/tables/t") == ["a", "b"], "lists that do not use times show what is committed")
        #expect(try store.row("t", id: "b") != nil)
        let held = try other.first(NumberSource.holder, count: 1)?[0].text
        #expect(held?.hasPrefix("process ") == true, "\(held ?? "nothing")")
        try other.execute(end)
        let all = end == "COMMIT" ? ["a", "a-slow", "b"] : ["a", "b"]
        #expect(try Self.ids(service, "/tables/t/changes?since=") == all)
        #expect(try Self.ids(service, "/tables/t?$orderby=updatedAt") == all)
        withExtendedLifetime(cluster) {}
    }

    @Test func `a row's numbers only grow, and a repeated operation is carried out once`() throws {
        guard let (cluster, url) = try Self.newDatabase() else { return }
        let stores = [try Self.open(url).0, try Self.open(url).0]
        _ = try Self.write(stores[0], .insert(Self.text("0")), "a")
        let outcomes = Mutex<[WriteOutcome]>([])
        let count = 24
        DispatchQueue.concurrentPerform(iterations: 2) { process in
            for number in 0..<count {
                // Both processes get each operation.
                let outcome = try? Self.write(
                    stores[process], .update(Self.text("\(number)")), "a", operation: "o\(number)")
                let other = try? Self.write(
                    stores[process], .insert(Self.text("\(number)")), "n\(number)", operation: "i\(number)", table: "h")
                outcomes.withLock { $0 += [outcome, other].compactMap { $0 } }
            }
        }
        let all = outcomes.withLock { $0 }
        #expect(all.count == 4 * count && all.allSatisfy { !$0.isRefused }, "\(all.filter(\.isRefused))")
        let versions = Set(all.compactMap { $0.row?.version })
        #expect(versions.count == 2 * count, "each operation has one answer")
        #expect(
            try stores[0].row("t", id: "a")?.version
                == all.compactMap(\.row).filter { $0.id == "a" }
                .max { (RowVersion.change($0.version) ?? 0) < (RowVersion.change($1.version) ?? 0) }?.version)
        withExtendedLifetime(cluster) {}
    }

    @Test func `old ticks are few, and the latest change is seen`() throws {
        guard let (cluster, url) = try Self.newDatabase() else { return }
        let store = try Self.open(url).0
        let connection = try PostgresConnection(url: url)
        func number(_ sql: SQLStatement) throws -> Int64 {
            try #require(try connection.first(sql, count: 1))[0].integer
        }
        let start = try number(#"SELECT last_value + 1000 FROM "syncline_floor""#)
        func change(_ step: Int) throws -> Int64 {
            let time = start + Int64(step) * 10
            let change = try number(#"SELECT "changes"[1] FROM syncline_stamp(1, \#(.integer(time)))"#)
            try connection.execute(NumberSource.tick(clock: time))
            return change
        }
        for step in 0..<1200 {
            let change = try change(step)
            #expect(try connection.state(.ticks, .postgres).change == change)
        }
        // Twelve seconds: up to two of them whole, and five a second of the others.
        let count = try number(#"SELECT count(*) FROM "syncline_ticks""#)
        #expect(150...260 ~= count, "\(count)")
        // While a transaction holds them back, there is one a second.
        let slow = try PostgresConnection(url: url)
        try slow.execute("BEGIN; SELECT pg_current_xact_id()")
        for step in 1200..<1800 { _ = try change(step) }
        let held = try number(
            #"SELECT count(*) FROM "syncline_ticks" WHERE "fence" > pg_snapshot_xmin(pg_current_snapshot())"#)
        #expect(100...106 ~= held, "one second in full, then one a second: \(held)")
        try slow.execute("COMMIT")
        let last = try change(1800)
        #expect(try connection.state(.ticks, .postgres).change == last)
        store.close()
        withExtendedLifetime(cluster) {}
    }

    @Test func `a commit of one process wakes the listeners of another`() throws {
        guard let (cluster, url) = try Self.newDatabase() else { return }
        let (store, other) = (try Self.open(url).0, try Self.open(url).0)
        let woken = DispatchSemaphore(value: 0)
        store.listen { woken.signal() }
        // It is called once when it begins to listen.
        #expect(woken.wait(timeout: .now() + .seconds(60)) == .success)
        _ = try Self.write(other, .insert(Self.text("1")), "a")
        #expect(woken.wait(timeout: .now() + .seconds(60)) == .success)
        #expect(try store.mark().change == other.mark().change)
        store.close()
        withExtendedLifetime(cluster) {}
    }

    @Test func `listeners hear of a change that was held back as soon as it is not, in each process`() throws {
        guard let (cluster, url) = try Self.newDatabase() else { return }
        let (store, other) = (try Self.open(url).0, try Self.open(url).0)
        _ = try Self.write(store, .insert(Self.text("0")), "a")
        let mark = try other.mark()
        let slow = try PostgresConnection(url: url)
        try slow.execute("BEGIN; \(Self.insertion("slow", into: "h"))")
        _ = try Self.write(store, .insert(Self.text("1")), "b")
        let woken = DispatchSemaphore(value: 0)
        other.listen { woken.signal() }
        #expect(woken.wait(timeout: .now() + .seconds(60)) == .success)
        #expect(try other.news(since: mark, isWhole: false).tables == [], "it may be told later")
        try slow.execute("COMMIT")
        while try other.news(since: mark, isWhole: false).tables == [] {
            try #require(woken.wait(timeout: .now() + .seconds(60)) == .success)
        }
        #expect(try other.news(since: mark, isWhole: true).tables == ["h", "t"])
        #expect(try store.news(since: other.mark(), isWhole: true).tables == [])
        #expect(try store.news(since: nil, isWhole: true).tables == nil)
        other.close()
        withExtendedLifetime(cluster) {}
    }

    @Test func `the source of numbers changes only with a new epoch`() throws {
        guard let (cluster, url) = try Self.newDatabase() else { return }
        var (store, service) = try Self.open(url, .line)
        _ = try Self.write(store, .insert(Self.text("1")), "a")
        #expect(throws: StoreFailure.self) { try Self.open(url, .ticks) }
        #expect(try Self.open(url, nil).0.numbers == .line)
        var epoch = store.epoch
        for (number, source) in [NumberSource.ticks, .line, .ticks].enumerated() {
            store.close()
            (store, service) = try Self.open(url, source, renews: true)
            #expect(store.epoch != epoch && store.numbers == source)
            epoch = store.epoch
            let row = try Self.write(store, .update(Self.text("\(number)")), "a").row
            #expect(try store.mark().change == RowVersion.change(row?.version ?? ""))
            #expect(try Self.ids(service, "/tables/t/changes?since=") == ["a"])
        }
        // A program that takes numbers from the row, as it did before, is refused.
        #expect(throws: StoreFailure.self) {
            try store.database.carryOut([#"UPDATE "syncline_state" SET "change" = "change" + 1"#])
        }
        #expect(throws: StoreFailure.self) {
            try SQLStore(try TestBackend.sqlite.database().0, [], SystemServerEnvironment(), numbers: .ticks)
        }
        withExtendedLifetime(cluster) {}
    }

    @Test func `marks of other programs are collected`() throws {
        guard let (cluster, url) = try Self.newDatabase() else { return }
        let (store, _) = try Self.open(url)
        func count(_ slots: String = "< 0") throws -> Int64 {
            let count = SQLStatement(
                prepared: #"SELECT count(*) FROM "syncline_digests" WHERE "slot" \#(slots)"#, values: [])
            return try store.database.read { connection throws(StoreFailure) in
                try connection.first(count, count: 1)?[0].integer ?? -1
            }
        }
        try store.database.carryOut([Self.insertion("early")])
        #expect(try count() == 0, "the table's writes are not counted yet")
        #expect(try store.sweep().isEmpty)
        try store.database.carryOut([Self.insertion("a"), Self.insertion("b")])
        #expect(try count() == 2)
        try store.purge(tombstonesBefore: nil)
        #expect(try count() == 0 && store.sweep().isEmpty && store.sweep().isEmpty)
        // What the server itself wrote is counted apart for a while.
        let own = TableWrite(.insert(Row([.init("text", .string("x"))])), table: "t", id: "own", serverProtocol: .zumo2)
        _ = try store.write([[own]], stopsAtRefusal: true)
        #expect(try count("> 0") > 0 && store.sweep().isEmpty)
        let environment = StillEnvironment()
        environment.set(now: 1 << 42)
        let later = try SQLStore(
            try PostgresDatabase(url: url, connections: 2, limits: .patient), store.definitions, environment)
        try later.purge(tombstonesBefore: nil)
        #expect(try count("> 0") == 0 && store.sweep().isEmpty)
        _ = try store.write([[own]], stopsAtRefusal: true)
        #expect(try store.sweep().isEmpty)
        try store.database.carryOut([#"UPDATE "t" SET "text" = 'y' WHERE "id" = 'a'"#])
        #expect(try store.sweep().count == 1, "a change without a number is found")
        withExtendedLifetime(cluster) {}
    }

    @Test func `any number of writers in any number of processes, and a reader misses nothing`() throws {
        guard let (cluster, url) = try Self.newDatabase() else { return }
        let seed = Seeds.one()
        let stores = [try Self.open(url).0, try Self.open(url).0]
        let isOver = Atomic(false)
        let written = Atomic(0)
        // What the reader knows: each row's number and text.
        var (known, doubled, since) = ([String: Int64](), 0, Int64(0))
        func readOn() throws {
            let outcome = try stores[0].changes(ChangePlan(table: "t", since: since, limit: 40))
            for change in outcome.changes {
                if known[change.row.id] == change.number || change.number <= since { doubled += 1 }
                known[change.row.id] = change.number
            }
            since = outcome.changes.last?.number ?? since
            if !outcome.hasMore { since = max(since, outcome.mark.change) }
        }
        let writers = DispatchGroup()
        for writer in 0..<4 {
            DispatchQueue(label: "writer \(writer)").async(group: writers) {
                var chance = Chance(seed: seed &* 100 &+ UInt64(writer))
                let other = try? PostgresConnection(url: url)
                for number in 0..<40 {
                    let id = "\(writer)-\(chance.below(12))"
                    if writer < 2 {
                        let outcome = try? Self.write(stores[writer], .insert(Self.text("\(number)")), id)
                        if outcome?.isRefused != false {
                            let either = "\(chance.below(2))-\(number % 12)"
                            _ = try? Self.write(stores[writer], .update(Self.text("\(number)")), either)
                        }
                    } else {
                        try? other?.execute("BEGIN; SAVEPOINT s; \(Self.insertion("\(id)-\(number)")); SAVEPOINT u")
                        try? other?.execute(Self.insertion("\(id)-\(number)-undone"))
                        try? other?.execute("ROLLBACK TO SAVEPOINT \(chance.once(in: 4) ? "s" : "u")")
                        try? other?.execute(chance.once(in: 4) ? "ROLLBACK" : "COMMIT")
                    }
                    written.add(1, ordering: .relaxed)
                }
            }
        }
        writers.notify(queue: .global()) { isOver.store(true, ordering: .releasing) }
        while !isOver.load(ordering: .acquiring) { try readOn() }
        repeat { try readOn() } while try stores[0].mark().change > since
        let rows = try stores[1].list(ListPlan(table: "t", limit: 10000)).rows
        #expect(doubled == 0 && written.load(ordering: .relaxed) == 160 && rows.count > 60)
        let there = Dictionary(uniqueKeysWithValues: rows.map { ($0.id, RowVersion.change($0.version) ?? 0) })
        #expect(known == there, "seed \(seed)")
        withExtendedLifetime(cluster) {}
    }
}
