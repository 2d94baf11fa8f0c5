// Shared notes and household accounts, with a model of what each user may see: it knows only the rows of this moment, and
// goes through all of them each time.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer

struct RightsWorld {
    /// A row as the model knows it: its columns as strings.
    struct Known: Hashable {
        var columns: [String: String]
        var isDeleted = false

        subscript(_ column: String) -> String { columns[column] ?? "" }
    }

    /// Two configurations of the same tables.
    enum Rules: CaseIterable {
        case usual
        /// Owners have no rights, other notes are open, notes need the role `w`, and entries the role `r`.
        case strict

        var tables: String { self == .usual ? RightsWorld.tables : RightsWorld.strictTables }
        var other: Rules { self == .usual ? .strict : .usual }
    }

    static let users = ["ann", "bob", "cid", "dan"]
    private static let tables = #"""
        {"note":{"columns":{"owner":"string","list":"string","text":"string","n":"number","kind":"string"},
          "read":"owner eq auth.sub or list in share(list where user eq auth.sub) or kind eq 'open'",
          "write":"owner eq auth.sub or list in share(list where user eq auth.sub and role eq 'w')",
          "insert":"owner eq auth.sub or kind eq 'drop' or list in share(list where user eq auth.sub and role eq 'w')"},
        "entry":{"columns":{"account":"string","owner":"string","text":"string","n":"number","kind":"string"},
          "read":"account in account(id where household in member(household where user eq auth.sub))",
          "write":"account in account(id where household in member(household where user eq auth.sub and role eq 'w'))"},
        "share":{"columns":{"user":"string","list":"string","role":"string"},"softDelete":false,
          "insert":"role:admin","update":"role:admin","delete":"role:admin","undelete":"role:admin"},
        "member":{"columns":{"user":"string","household":"string","role":"string"},
          "insert":"role:admin","update":"role:admin","delete":"role:admin","undelete":"role:admin"},
        "account":{"columns":{"household":"string"},
          "insert":"role:admin","update":"role:admin","delete":"role:admin","undelete":"role:admin"},
        "other":{"columns":{"text":"string"}}}
        """#
    private static let strictTables =
        tables
        .replacing("owner eq auth.sub or ", with: "").replacing("kind eq 'open'", with: "kind eq 'drop'")
        .replacing("share(list where user eq auth.sub)", with: "share(list where user eq auth.sub and role eq 'w')")
        .replacing("household where user eq auth.sub and role eq 'w'", with: "household where user eq auth.sub")
        .replacing("household where user eq auth.sub", with: "household where user eq auth.sub and role eq 'r'")

    private(set) var desk: ServiceDesk
    /// The rules in force.
    private(set) var rules = Rules.usual
    var chance: Chance
    /// The rows of each table.
    private(set) var rows: [String: [String: Known]] = [:]
    /// The rows that each user could ever see.
    private(set) var allowed: [String: Set<String>] = [:]
    private var made: UInt64 = 0
    let seed: UInt64
    private(set) var steps = 0
    /// The writes that had an id of their own.
    private(set) var receipts: [Receipt] = []

    struct Receipt {
        var user: String
        var table: String
        var id: String
        var request: RightsRequest
    }

    init(_ backend: TestBackend, seed: UInt64) throws {
        self.init(try ServiceDesk(backend, tables: RightsWorld.tables, pageSize: 7), seed: seed)
    }

    /// - Parameter desk: A server with the usual rules.
    init(_ desk: ServiceDesk, seed: UInt64) { (self.desk, self.seed, chance) = (desk, seed, Chance(seed: seed)) }

    /// Continues with a server that has put rules into force.
    mutating func serve(_ desk: ServiceDesk, _ rules: Rules) {
        (self.desk, self.rules) = (desk, rules)
        noteAllowed()
    }

    /// After the server forgot them.
    mutating func forgetDeleted() { rows = rows.mapValues { $0.filter { !$0.value.isDeleted } } }

    // MARK: The model

    /// Whether a user may see a row, and with a role.
    func permits(_ user: String, _ table: String, _ row: Known, role: String? = nil) -> Bool {
        if row.isDeleted { return false }
        func live(_ table: String) -> [(id: String, row: Known)] {
            rows[table, default: [:]].filter { !$0.value.isDeleted }.map { ($0.key, $0.value) }
        }
        let isUsual = rules == .usual
        if table == "note" {
            if isUsual, row["owner"] == user { return true }
            if role == nil, row["kind"] == (isUsual ? "open" : "drop") { return true }
            let role = isUsual ? role : "w"
            return row["list"] != ""
                && live("share").contains {
                    $0.row["user"] == user && $0.row["list"] == row["list"] && (role == nil || $0.row["role"] == role)
                }
        }
        let role = isUsual ? role : "r"
        return live("account").contains { account in
            account.id == row["account"]
                && live("member").contains {
                    $0.row["user"] == user && $0.row["household"] == account.row["household"]
                        && account.row["household"] != "" && (role == nil || $0.row["role"] == role)
                }
        }
    }

    func visible(_ user: String, _ table: String) -> [String: Known] {
        rows[table, default: [:]].filter { permits(user, table, $0.value) }
    }

    private mutating func noteAllowed() {
        for user in RightsWorld.users {
            for table in ["note", "entry"] { allowed[user, default: []].formUnion(visible(user, table).keys) }
        }
    }

    // MARK: Steps

    mutating func newID() -> String {
        made += 1
        let digits = Hexadecimal.text(made &* 0x9e37_79b9_7f4a_7c15, digits: 16)
        return "0000\(digits.prefix(4))-0000-7000-8000-\(digits.suffix(12))"
    }

    func headers(_ user: String) -> [String: String] { ["X-ZUMO-AUTH": token(user)] }

    func headers(admin: Bool) -> [String: String] { ["X-ZUMO-AUTH": token("root", claims: #","roles":["admin"]"#)] }

    /// A change by a random user, or of a membership.
    mutating func step() throws {
        steps += 1
        desk.environment.set(now: desk.environment.now() + Int64(chance.below(3)))
        switch chance.below(10) {
        case 0...2: try changeRight()
        case 3...4: try insert(chance.pick(["note", "entry"]))
        default: try change(chance.pick(["note", "entry"]))
        }
        noteAllowed()
    }

    private mutating func randomColumns(_ table: String) -> [String: String] {
        var columns: [String: String] = [:]
        func set(_ name: String, _ value: String) { columns[name] = value }
        switch table {
        case "note":
            set("list", chance.pick(["", "l1", "l2", "l3"]))
            set("kind", chance.pick(["", "", "", "open", "drop"]))
            set("owner", chance.pick(RightsWorld.users))
        case "entry": set("account", chance.pick(["nowhere"] + rows["account", default: [:]].keys.sorted()))
        case "share":
            (columns["user"], columns["list"]) = (chance.pick(RightsWorld.users), chance.pick(["l1", "l2", "l3"]))
        case "member":
            (columns["user"], columns["household"]) = (chance.pick(RightsWorld.users), chance.pick(["h1", "h2"]))
        default: set("household", chance.pick(["", "h1", "h2"]))
        }
        if table == "share" || table == "member" { set("role", chance.pick(["w", "w", "r"])) }
        return columns
    }

    func json(_ columns: [String: String], id: String? = nil, n: Int? = nil) -> String {
        var members = columns.map { Value.Member($0.key, $0.value.isEmpty ? .null : .string($0.value)) }
        if let id { members.append(.init("id", .string(id))) }
        if let n { members.append(.init("n", .integer(Int64(n)))) }
        return Value.object(members).json
    }

    /// Adds, changes or removes memberships or accounts, sometimes several in one transaction. Between the operations of a
    /// group the rights are those of no moment.
    private mutating func changeRight() throws {
        var operations: [String] = []
        let isGroup = chance.once(in: 2)
        let group = isGroup ? #","group":"g""# : ""
        for _ in 0..<(chance.once(in: 4) ? 1 + chance.below(3) : 1) {
            let table = chance.pick(["share", "share", "member", "member", "account"])
            let live = rows[table, default: [:]].filter { !$0.value.isDeleted }.keys.sorted()
            let columns = randomColumns(table)
            let isFew = live.count < (table == "account" ? 3 : 5)
            if isFew && chance.once(in: 2) || live.isEmpty {
                let id = newID()
                operations.append(
                    #"{"operation":"insert","table":"\#(table)","item":\#(json(columns, id: id))\#(group)}"#)
                rows[table, default: [:]][id] = Known(columns: columns)
                // It may last for a moment only, in which no listener is told.
                if !isGroup, chance.once(in: 2) {
                    noteAllowed()
                    operations.append(#"{"operation":"delete","table":"\#(table)","id":"\#(id)"}"#)
                    rows[table]?[id]?.isDeleted = true
                }
            } else {
                let id = chance.pick(live)
                if chance.once(in: 2) {
                    operations.append(
                        #"{"operation":"update","table":"\#(table)","id":"\#(id)","item":\#(json(columns))\#(group)}"#)
                    rows[table]?[id]?.columns = columns
                } else {
                    operations.append(#"{"operation":"delete","table":"\#(table)","id":"\#(id)"\#(group)}"#)
                    rows[table]?[id]?.isDeleted = true
                }
            }
            if !isGroup { noteAllowed() }
        }
        let body = #"{"operations":[\#(operations.joined(separator: ","))]}"#
        let answer = try desk.ask("POST", "/tables/$batch", body, headers(admin: true))
        #expect(!answer.text.contains("error"), "\(body) \(answer.text)")
    }

    private mutating func insert(_ table: String) throws {
        let user = chance.pick(RightsWorld.users)
        var columns = randomColumns(table)
        if chance.once(in: 2), table == "note" { columns["owner"] = user }
        let known = rows[table, default: [:]].keys.sorted()
        let isTaken = !known.isEmpty && chance.once(in: 10)
        let id = isTaken ? chance.pick(known) : newID()
        columns["text"] = "SECRET \(id) \(steps)"
        let row = Known(columns: columns)
        let isDrop = table == "note" && columns["kind"] == "drop"
        let request = RightsRequest(
            "POST", "/tables/\(table)", json(columns, id: id, n: steps % 10), isNew: chance.once(in: 2))
        let answer = try ask(request, user, table, id)
        if answer.status == 201 { rows[table, default: [:]][id] = row }
        check(answer, user)
        let wanted = isTaken ? 409 : isDrop || permits(user, table, row, role: "w") ? 201 : 403
        #expect(answer.status == wanted, "\(steps) insert \(table) by \(user) of \(columns): \(answer.text)")
        if answer.status == 201 {
            let isSeen = permits(user, table, row)
            #expect(answer.text.contains("readable") != isSeen, "\(steps) \(columns) \(answer.text)")
        } else if isTaken, let old = rows[table]?[id], !old.isDeleted {
            #expect(answer.text.contains("SECRET") == permits(user, table, old))
        }
    }

    private mutating func change(_ table: String) throws {
        let known = rows[table, default: [:]].keys.sorted()
        if known.isEmpty { return }
        let (user, id) = (chance.pick(RightsWorld.users), chance.pick(known))
        guard let old = rows[table]?[id] else { return }
        if old.isDeleted { return try restore(table, id, old, user) }
        let isVisible = permits(user, table, old)
        let before = isVisible && permits(user, table, old, role: "w")
        if chance.once(in: 6) {
            let answer = try ask(RightsRequest("DELETE", "/tables/\(table)/\(id)"), user, table, id)
            check(answer, user)
            #expect(answer.status == (before ? 200 : 403), "\(steps) \(answer.text)")
            if answer.status == 200 { rows[table]?[id]?.isDeleted = true }
            return
        }
        var new = old
        if chance.once(in: 2) { new.columns.merge(randomColumns(table)) { $1 } }
        new.columns["text"] = "SECRET \(id) \(steps)"
        let after = permits(user, table, new, role: "w")
        let request = RightsRequest(
            "PATCH", "/tables/\(table)/\(id)", json(new.columns, n: steps % 10), isNew: chance.once(in: 2))
        let answer = try ask(request, user, table, id)
        if before && after { rows[table]?[id] = new }
        check(answer, user)
        let wanted = !isVisible ? 404 : before && after ? 200 : 403
        #expect(answer.status == wanted, "\(steps) \(table) \(user) \(old.columns) -> \(new.columns): \(answer.text)")
    }

    /// A restore needs the right that the row's deletion interrupted.
    private mutating func restore(_ table: String, _ id: String, _ old: Known, _ user: String) throws {
        var live = old
        live.isDeleted = false
        let answer = try ask(RightsRequest("POST", "/tables/\(table)/\(id)"), user, table, id)
        let isDone = answer.status == 201
        if isDone { rows[table]?[id] = live }
        check(answer, user)
        let mayWrite = permits(user, table, live, role: "w")
        #expect(!isDone || mayWrite && allowed[user, default: []].contains(id), "\(steps) \(answer.text)")
        #expect(isDone || [403, 404].contains(answer.status), "\(steps) \(answer.text)")
    }

    /// Sends a write, sometimes with an id of its own.
    private mutating func ask(
        _ request: RightsRequest, _ user: String, _ table: String, _ id: String
    ) throws -> HTTPResponse {
        var request = request
        if chance.once(in: 3) {
            request.operation = "o\(steps)"
            receipts.append(Receipt(user: user, table: table, id: id, request: request))
        }
        return try request.send(desk, headers(user))
    }

    // MARK: Answers

    /// Fails if an answer has a value that the user may not see now, or an id that he never could.
    func check(_ answer: HTTPResponse, _ user: String) {
        let text = answer.text + answer.headers.map { "\($0.name): \($0.value)" }.joined()
        for part in text.split(separator: "SECRET ", omittingEmptySubsequences: false).dropFirst() {
            let id = String(part.prefix(36))
            let isSeen = ["note", "entry"].contains { table in
                rows[table]?[id].map { row in
                    permits(user, table, row) || row.isDeleted && allowed[user, default: []].contains(id)
                } ?? false
            }
            #expect(isSeen, "\(steps) \(user) is told a value of \(id)")
        }
    }

    /// Fails if an answer of a list or of the changes has an id that a user never could see.
    func checkIDs(_ ids: [String], _ user: String) {
        for id in ids { #expect(allowed[user, default: []].contains(id), "\(steps) \(user) is told of \(id)") }
    }

    /// Compares what a user reads by id, counts and skipped rows.
    func compareReads(_ user: String) throws {
        for table in ["note", "entry"] {
            let visible = visible(user, table)
            for id in rows[table, default: [:]].keys {
                let answer = try desk.ask("GET", "/tables/\(table)/\(id)", nil, headers(user))
                #expect(answer.status == (visible[id] == nil ? 404 : 200), "\(user) \(id)")
            }
            let count = try desk.ask(
                "GET", "/tables/\(table)?$top=0&$inlinecount=allpages", nil, headers(user))
            #expect(count.json["count"] == .integer(Int64(visible.count)), "\(user) \(table) \(count.text)")
            var found: [String] = []
            for skip in stride(from: 0, to: visible.count + 3, by: 3) {
                let page = try desk.ask(
                    "GET", "/tables/\(table)?$orderby=text&$top=3&$skip=\(skip)", nil, headers(user))
                found += page.ids
            }
            #expect(found == visible.sorted { $0.value["text"] < $1.value["text"] }.map(\.key), "\(user) \(table)")
            let feed = try desk.ask(
                "GET", "/tables/\(table)/changes?since=&$count=true", nil, headers(user))
            #expect(feed.json["count"] == .integer(Int64(visible.count)), "\(user) \(table) \(feed.text)")
        }
    }
}
