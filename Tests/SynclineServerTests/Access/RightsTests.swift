// Every way to write, by callers with every combination of rights: no answer contains a value of a row that the caller
// may not read, whether the write succeeds, is refused or is repeated, and none depends on such a value.

import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

/// A table with its rights, and what it would tell.
private struct GuardedTable {
    var name: String
    var read: String
    var write: String
    var isSoft: Bool
    var isPerUser: Bool

    static let all: [GuardedTable] = {
        var tables: [GuardedTable] = []
        for read in ["anonymous", "authenticated", "role:reader", "disabled"] {
            for write in ["anonymous", "authenticated", "role:writer"] {
                for isSoft in [true, false] {
                    for isPerUser in [false, true] where !isPerUser || write != "anonymous" {
                        tables.append(
                            GuardedTable(
                                name: "t\(tables.count)", read: read, write: write, isSoft: isSoft,
                                isPerUser: isPerUser))
                    }
                }
            }
        }
        return tables
    }()

    var json: String {
        let owner = isPerUser ? #","perUser":"owner""# : ""
        let writes = ["insert", "update", "delete", "undelete"].map { #""\#($0)":"\#(write)""# }.joined(separator: ",")
        return #""\#(name)":{"softDelete":\#(isSoft),"read":"\#(read)",\#(writes)\#(owner)}"#
    }

    func lets(_ caller: Visitor) -> Bool {
        switch read {
        case "disabled": false
        case "anonymous": !isPerUser || caller.name != nil
        case "authenticated": caller.name != nil
        default: caller.name != nil && caller.roles.contains("reader")
        }
    }
}

struct Visitor {
    var name: String?
    var roles: [String] = []

    static let all = [
        Visitor(), Visitor(name: "ann"), Visitor(name: "ann", roles: ["reader"]),
        Visitor(name: "ann", roles: ["writer"]), Visitor(name: "eve", roles: ["writer"]),
    ]

    var headers: [String: String] {
        guard let name else { return [:] }
        let list = roles.map { "\"\($0)\"" }.joined(separator: ",")
        return ["X-ZUMO-AUTH": token(name, claims: #","roles":[\#(list)]"#)]
    }
}

/// A request about a row that exists, or about one that was deleted.
struct Attempt {
    var name: String
    var method: String
    /// Below the table; `ID` stands for the row.
    var path = "/ID"
    var body: String?
    var headers: [String: String] = [:]
    var isAboutTombstone = false
    /// Requests of one such name differ only in a guess: to a caller who may not read, they are answered alike.
    var guess: String?

    static let all: [Attempt] = {
        let wrong = "\"AAAAAAAAAAk=\""
        let patch = { (path: String, value: String) in
            #"[{"op":"test","path":"\#(path)","value":\#(value)},{"op":"add","path":"/own","value":"x"}]"#
        }
        let json = ["Content-Type": "application/json-patch+json"]
        let (early, late) = ("Mon, 01 Jan 2024 00:00:00 GMT", "Fri, 01 Jan 2027 00:00:00 GMT")
        var all = [
            Attempt(name: "insert", method: "POST", path: "", body: #"{"id":"ID","own":"x"}"#),
            Attempt(name: "change", method: "PATCH", body: #"{"own":"x"}"#),
            Attempt(name: "change nothing", method: "PATCH", body: "{}"),
            Attempt(name: "stale change", method: "PATCH", body: #"{"own":"x"}"#, headers: ["If-Match": wrong]),
            Attempt(name: "change by version", method: "PATCH", body: #"{"own":"x","version":"AAAAAAAAAAk="}"#),
            Attempt(name: "replace", method: "PUT", body: #"{"id":"ID","own":"x"}"#),
            Attempt(name: "stale replace", method: "PUT", body: #"{"own":"x"}"#, headers: ["If-Match": wrong]),
            Attempt(name: "replace none", method: "PUT", body: #"{"own":"x"}"#, headers: ["If-None-Match": "*"]),
            Attempt(
                name: "restore by replace", method: "PUT", path: "/ID?__includedeleted=true", body: #"{"own":"x"}"#),
            Attempt(name: "restore by change", method: "PATCH", body: #"{"deleted":false}"#),
            Attempt(name: "delete", method: "DELETE"),
            Attempt(name: "stale delete", method: "DELETE", headers: ["If-Match": wrong]),
            Attempt(name: "restore", method: "POST"),
            Attempt(name: "read", method: "GET"), Attempt(name: "list", method: "GET", path: ""),
            Attempt(name: "feed", method: "GET", path: "/changes?since="),
            Attempt(name: "wrong patch", method: "PATCH", body: patch("/secret", "1"), headers: json, guess: "patch"),
            Attempt(
                name: "right patch", method: "PATCH", body: patch("/secret", #""SECRET ID""#), headers: json,
                guess: "patch"),
            Attempt(
                name: "patch of nothing", method: "PATCH", body: patch("/absent", "null"), headers: json, guess: "patch"
            ),
            Attempt(
                name: "changed before", method: "PATCH", body: #"{"own":"x"}"#,
                headers: ["If-Unmodified-Since": early], guess: "time"),
            Attempt(
                name: "changed after", method: "PATCH", body: #"{"own":"x"}"#, headers: ["If-Unmodified-Since": late],
                guess: "time"),
        ]
        let change = #"{"operation":"update","table":"TABLE","id":"ID","group":"g","item":{"own":"x"}"#
        for more in ["", #","ifMatch":"AAAAAAAAAAk=""#] {
            all.append(
                Attempt(
                    name: "batch: a group", method: "POST", path: "$batch",
                    body: #"{"onRefusal":"stop","operations":[\#(change)},\#(change)\#(more)}]}"#))
        }
        for kind in ["insert", "update", "replace", "delete", "undelete"] {
            for (name, more) in [("", ""), (" of another version", #","ifMatch":"AAAAAAAAAAk=""#)] {
                let item = ["delete", "undelete"].contains(kind) ? "" : #","item":{"own":"x"}"#
                let operation = #"{"operation":"\#(kind)","table":"TABLE","id":"ID"\#(item)\#(more)}"#
                for rows in [true, false] {
                    all.append(
                        Attempt(
                            name: "batch: \(kind)\(name)", method: "POST", path: "$batch",
                            body: #"{"rows":\#(rows),"operations":[\#(operation)]}"#))
                }
            }
        }
        return all
            + all.filter { $0.method != "GET" && $0.guess == nil }.map { attempt in
                var attempt = attempt
                attempt.isAboutTombstone = true
                attempt.name += ", of a tombstone"
                return attempt
            }
    }()
}

extension Attempt {
    func send(
        to desk: ServiceDesk, _ table: String, _ id: String, _ visitor: Visitor, new: Bool
    ) throws -> HTTPResponse {
        func filled(_ text: String) -> String { text.replacing("ID", with: id).replacing("TABLE", with: table) }
        let target = path == "$batch" ? "/tables/$batch" : "/tables/\(table)\(filled(path))"
        var request = try #require(HTTPRequest(method, target: target))
        let all = headers.merging(visitor.headers) { $1 }
        request.headers = all.map { HTTPHeader($0.key, $0.value) }
        if new { request.headers.append(HTTPHeader("ZUMO-API-VERSION", "3.0.0")) }
        if method != "GET" {
            request.headers.append(HTTPHeader(WireHeader.operationID, "o-\(table)-\(id)"))
        }
        if let body {
            request.body = Array(filled(body).utf8)
            if headers["Content-Type"] == nil {
                request.headers.append(HTTPHeader("Content-Type", "application/json"))
            }
        }
        return desk.service.answer(request, url: "http://server:8080")
    }
}

@Suite struct RightsTests {
    /// When the rows were made and changed: a time that no other part of the test has.
    private static let time: Int64 = 1_741_782_896_789
    private static let values = ["SECRET", "918273645", "2025-03-12", "12 Mar 2025"]

    /// Makes a row and a tombstone for each request.
    private func fill(_ desk: ServiceDesk, _ table: GuardedTable, _ ids: [String]) throws {
        let groups = ids.map { id in
            var writes: [TableWrite] = []
            for name in [id, "\(id)-gone"] {
                let item = Row([
                    .init("secret", .string("SECRET \(name)")), .init("number", .integer(918_273_645)),
                    .init("list", .array([.object([.init("k", .string("SECRET \(name)"))])])),
                ])
                writes.append(TableWrite(.insert(item), table: table.name, id: name, serverProtocol: .zumo2))
            }
            writes.append(TableWrite(.delete, table: table.name, id: "\(id)-gone", serverProtocol: .zumo2))
            for index in writes.indices where table.isPerUser {
                writes[index].caller = SynclineTables.Caller(subject: "ann")
            }
            return writes
        }
        let outcomes = try desk.tables.write(groups, stopsAtRefusal: true, wantsRows: false)
        let refused = outcomes.joined().filter(\.isRefused)
        #expect(refused.isEmpty)
    }

    private func text(_ answer: HTTPResponse) -> String {
        "\(answer.status) \(answer.headers.map { "\($0.name): \($0.value)" }) \(answer.text)"
    }

    @Test(arguments: TestBackend.stores)
    func `no answer has a value of a row that its caller may not read`(_ backend: TestBackend) throws {
        let tables = GuardedTable.all.map(\.json).joined(separator: ",")
        let desk = try ServiceDesk(backend, tables: "{\(tables)}")
        var (count, shown, answered) = (0, 0, 0)
        // A row for each request.
        let rounds = Visitor.all.indices.flatMap { visitor in [false, true].map { (visitor, $0) } }
        let ids = (0..<(rounds.count * Attempt.all.count)).map { "r\($0)" }
        desk.environment.set(now: Self.time)
        for table in GuardedTable.all { try fill(desk, table, ids) }
        desk.environment.set(now: 1_767_225_600_000)
        for table in GuardedTable.all {
            var rest = ids[...]
            for (place, isNew) in rounds {
                let visitor = Visitor.all[place]
                let isReader = table.lets(visitor)
                var guesses: [String: Set<String>] = [:]
                for attempt in Attempt.all {
                    let id = (rest.popFirst() ?? "") + (attempt.isAboutTombstone ? "-gone" : "")
                    // Of readers, some answers show that there is something to see.
                    if isReader, rest.count % 8 != 0 { continue }
                    var isDone = false
                    for isRepeat in [false, true] where !isRepeat || isDone && !isReader {
                        let answer = try attempt.send(to: desk, table.name, id, visitor, new: isNew)
                        count += 1
                        isDone = (200..<300).contains(answer.status)
                        let told = text(answer)
                        if isReader {
                            shown += told.contains("SECRET") ? 1 : 0
                            continue
                        }
                        answered += isDone ? 1 : 0
                        for value in Self.values {
                            #expect(!told.contains(value), "\(table) \(visitor) \(attempt.name) new \(isNew): \(told)")
                        }
                        if let guess = attempt.guess {
                            guesses[guess, default: []].insert("\(answer.status) \(answer.code ?? "")")
                        }
                    }
                }
                for (guess, answers) in guesses {
                    #expect(answers.count == 1, "\(table) \(visitor) \(guess) new \(isNew): \(answers)")
                }
            }
        }
        #expect(count >= 2000 && shown > 500 && answered > 500, "\(count) requests, \(shown), \(answered)")
    }
}
