// Members write while others take their rights away: each ends with exactly the rows that it may see, those it wrote itself
// among them.

import Dispatch
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct RightsTogetherTests {
    private static let tables = #"""
        {"note":{"columns":{"account":"string","text":"string"},
          "read":"account in account(id where household in member(household where user eq auth.sub))",
          "write":"account in account(id where household in member(household where user eq auth.sub and role eq 'w'))"},
        "member":{"columns":{"user":"string","household":"string","role":"string"},
          "insert":"role:admin","update":"role:admin","delete":"role:admin","undelete":"role:admin"},
        "account":{"columns":{"household":"string"},
          "insert":"role:admin","update":"role:admin","delete":"role:admin","undelete":"role:admin"}}
        """#

    @Test(arguments: TestBackend.stores)
    func `a write that a right permitted comes before the end of the right`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: Self.tables, pageSize: 1000)
        let people = [Person(desk.service, "ann", 1), Person(desk.service, "bob", 2)]
        let admin = Admin(desk.service, ["ann", "bob"])
        admin.begin()
        for person in people { _ = person.read() }
        for round in 0..<20 {
            let group = DispatchGroup()
            // A thread for each.
            for caller in people + [admin] as [Caller] {
                DispatchQueue(label: caller.login).async(group: group) { caller.step() }
            }
            group.wait()
            for person in people {
                while person.read() {}
                let list = try desk.ask(
                    "GET", "/tables/note?$top=1000", nil, ["X-ZUMO-AUTH": token(person.name)])
                #expect(person.failures == [])
                #expect(person.rows.keys.sorted() == list.ids.sorted(), "\(backend): \(person.name), round \(round)")
            }
            admin.giveBack()
        }
        #expect(people.contains { $0.accepted > 0 } && people.contains { $0.refused > 0 })
    }

    @Test(arguments: TestBackend.available)
    func `what members write while another server changes the rules is theirs by the new ones`(
        _ backend: TestBackend
    ) throws {
        let environment = StillEnvironment()
        let (store, keeper) = try backend.store(as: environment)
        let hiding = Self.tables.replacing(" and role eq 'w'", with: "")
            .replacing("user eq auth.sub", with: "user eq auth.sub and role eq 'r'")
        func start(hides: Bool) throws -> ServiceDesk {
            try ServiceDesk(
                TestBackend.open(store), environment, keeper, tables: hides ? hiding : Self.tables, pageSize: 1000)
        }
        var desk = try start(hides: false)
        let people = [Person(desk.service, "ann", 1), Person(desk.service, "bob", 2)]
        let admin = Admin(desk.service, ["ann", "bob"])
        admin.begin()
        for person in people { _ = person.read() }
        for round in 1...8 {
            let group = DispatchGroup()
            for caller in people + [admin] as [Caller] {
                DispatchQueue(label: caller.login).async(group: group) { for _ in 0..<4 { caller.step() } }
            }
            let new = try start(hides: round % 2 == 1)
            group.wait()
            for person in people {
                #expect(person.ask("GET", "/tables/note").code == "table-changed")
                #expect(person.ask("GET", "/tables/note/changes?since=").code == "table-changed")
            }
            desk.store.close()
            desk = new
            for caller in people + [admin] as [Caller] { caller.service = desk.service }
            admin.giveBack()
            for person in people {
                while person.read() {}
                let list = person.ask("GET", "/tables/note?$top=1000")
                #expect(person.failures == [])
                #expect(person.rows.keys.sorted() == list.ids.sorted(), "\(person.name), round \(round)")
                // By one of the two, members see all rows; by the other, none.
                #expect(round % 2 == 0 ? person.written.isSubset(of: list.ids) : list.ids == [], "round \(round)")
            }
        }
        #expect(people.contains { $0.accepted > 0 } && people.contains { $0.refused > 0 })
    }
}

/// What one thread does.
private class Caller: @unchecked Sendable {
    // Unchecked: one thread at a time uses it.
    var service: TableAnswers
    let login: String
    var chance: Chance
    var failures: [String] = []

    init(_ service: TableAnswers, _ login: String, seed: UInt64) {
        (self.service, self.login, chance) = (service, login, Chance(seed: seed))
    }

    func step() {}

    func ask(_ method: String, _ target: String, _ body: String? = nil) -> HTTPResponse {
        guard var request = HTTPRequest(method, target: target) else { preconditionFailure("a target is wrong") }
        request.headers = [HTTPHeader("X-ZUMO-AUTH", login), HTTPHeader("Content-Type", "application/json")]
        if let body { request.body = Array(body.utf8) }
        return service.answer(request, url: "http://server")
    }

    func id(_ number: Int) -> String {
        "00000000-0000-7000-8000-\(Hexadecimal.text(chance.next() &+ UInt64(number), digits: 16).suffix(12))"
    }
}

/// A member that writes, and keeps what it wrote and what it is told.
private final class Person: Caller, @unchecked Sendable {
    let name: String
    private(set) var rows: [String: String] = [:]
    /// The ids of all rows that it ever wrote.
    private(set) var written: Set<String> = []
    private(set) var (accepted, refused) = (0, 0)
    private var cursor = ""
    private var count = 0

    init(_ service: TableAnswers, _ name: String, _ seed: UInt64) {
        self.name = name
        super.init(service, token(name), seed: seed)
    }

    override func step() {
        for _ in 0..<2 {
            switch chance.below(5) {
            case 0: writeGroup()
            case 1: changeRow()
            default:
                let id = newID()
                take(ask("POST", "/tables/note", #"{"id":"\#(id)","account":"a","text":"\#(id)"}"#), [id], 201)
            }
        }
    }

    private func newID() -> String {
        count += 1
        return id(count)
    }

    private func changeRow() {
        guard let id = rows.keys.sorted().last else { return }
        take(ask("PATCH", "/tables/note/\(id)", #"{"text":"new"}"#), [id], 200)
    }

    private func writeGroup() {
        let ids = [newID(), newID()]
        let operations = ids.map {
            #"{"operation":"insert","table":"note","group":"g","item":{"id":"\#($0)","account":"a","text":"t"}}"#
        }
        let answer = ask("POST", "/tables/$batch", #"{"operations":[\#(operations.joined(separator: ","))]}"#)
        if answer.text.contains(#""error""#) { refused += 1 } else { take(answer, ids, 200) }
    }

    /// What a client keeps of its own writes.
    private func take(_ answer: HTTPResponse, _ ids: [String], _ status: Int) {
        if answer.status == status {
            accepted += 1
            written.formUnion(ids)
            for id in ids { rows[id] = "own" }
        } else if [403, 404].contains(answer.status) || answer.code == "table-changed" {
            refused += 1
        } else {
            failures.append("\(answer.status) \(answer.text)")
        }
    }

    /// Reads a page of the feed. Returns whether there are more.
    func read() -> Bool {
        let answer = ask("GET", "/tables/note/changes?since=\(cursor.encoded)&$top=20")
        guard answer.status == 200, case .array(let items)? = answer.json["items"] else {
            failures.append("\(answer.status) \(answer.text)")
            return false
        }
        for item in items {
            guard let id = item["id"]?.string else { continue }
            rows[id] = item["deleted"] == .bool(true) || item["left"] != nil ? nil : "told"
        }
        cursor = answer.json["cursor"]?.string ?? ""
        return answer.json["hasMore"] == .bool(true)
    }
}

/// Takes memberships, or moves the account, and gives back what was taken.
private final class Admin: Caller, @unchecked Sendable {
    private let users: [String]
    private var members: [String: String] = [:]
    private var count = 0

    init(_ service: TableAnswers, _ users: [String]) {
        self.users = users
        super.init(service, token("root", claims: #","roles":["admin"]"#), seed: 7)
    }

    func begin() {
        _ = ask("POST", "/tables/account", #"{"id":"a","household":"h"}"#)
        giveBack()
    }

    override func step() {
        switch chance.below(3) {
        case 0: move(to: "x")
        case 1:
            let operations = members.values.sorted().map {
                #"{"operation":"delete","table":"member","id":"\#($0)","group":"g"}"#
            }
            _ = ask("POST", "/tables/$batch", #"{"operations":[\#(operations.joined(separator: ","))]}"#)
            members = [:]
        default:
            guard let id = members.removeValue(forKey: chance.pick(users)) else { return }
            _ = ask("DELETE", "/tables/member/\(id)")
        }
    }

    private func move(to household: String) {
        _ = ask("PATCH", "/tables/account/a", #"{"household":"\#(household)"}"#)
    }

    func giveBack() {
        for user in users where members[user] == nil {
            count += 1
            let id = "m\(count)"
            _ = ask("POST", "/tables/member", #"{"id":"\#(id)","user":"\#(user)","household":"h","role":"w"}"#)
            members[user] = id
        }
        move(to: "h")
    }
}

/// What transactions on PostgreSQL, which don't stand in a line, wait for.
@Suite(.enabled(if: PrivatePostgres.shared != nil && TestBackend.numbers != .line, "no PostgreSQL with ticks"))
struct RightsLockTests {
    private static let rules = #"""
        {"auth":{"key":"\#(testSecret)"},"tables":{
        "note":{"columns":{"list":"string"},"read":"list in share(list where user eq auth.sub)"},
        "share":{"columns":{"user":"string","list":"string"},
          "insert":"role:admin","update":"role:admin","delete":"role:admin","undelete":"role:admin"}}}
        """#
    private static let note = "00000000-0000-7000-8000-000000000001"

    /// Selects how many transactions wait for this one. In a transaction, pg_stat_activity stays as it was first read.
    private static let waiting: SQLStatement = """
        SELECT count(*) FROM pg_locks WHERE NOT granted AND pg_backend_pid() = ANY (pg_blocking_pids(pid))
        """

    private func write(_ kind: TableWrite.Kind, _ table: String, _ id: String) -> [[TableWrite]] {
        var write = TableWrite(kind, table: table, id: id, serverProtocol: .zumo2)
        write.caller = SynclineTables.Caller(subject: "ann")
        return [[write]]
    }

    private func row(_ columns: [String: String]) -> TableWrite.Kind {
        .insert(Row(columns.sorted { $0.key < $1.key }.map { .init($0.key, .string($0.value)) }))
    }

    /// Carries out a write while another transaction holds the edge of a membership, until the write waits for it or is
    /// done. Returns the outcome, and a number that the other transaction took before it ended.
    private func write(
        _ groups: [[TableWrite]], beside statement: String, ending last: String
    ) throws -> (store: SQLStore, outcome: WriteOutcome?, number: Int64, keeper: AnyObject) {
        let (database, keeper) = try TestBackend.postgres.database()
        let store = try SQLStore(database, try configuration(Self.rules).tables, StillEnvironment(), numbers: .ticks)
        _ = try store.write(write(row(["user": "ann", "list": "l"]), "share", "s"), stopsAtRefusal: true)
        _ = try store.write(write(row(["list": "l"]), "note", String(Self.note.dropLast()) + "9"), stopsAtRefusal: true)
        let group = DispatchGroup()
        let outcome = Mutex<WriteOutcome?>(nil)
        var number: Int64 = 0
        try database.write { connection throws(StoreFailure) in
            try connection.execute("BEGIN")
            try connection.execute(statement)
            DispatchQueue(label: "writer").async(group: group) {
                let done = try? store.write(groups, stopsAtRefusal: true)
                outcome.withLock { $0 = done?[0][0] }
            }
            while try connection.first(Self.waiting, count: 1)?[0].integer == 0, outcome.withLock({ $0 == nil }) {}
            let next: SQLStatement = "SELECT nextval('syncline_changes')"
            number = try connection.first(next, count: 1)?[0].integer ?? 0
            try connection.execute(last.replacing("NUMBER", with: String(number)))
            try connection.execute("COMMIT")
        }
        group.wait()
        return (store, outcome.withLock { $0 }, number, keeper)
    }

    @Test func `a write waits for the end of the right that would permit it`() throws {
        let found = try write(
            write(row(["list": "l"]), "note", Self.note),
            beside: #"SELECT 1 FROM "syncline_edges" WHERE "row" = 's' FOR NO KEY UPDATE"#,
            ending: #"UPDATE "syncline_edges" SET "end" = NUMBER, "endTime" = 1 WHERE "row" = 's'"#)
        #expect(found.outcome?.isRefused == true)
        #expect(try found.store.row("note", id: Self.note) == nil)
    }

    @Test func `a right ends after the writes that it permits`() throws {
        let found = try write(
            write(.delete, "share", "s"),
            beside: #"SELECT 1 FROM "syncline_edges" WHERE "row" = 's' FOR SHARE"#, ending: "SELECT 1")
        guard case .done(_, let row)? = found.outcome else {
            Issue.record("\(String(describing: found.outcome))")
            return
        }
        #expect(RowVersion.change(row.version) ?? 0 > found.number)
    }
    @Test func `rules change after the writes that go by the older ones`() throws {
        let (database, keeper) = try TestBackend.postgres.database()
        @Sendable func start(_ rules: String) throws -> SQLStore {
            try SQLStore(database, try configuration(rules).tables, StillEnvironment(), numbers: .ticks)
        }
        _ = try start(Self.rules)
        let group = DispatchGroup()
        let started = Mutex<Result<Void, any Error>?>(nil)
        var waits = false
        try database.write { connection throws(StoreFailure) in
            try connection.execute(NumberSource.ticks.beginWrites(.postgres, inSets: false))
            DispatchQueue(label: "start").async(group: group) {
                let rules = Self.rules.replacing("in share(list where user eq auth.sub)", with: "eq auth.sub")
                let result = Result { _ = try start(rules) }
                started.withLock { $0 = result }
            }
            while !waits, started.withLock({ $0 == nil }) {
                waits = try connection.first(Self.waiting, count: 1)?[0].integer != 0
            }
            try connection.execute("COMMIT")
        }
        group.wait()
        try started.withLock { $0 }?.get()
        #expect(waits)
        withExtendedLifetime(keeper) {}
    }
}
