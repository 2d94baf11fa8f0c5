// Reads from streaming replicas: which of them is asked, and a real standby that stands still, follows, and takes over.

import Foundation
import Syncline
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

@Suite struct ReplicaChoiceTests {
    private let start = ContinuousClock.Instant.present

    private func asked(_ choice: inout ReplicaChoice, _ change: Int64, _ now: ContinuousClock.Instant) -> [Int] {
        choice.candidates(for: change, now: now)
    }

    @Test func `replicas take turns, and one that lacks a change is asked again after a pause`() {
        var choice = ReplicaChoice(count: 3)
        #expect(asked(&choice, 5, start) == [1, 2, 0])
        #expect(asked(&choice, 5, start) == [2, 0, 1])
        choice.note(1, .late, has: 4, now: start)
        #expect(asked(&choice, 5, start) == [0, 2])
        #expect(asked(&choice, 4, start) == [1, 2, 0])
        #expect(asked(&choice, 5, start + ReplicaChoice.pause) == [2, 0, 1])
    }

    @Test func `a replica that failed is left alone for a while`() {
        var choice = ReplicaChoice(count: 1)
        choice.noteSilence(0, now: start)
        #expect(asked(&choice, 0, start + ReplicaChoice.silence - .nanoseconds(1)) == [])
        #expect(asked(&choice, 0, start + ReplicaChoice.silence) == [0])
    }

    @Test func `a replica must have what the primary had a while ago`() {
        var choice = ReplicaChoice(count: 1)
        choice.notePrimary(5, "one", now: start)
        #expect(choice.needed(3) == 5, "nothing is known of the time before")
        choice.notePrimary(7, "one", now: start)
        #expect(choice.needed(3) == 5)
        choice.notePrimary(9, "one", now: start + ReplicaChoice.delay)
        #expect(choice.needed(3) == 7 && choice.needed(8) == 8)
        _ = choice.candidates(for: 3, now: start + ReplicaChoice.delay * 2)
        #expect(choice.needed(3) == 9)
        choice.notePrimary(11, "one", now: start + ReplicaChoice.delay * 10)
        #expect(choice.needed(3) == 11, "after a pause")
        choice.notePrimary(2, "another", now: start + ReplicaChoice.delay * 10)
        #expect(choice.needed(1) == 1, "a replica must have the epoch in any case")
    }

    @Test func `the primary is looked at by one of the readers, once in a while`() {
        var choice = ReplicaChoice(count: 1)
        let pause = ReplicaChoice.delay + .seconds(1)
        let looks = [.zero, .zero, ReplicaChoice.look, ReplicaChoice.look + pause].map { choice.look(now: start + $0) }
        #expect(looks == [.now, .none, .soon, .now])
    }

    @Test func `replicas are those of a PostgreSQL, and are named in the configuration without passwords`() throws {
        let url = "postgres://u:secret@b/t"
        let settings = try configuration(#"{"store":"postgres://a/t","replicas":["\#(url)"]}"#)
        #expect(settings.replicas == [url])
        #expect(settings.value.json.contains(#""replicas":["postgres://u:(hidden)@b/t"]"#))
        #expect(settings.readWorkers == 6)
        let tenants = try configuration(
            #"{"tenants":{"by":"path","claim":false,"stores":{"x":{"store":"postgres://a/x","replicas":["\#(url)"]}}}}"#
        )
        #expect(tenants.settings(ofTenant: "x")?.replicas == [url])
        #expect(!tenants.value.json.contains("secret") && tenants.value.json.contains("replicas"))
        for wrong in [
            #"{"replicas":["\#(url)"]}"#, #"{"store":"postgres://a/t","replicas":["sqlite:x.db"]}"#,
            #"{"store":"\#(url)","replicas":["\#(url)"]}"#, #"{"store":"postgres://a/t","replicas":"\#(url)"}"#,
            #"{"tenants":{"by":"path","stores":{"x":{"replicas":["\#(url)"]}}}}"#,
            #"{"replicas":["\#(url)"],"tenants":{"by":"path","stores":{"x":"postgres://a/x"}}}"#,
        ] {
            #expect(throws: StartFailure.self) { try configuration(wrong) }
        }
    }
}

/// A primary, and a replica that follows it or stands still.
private final class ReplicaDesk {
    let cluster: ReplicatedPostgres
    let store: SQLStore
    let service: TableAnswers
    let standby: any SQLDatabase

    /// - Parameter role: Who reads the replica.
    init(
        _ tables: String = #"{"t":{"columns":{"text":"string"}}}"#, more: String = "", role: String = "tester"
    ) throws {
        cluster = try ReplicatedPostgres()
        let settings = try configuration(#"{"tables":\#(tables)\#(more)}"#)
        let environment = PatientEnvironment()
        _ = try SQLStore(cluster.database, settings.tables, environment)
        if role != "tester" { try cluster.database.carryOut(["CREATE ROLE \(role) LOGIN"]) }
        try cluster.copy()
        let standby = try cluster.standbyDatabase(role)
        self.standby = standby
        let replica = Replica(1, note: { _ in }, open: { standby })
        store = try SQLStore(cluster.database, settings.tables, environment, replicas: [replica])
        service = TableAnswers(settings, store, environment)
    }

    /// The number of reads that the replica answered, or that it lacked something for.
    var answered: Int { store.replicas.count(.answered, of: 0) }
    var late: Int { store.replicas.count(.late, of: 0) }

    func follow(_ flag: Bool) throws {
        try standby.read { connection throws(StoreFailure) in
            try connection.run("SELECT \(flag ? "pg_wal_replay_resume" : "pg_wal_replay_pause")()")
            var isPaused: Bool?
            while isPaused != !flag {
                let state = try connection.first("SELECT pg_get_wal_replay_pause_state()", count: 1)
                isPaused = state?[0].text == "paused"
            }
        }
    }

    func ask(
        _ method: String, _ target: String, _ body: String = "", mark: String? = nil
    ) throws -> HTTPResponse {
        var request = try #require(HTTPRequest(method, target: target))
        request.body = Array(body.utf8)
        if let mark { request.headers.append(HTTPHeader(WireHeader.mark, mark)) }
        return service.answer(request, url: "")
    }

    /// Waits until the replica has answered once with everything that was written.
    func catchUp() throws {
        var plan = ChangePlan(table: "t", since: 0, limit: 1)
        plan.seen = try store.mark().change
        let before = answered
        while answered == before { _ = try store.changes(plan) }
    }
}

@Suite(.enabled(if: PrivatePostgres.shared != nil, "PostgreSQL is not installed here, or can't be run"))
struct ReplicaTests {
    @Test func `a replica answers readers who have seen no more than it has, and the primary the others`() throws {
        let desk = try ReplicaDesk()
        #expect(try desk.ask("POST", "/tables/t", #"{"id":"a"}"#).status == 201)
        try desk.catchUp()
        let first = try desk.ask("GET", "/tables/t/changes?since=")
        let before = try #require(first.headers.value(WireHeader.mark))
        try desk.follow(false)
        let written = try desk.ask("POST", "/tables/t", #"{"id":"b"}"#)
        let mark = try #require(written.headers.value(WireHeader.mark))
        // One who has seen no more is told what the replica has, and one who does not say what the primary has.
        let (answered, late) = (desk.answered, desk.late)
        #expect(try desk.ask("GET", "/tables/t/changes?since=", mark: before).ids == ["a"])
        #expect(try desk.ask("GET", "/tables/t/changes?since=\(first.cursor)", mark: before).ids == [])
        #expect(desk.answered == answered + 2)
        #expect(try desk.ask("GET", "/tables/t/changes?since=").ids == ["a", "b"])
        // A writer sees the own write; another order, and a row, are always the primary's.
        let own = try desk.ask("GET", "/tables/t/changes?since=\(first.cursor)", mark: mark)
        #expect(own.ids == ["b"] && desk.answered == answered + 2 && desk.late <= late + 1)
        #expect(try desk.ask("GET", "/tables/t?$orderby=id").ids == ["a", "b"])
        #expect(try desk.ask("GET", "/tables/t/b").status == 200)
        // A reader does not go back in time, and neither does one who reads several tables as of one moment.
        #expect(try desk.ask("GET", "/tables/t/changes?since=\(own.cursor)", mark: before).ids == [])
        #expect(try desk.ask("GET", "/tables/t/changes?since=&until=\(own.cursor)", mark: before).ids == ["a", "b"])
        #expect(try desk.ask("GET", "/tables/t/changes?since=", mark: "nonsense").ids == ["a", "b"])
        #expect(try desk.ask("GET", "/tables/t/changes?since=other.1").status == 410)
        // Another replica may be ahead of a primary that waits for a third one.
        let seen = try #require(ChangeCursor(own.cursor))
        let ahead = ChangeCursor(epoch: seen.epoch, change: seen.change + 1).text
        #expect(try desk.ask("GET", "/tables/t/changes?since=\(ahead)", mark: before).status == 503)
        #expect(desk.answered == answered + 2)
        try desk.follow(true)
        try desk.catchUp()
        #expect(try desk.ask("GET", "/tables/t/changes?since=", mark: mark).ids == ["a", "b"])
    }

    @Test func `a role without rights on a replica is not the reader's fault`() throws {
        let desk = try ReplicaDesk(role: "stranger")
        let written = try desk.ask("POST", "/tables/t", #"{"id":"a"}"#)
        let mark = try #require(written.headers.value(WireHeader.mark))
        while desk.store.replicas.count(.failed, of: 0) == 0 {
            #expect(try desk.ask("GET", "/tables/t/changes?since=", mark: mark).ids == ["a"])
        }
        #expect(desk.answered == 0)
    }

    @Test func `a replica with other columns is not read`() throws {
        let desk = try ReplicaDesk()
        #expect(try desk.ask("POST", "/tables/t", #"{"id":"a"}"#).status == 201)
        try desk.catchUp()
        try desk.follow(false)
        let answered = desk.answered
        let before = try #require(try desk.ask("GET", "/tables/t/a").headers.value(WireHeader.mark))
        #expect(try desk.ask("POST", "/tables/t", #"{"id":"b","more":1}"#).status == 201)
        #expect(try desk.ask("GET", "/tables/t/changes?since=", mark: before).ids == ["a", "b"])
        #expect(desk.answered == answered)
        try desk.follow(true)
        try desk.catchUp()
    }

    @Test func `a replica that has not received a new rule is not read`() throws {
        func tables(_ rule: String) -> String {
            #"{"t":{"columns":{"text":"string","other":"string"},"read":"\#(rule)"}}"#
        }
        let login = #","auth":{"key":"\#(testSecret)"}"#
        let desk = try ReplicaDesk(tables("text eq auth.sub"), more: login)
        try desk.catchUp()
        try desk.follow(false)
        let settings = try configuration(#"{"tables":\#(tables("text eq auth.sub or other eq auth.sub"))\#(login)}"#)
        let standby = desk.standby
        let store = try SQLStore(
            desk.cluster.database, settings.tables, PatientEnvironment(),
            replicas: [Replica(1, note: { _ in }, open: { standby })])
        var plan = ChangePlan(table: "t", since: 0, limit: 1, subject: "u")
        plan.seen = 0
        while store.replicas.count(.late, of: 0) == 0, store.replicas.count(.answered, of: 0) == 0 {
            _ = try store.changes(plan)
        }
        #expect(store.replicas.count(.answered, of: 0) == 0)
        try desk.follow(true)
    }

    @Test func `without the primary, a replica answers what it has, and the rest is asked for again later`() throws {
        let desk = try ReplicaDesk()
        #expect(try desk.ask("POST", "/tables/t", #"{"id":"a"}"#).status == 201)
        try desk.catchUp()
        let mark = try desk.store.mark()
        try desk.cluster.stopPrimary()
        let read = try desk.ask(
            "GET", "/tables/t/changes?since=", mark: ChangeCursor(epoch: mark.epoch, change: mark.change).text)
        #expect(read.status == 200 && read.ids == ["a"])
        #expect(try desk.ask("GET", "/healthz").status == 200)
        #expect(try desk.ask("GET", "/readyz").status == 503)
        let ahead = ChangeCursor(epoch: mark.epoch, change: mark.change + 1).text
        for target in ["/tables/t/changes?since=\(ahead)", "/tables/t/a", "/tables/t"] {
            let refused = try desk.ask("GET", target)
            #expect(refused.status == 503 && refused.headers.value("Retry-After") != nil, "\(target)")
        }
        try desk.cluster.promote()
        while try desk.ask("POST", "/tables/t", #"{"id":"b"}"#).status != 201 {}
        let answered = desk.answered
        #expect(try desk.ask("GET", "/tables/t/changes?since=").ids == ["a", "b"])
        #expect(desk.answered == answered)
    }

    @Test func `pages of a table with rules are the same from a replica as from the primary`() throws {
        let admin = ["insert", "update", "delete", "undelete"].map { "\"\($0)\":\"role:admin\"" }
        let desk = try ReplicaDesk(
            #"""
            {"t":{"columns":{"list":"string","admin":"string"},
              "read":"list in share(list where user eq auth.sub) or admin eq auth.sub"},
            "share":{"columns":{"user":"string","list":"string"},\#(admin.joined(separator: ","))}}
            """#, more: #","auth":{"key":"\#(testSecret)"}"#)
        var chance = Chance(seed: 1)
        func write(_ table: String, _ number: Int, _ members: [Value.Member]) throws {
            let id = "00000000-0000-4000-8000-0000000000\(10 + number)"
            let kind: TableWrite.Kind =
                try desk.store.row(table, id: id) == nil ? .insert(Row(members)) : .update(Row(members))
            var write = TableWrite(kind, table: table, id: id, serverProtocol: .zumo2)
            write.caller = SynclineTables.Caller(subject: "root", roles: ["admin"])
            let outcome = try desk.store.write([[write]], stopsAtRefusal: true, wantsRows: false)[0][0]
            #expect(!outcome.isRefused)
        }
        for number in 0..<60 {
            let list = Value.Member("list", .string("l\(chance.below(3))"))
            if chance.once(in: 3) {
                try write("share", chance.below(4), [.init("user", .string(chance.pick(["anna", "bob"]))), list])
            } else {
                try write("t", chance.below(12), [list, .init("admin", .string("root"))])
            }
            guard number % 10 == 9 else { continue }
            try desk.catchUp()
            let mark = try desk.store.mark()
            for (user, since) in [("anna", 0), ("bob", 0), ("anna", mark.change - 12), ("bob", mark.change - 12)] {
                var plan = ChangePlan(table: "t", since: max(0, since), limit: 100, subject: user)
                let primary = try desk.store.changes(plan)
                plan.seen = mark.change
                let answered = desk.answered
                #expect(try desk.store.changes(plan) == primary && desk.answered == answered + 1)
            }
        }
    }

    @Test func `a client does not get an older state of what it has pushed, or of a conflict's row`() async throws {
        let desk = try ReplicaDesk()
        var configuration = SyncConfiguration()
        configuration.transport = DeskLine(desk.service)
        let client = try await SyncDatabase.open(MemoryStorage(granularity: .sector), configuration)
        for id in ["mine", "other"] { try await client.insert(id, "1", into: "t") }
        try await client.pushOnce()
        try desk.catchUp()
        try desk.follow(false)
        try await client.update("mine", "2", in: "t")
        try await client.pushOnce()
        _ = try await client.pullAll("t")
        #expect(try await client.column("text", of: "t") == ["mine": .string("2"), "other": .string("1")])
        try desk.follow(true)
        try desk.catchUp()
        try desk.follow(false)
        // Another process wrote both.
        let process = try SQLStore(desk.cluster.database, desk.store.definitions, PatientEnvironment())
        let writes = ["mine", "other"].map { id in
            TableWrite(
                .update(Row([.init("text", .string("3"))])), table: "t", id: id, serverProtocol: .zumo2)
        }
        _ = try process.write([writes], stopsAtRefusal: true, wantsRows: false)
        for id in ["mine", "other"] { try await client.update(id, "4", in: "t") }
        try await client.pushOnce()
        for conflict in try await client.conflicts() {
            try await client.resolve(table: conflict.table, id: conflict.id, .takeServer)
        }
        _ = try await client.pullAll("t") { $0.queryID = "again" }
        #expect(try await client.column("text", of: "t") == ["mine": .string("3"), "other": .string("3")])
        try await client.close()
        try desk.follow(true)
    }

    @Test func `clients of a replica that stands still at times see their writes, and end with the server's rows`()
        async throws
    {
        let (seed, desk) = (Seeds.one(), try ReplicaDesk())
        var chance = Chance(seed: seed)
        let line = DeskLine(desk.service)
        var (clients, seen): ([SyncDatabase], [[String: Int64]]) = ([], [[:], [:], [:]])
        for _ in 0..<3 {
            var configuration = SyncConfiguration()
            configuration.transport = line
            clients.append(try await SyncDatabase.open(MemoryStorage(granularity: .sector), configuration))
        }
        var follows = true
        for number in 0..<120 {
            let place = chance.below(3)
            let client = clients[place]
            let ids = try await client.column("text", of: "t").keys.sorted()
            switch chance.below(8) {
            case 0...1: try await client.insert("r\(number)", "text \(number)", into: "t")
            case 2 where !ids.isEmpty: try await client.update(chance.pick(ids), "text \(number)", in: "t")
            case 3 where !ids.isEmpty: try await client.rows(of: "t").delete(id: chance.pick(ids))
            case 4...5:
                try await client.pushOnce()
                for conflict in try await client.conflicts() {
                    let decision: ConflictDecision = chance.once(in: 2) ? .takeServer : .keepMine
                    try await client.resolve(table: conflict.table, id: conflict.id, decision)
                }
            case 6:
                follows.toggle()
                try desk.follow(follows)
            default: _ = try await client.pullAll("t")
            }
            for (id, version) in try await client.column("version", of: "t") {
                guard let change = version.string.flatMap(RowVersion.change) else { continue }
                #expect(
                    change >= seen[place][id] ?? 0, "seed \(seed), step \(number): client \(place) goes back in \(id)")
                seen[place][id] = change
            }
        }
        try desk.follow(true)
        try desk.catchUp()
        for round in 0..<3 {
            for client in clients {
                _ = try await client.pullAll("t")
                try await client.pushOnce()
                for conflict in try await client.conflicts() {
                    try await client.resolve(
                        table: conflict.table, id: conflict.id, round < 1 ? .keepMine : .takeServer)
                }
            }
        }
        let answered = desk.answered
        let rows = try desk.store.list(ListPlan(table: "t", limit: 1000)).rows
        let truth = Dictionary(rows.map { ($0.id, Value.string($0.version)) }) { $1 }
        for client in clients {
            _ = try await client.pullAll("t")
            #expect(try await client.column("version", of: "t") == truth, "seed \(seed)")
            try await client.close()
        }
        #expect(answered > 0)
    }
}

extension HTTPResponse {
    fileprivate var cursor: String {
        guard case .object(let members)? = try? Value(json: body), case .string(let text)? = members[member: "cursor"]
        else { return "" }
        return text
    }
}
