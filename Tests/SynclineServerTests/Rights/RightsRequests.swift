// Every kind of request about rows that a user may not see, sent twice: over the same tables but for hidden data, all
// answers must be the same.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer

struct RightsRequest {
    var method: String
    var target: String
    var body: String?
    var isNew = false
    var operation: String?
    /// Other headers.
    var headers: [String: String] = [:]

    init(
        _ method: String, _ target: String, _ body: String? = nil, isNew: Bool = false, options: String? = nil,
        match: String? = nil
    ) {
        (self.method, self.target, self.body, self.isNew) = (method, target, body, isNew)
        headers["X-ZUMO-Options"] = options
        headers["If-Match"] = match
    }

    func send(_ desk: ServiceDesk, _ caller: [String: String]) throws -> HTTPResponse {
        var all = headers.merging(caller) { $1 }
        all[WireHeader.operationID] = operation
        return try desk.ask(method, target, body, all, new: isNew)
    }
}

extension RightsWorld {
    /// The ids of rows of which a user may learn nothing but the end of a right.
    private func hidden(_ user: String, _ table: String) -> [String] {
        rows[table, default: [:]].filter { row in
            var live = row.value
            live.isDeleted = false
            return !permits(user, table, live)
        }.keys.sorted()
    }

    /// Reads and writes that meet hidden rows.
    mutating func requests(_ user: String) -> [RightsRequest] {
        var all: [RightsRequest] = []
        for table in ["note", "entry"] {
            let known = hidden(user, table)
            all +=
                lists(table)
                + (known.isEmpty ? [] : [chance.pick(known), chance.pick(known)]).flatMap {
                    reads(table, $0) + writes(table, $0)
                }
            // Repeats of the user's own writes, and of others'.
            all += receipts.filter { $0.table == table && known.contains($0.id) }.suffix(4).map(\.request)
        }
        return all
    }

    private func lists(_ table: String) -> [RightsRequest] {
        let queries = [
            "$inlinecount=allpages", "$filter=n le 4&$inlinecount=allpages", "$filter=text eq 'other'",
            "$filter=n div (n sub 77) ge 0", "$filter=substring(text,n) eq 'a'", "$orderby=text desc&$top=3&$skip=2",
            "$orderby=n,id&$top=4&$inlinecount=allpages", "$select=id,n&$filter=n ne 77", "__includeDeleted=true",
            "$filter=text ne 'other'&__includeDeleted=true&$inlinecount=allpages",
            "$orderby=updatedAt&$skip=3&__includeDeleted=true",
            "$orderby=updatedAt&$skip=9223372036854775807&__includeDeleted=true",
        ].map { "/tables/\(table)?" + $0.replacing(" ", with: "%20") }
        let feeds = ["", "&$filter=n%20le%204", "&$count=true", "&$filter=text%20eq%20'other'&$count=true"].map {
            "/tables/\(table)/changes?since=\($0)"
        }
        return (queries + feeds).flatMap { [RightsRequest("GET", $0), RightsRequest("GET", $0, isNew: true)] }
    }

    private func reads(_ table: String, _ id: String) -> [RightsRequest] {
        let path = "/tables/\(table)/\(id)"
        return [false, true].flatMap { isNew in
            [
                RightsRequest("GET", path, isNew: isNew),
                RightsRequest("GET", path + "?__includeDeleted=true", isNew: isNew),
                RightsRequest("GET", "/tables/$access?table=\(table)&id=\(id)", isNew: isNew),
            ]
        }
    }

    private mutating func writes(_ table: String, _ id: String) -> [RightsRequest] {
        let path = "/tables/\(table)/\(id)"
        let new = newID()
        let item = json(["text": "mine", "list": "l1"].filter { table == "note" || $0.key == "text" })
        let whole = json(["text": "mine"], id: id)
        var patch = RightsRequest(
            "PATCH", path, #"[{"op":"test","path":"/text","value":"other"},{"op":"remove","path":"/nothing"}]"#,
            isNew: true)
        patch.headers["Content-Type"] = "application/json-patch+json"
        func batch(_ group: String) -> String {
            let operations = [
                #""insert","table":"other","item":{"id":"\#(new)"}"#,
                #""update","table":"\#(table)","id":"\#(id)","item":{"text":"mine"}"#,
                #""delete","table":"\#(table)","id":"\#(id)""#, #""insert","table":"\#(table)","item":{"id":"\#(id)"}"#,
            ]
            return #"{"operations":[\#(operations.map { #"{"operation":\#($0)\#(group)}"# }.joined(separator: ","))]}"#
        }
        return [
            RightsRequest("PATCH", path, item),
            RightsRequest("PATCH", path, item, isNew: true, match: #""AAAAAAAAAAE=""#),
            RightsRequest("PUT", path, whole, isNew: true), patch, RightsRequest("POST", path),
            RightsRequest("PUT", path + "?__includedeleted=true", whole, isNew: true),
            RightsRequest("DELETE", path), RightsRequest("DELETE", path, isNew: true, match: #""AAAAAAAAAAE=""#),
            RightsRequest("POST", "/tables/\(table)", whole),
            RightsRequest("POST", "/tables/\(table)", whole, isNew: true),
            RightsRequest("POST", "/tables/$batch", batch("")),
            RightsRequest("POST", "/tables/$batch", batch(#","group":"g""#), isNew: true),
        ]
    }

    // MARK: Twice

    /// Sends requests as they are, and again with other hidden values; and after a write of another row, and again after
    /// one of a hidden row.
    mutating func compareHidden(_ user: String, _ requests: [RightsRequest]) throws {
        guard desk.canTakeBack else { return }
        let caller = headers(user)
        let desk = desk
        func answers(_ before: () throws -> Void) throws -> [HTTPResponse] {
            try desk.tentatively {
                try before()
                return try requests.map { try $0.send(desk, caller) }
            }
        }
        func compare(_ one: [HTTPResponse], _ other: [HTTPResponse], _ change: String) {
            for (request, (one, other)) in zip(requests, zip(one, other)) {
                let same = one.status == other.status && one.body == other.body && one.headers == other.headers
                #expect(
                    same,
                    "\(steps) \(user) learns of \(change) from \(request.method) \(request.target) \(request.body ?? ""): \(one.text) \(other.text)"
                )
            }
        }
        let all = try answers {}
        for answer in all { check(answer, user) }
        compare(all, try answers { try disguise(user) }, "values")
        let unrelated = RightsRequest("POST", "/tables/other", #"{"id":"\#(newID())"}"#)
        guard let write = hiddenWrite(user) else { return }
        let changed = try answers {
            let answer = try write.request.send(desk, headers(write.user))
            #expect(answer.status < 300)
        }
        compare(
            try answers { _ = try unrelated.send(desk, caller) }, changed, "\(write.request.method) by \(write.user)")
    }

    /// Repeats other users' writes: their receipts are not this user's, so the answers are those of writes without an id.
    func compareReceipts(_ user: String) throws {
        guard desk.canTakeBack else { return }
        for receipt in receipts.filter({ $0.user != user }).suffix(4) {
            var bare = receipt.request
            bare.operation = nil
            let answers = try [receipt.request, bare].map { request in
                try desk.tentatively { try request.send(desk, headers(user)) }
            }
            let same = answers[0].status == answers[1].status && answers[0].text == answers[1].text
            #expect(same, "\(steps) \(user) has the receipt of \(receipt.user): \(answers[0].text) \(answers[1].text)")
        }
    }

    /// Another user's write of a row that is hidden before and after.
    private mutating func hiddenWrite(_ user: String) -> (user: String, request: RightsRequest)? {
        var found: [(String, RightsRequest)] = []
        for table in ["note", "entry"] {
            for id in hidden(user, table) {
                guard let row = rows[table]?[id] else { continue }
                for other in RightsWorld.users
                where permits(other, table, row) && permits(other, table, row, role: "w") {
                    let path = "/tables/\(table)/\(id)"
                    found.append((other, RightsRequest("DELETE", path)))
                    found.append((other, RightsRequest("PATCH", path, #"{"text":"SECRET \#(id)","n":5}"#)))
                    if rules == .usual, row["owner"] == other, table == "note" {
                        found.append((other, RightsRequest("PATCH", path, #"{"list":"l9"}"#)))
                    }
                }
            }
        }
        return found.isEmpty ? nil : chance.pick(found)
    }

    /// Changes the values of all rows that a user may not see.
    private func disguise(_ user: String) throws {
        for table in ["note", "entry"] {
            let ids = hidden(user, table)
            if let memory = desk.tables as? MemoryTableStore<MemoryTables> {
                memory.change { tables in ids.forEach { tables.disguise($0, table) } }
            } else {
                let list = ids.map { "'\($0)'" }.joined(separator: ",")
                try desk.store.database.carryOut([
                    #"UPDATE "\#(table)" SET "text" = 'other', "n" = 77 WHERE "id" IN (\#(list))"#
                ])
            }
        }
    }

    func number(of id: String, _ table: String) -> Int? {
        guard case .integer(let number)? = try? desk.tables.row(table, id: id)?.columns["n"] else { return nil }
        return Int(number)
    }
}

extension MemoryTables {
    fileprivate mutating func disguise(_ id: String, _ table: String) {
        guard var row = row(table, id: id) else { return }
        var members = Array(row.columns.members)
        for place in members.indices {
            if members[place].name == "text" { members[place].value = .string("other") }
            if members[place].name == "n" { members[place].value = .integer(77) }
        }
        row.columns = Row(row.columns.shape, members.map(\.value))
        put(row, in: table)
    }
}

extension ServiceDesk {
    /// What a sequence of PostgreSQL gave can't be taken back. The answers are made by the same code.
    fileprivate var canTakeBack: Bool { (tables as? SQLStore)?.dialect != .postgres }

    /// Carries something out, and takes back what it did.
    fileprivate func tentatively<Result>(_ body: () throws -> Result) throws -> Result {
        if let memory = tables as? MemoryTableStore<MemoryTables> {
            let before = memory.change { $0 }
            defer { memory.change { $0 = before } }
            return try body()
        }
        let database = store.database
        let names = try database.read { connection throws(StoreFailure) in
            var names: [String] = []
            try connection.run(
                "SELECT \"name\" FROM \"sqlite_master\" WHERE \"type\" = 'table'"
            ) { row in
                names.append(row.value(0).text)
                return true
            }
            return names.filter { !$0.hasPrefix("sqlite_") }
        }
        try database.carryOut(
            ["BEGIN"] + names.map { #"CREATE TABLE "kept \#($0)" AS SELECT * FROM "\#($0)""# } + ["COMMIT"])
        let result = try body()
        try database.carryOut(
            ["BEGIN"]
                + names.flatMap { name in
                    [
                        #"DELETE FROM "\#(name)""#, #"INSERT INTO "\#(name)" SELECT * FROM "kept \#(name)""#,
                        #"DROP TABLE "kept \#(name)""#,
                    ]
                } + ["COMMIT"])
        // Otherwise it would be taken for an older copy.
        store.continuity.withLock { $0 = Continuity() }
        return result
    }
}
