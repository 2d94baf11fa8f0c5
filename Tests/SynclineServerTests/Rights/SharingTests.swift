// Sharing as an app does it: a household's ledger with invitations, removals, a hand-over and an end.

import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct SharingTests {
    static let tables = #"""
        {"household":{"columns":{"owner":"string","name":"string"},
          "read":"owner eq auth.sub or id in member(household where user eq auth.sub)",
          "write":"owner eq auth.sub",
          "update":"owner eq auth.sub or id in member(household where user eq auth.sub and role eq 'owner')"},
        "member":{"columns":{"household":"string","user":"string","role":"string"},
          "read":"user eq auth.sub or household in member(household where user eq auth.sub)",
          "write":"household in household(id where owner eq auth.sub)",
          "delete":"user eq auth.sub or household in household(id where owner eq auth.sub)"},
        "account":{"columns":{"household":"string","name":"string"},
          "read":"household in member(household where user eq auth.sub)",
          "write":"household in member(household where user eq auth.sub)"},
        "entry":{"columns":{"account":"string","text":"string"},
          "read":"account in account(id where household in member(household where user eq auth.sub))"}}
        """#

    private static func id(_ number: Int) -> String { "00000000-0000-7000-8000-00000000000\(number)" }

    private let home = id(1)
    private let annIn = id(2)
    private let bobIn = id(3)
    private let cash = id(4)
    private let coffee = id(5)

    private func ask(
        _ desk: ServiceDesk, _ user: String, _ method: String, _ path: String, _ body: String? = nil
    ) throws -> HTTPResponse {
        try desk.ask(method, "/tables/\(path)", body, ["X-ZUMO-AUTH": token(user)])
    }

    private func feed(_ desk: ServiceDesk, _ user: String, _ cursor: String = "") throws -> (String, String) {
        let answer = try ask(desk, user, "GET", "entry/changes?since=\(cursor.encoded)")
        return (answer.json["items"]?.json ?? answer.text, answer.json["cursor"]?.string ?? "")
    }

    /// Ann's household, in which she is a member, with an account and an entry.
    private func household(_ backend: TestBackend) throws -> ServiceDesk {
        let desk = try ServiceDesk(backend, tables: Self.tables)
        let made = [
            ("household", #"{"id":"\#(home)","owner":"ann"}"#),
            ("member", #"{"id":"\#(annIn)","household":"\#(home)","user":"ann","role":"owner"}"#),
            ("account", #"{"id":"\#(cash)","household":"\#(home)"}"#),
            ("entry", #"{"id":"\#(coffee)","account":"\#(cash)","text":"coffee"}"#),
        ]
        for (table, row) in made { #expect(try ask(desk, "ann", "POST", table, row).status == 201) }
        return desk
    }

    private func invite(_ desk: ServiceDesk) throws -> Int {
        let row = #"{"id":"\#(bobIn)","household":"\#(home)","user":"bob","role":"member"}"#
        return try ask(desk, "ann", "POST", "member", row).status
    }

    @Test(arguments: TestBackend.stores)
    func `a batch can't use the right that it gave up`(_ backend: TestBackend) throws {
        let desk = try household(backend)
        #expect(try invite(desk) == 201)
        let write = #"{"operation":"update","table":"entry","id":"\#(coffee)","item":{"text":"tea"}}"#
        let leave = #"{"operation":"delete","table":"member","id":"\#(bobIn)"}"#
        let body = #"{"operations":[\#(write),\#(leave),\#(write)]}"#
        let answer = try ask(desk, "bob", "POST", "$batch", body)
        let statuses = (0..<3).map { answer.json["results"]?[$0]?["status"] }
        #expect(statuses == [200, 200, 404], "\(answer.text)")
    }

    @Test(arguments: TestBackend.stores)
    func `a member is invited, sees everything, and is removed`(_ backend: TestBackend) throws {
        let desk = try household(backend)
        let (before, cursor) = try feed(desk, "bob")
        #expect(before == "[]")
        // No caller lets himself in.
        let forged = #"{"id":"\#(bobIn)","household":"\#(home)","user":"bob","role":"owner"}"#
        #expect(try ask(desk, "bob", "POST", "member", forged).status == 403)
        #expect(try invite(desk) == 201)
        let (gained, next) = try feed(desk, "bob", cursor)
        #expect(gained.contains("coffee"))
        #expect(try ask(desk, "bob", "PATCH", "entry/\(coffee)", #"{"text":"tea"}"#).status == 200)
        #expect(try ask(desk, "bob", "PATCH", "member/\(bobIn)", #"{"role":"owner"}"#).status == 403)
        #expect(try ask(desk, "ann", "DELETE", "member/\(bobIn)").status == 200)
        // A departure says no more than which row it was, whatever happened to the row since.
        #expect(try ask(desk, "ann", "PATCH", "entry/\(coffee)", #"{"text":"secret"}"#).status == 200)
        let (lost, end) = try feed(desk, "bob", next)
        #expect(lost == #"[{"id":"\#(coffee)","left":"right"}]"#)
        #expect(try feed(desk, "bob", end).0 == "[]")
        for body in [#"{"text":"late"}"#, nil] {
            let answer = try ask(desk, "bob", body == nil ? "DELETE" : "PATCH", "entry/\(coffee)", body)
            let never = try ask(desk, "bob", body == nil ? "DELETE" : "PATCH", "entry/\(Self.id(9))", body)
            #expect(answer.status == (body == nil ? 403 : 404) && answer.text == never.text)
        }
        // Older clients receive a tombstone.
        let list = try ask(desk, "bob", "GET", "entry?$filter=text%20eq%20'x'&__includeDeleted=true")
        #expect(list.ids == [coffee] && list.json[0]?["deleted"] == .bool(true) && list.json[0]?["text"] == nil)
    }

    @Test(arguments: TestBackend.stores)
    func `a member leaves, and the household is handed over`(_ backend: TestBackend) throws {
        let desk = try household(backend)
        #expect(try invite(desk) == 201)
        #expect(try ask(desk, "bob", "PATCH", "household/\(home)", #"{"owner":"bob"}"#).status == 403)
        #expect(try ask(desk, "ann", "PATCH", "member/\(bobIn)", #"{"role":"owner"}"#).status == 200)
        #expect(try ask(desk, "ann", "PATCH", "household/\(home)", #"{"owner":"bob"}"#).status == 200)
        #expect(try ask(desk, "ann", "DELETE", "member/\(annIn)").status == 200)
        #expect(try ask(desk, "ann", "GET", "entry/\(coffee)").status == 404)
        #expect(try ask(desk, "bob", "GET", "entry/\(coffee)").status == 200)
        #expect(try ask(desk, "bob", "DELETE", "member/\(annIn)").status == 409)
    }

    @Test(arguments: TestBackend.stores)
    func `a household is deleted with its rows in one batch`(_ backend: TestBackend) throws {
        let desk = try household(backend)
        #expect(try invite(desk) == 201)
        let (_, cursor) = try feed(desk, "bob")
        let rows = [("entry", coffee), ("account", cash), ("member", bobIn), ("member", annIn), ("household", home)]
        let operations = rows.map { #"{"operation":"delete","table":"\#($0.0)","id":"\#($0.1)","group":"end"}"# }
        let body = #"{"operations":[\#(operations.joined(separator: ","))]}"#
        let answer = try ask(desk, "ann", "POST", "$batch", body)
        #expect(!answer.text.contains("error"), "\(answer.text)")
        #expect(try feed(desk, "bob", cursor).0.contains(#""deleted":true"#))
        #expect(try feed(desk, "ann").0 == "[]")
    }

    @Test(arguments: TestBackend.stores)
    func `an id that exists can't be inserted, and must be one that can't be guessed`(_ backend: TestBackend) throws {
        let desk = try household(backend)
        let row = #"{"id":"\#(coffee)","account":"\#(cash)"}"#
        let taken = try ask(desk, "eve", "POST", "entry", row)
        #expect(taken.status == 409 && !taken.text.contains("coffee") && taken.etag == nil, "\(taken.text)")
        #expect(try ask(desk, "eve", "POST", "entry", #"{"id":"1","account":"x"}"#).code == "invalid-id")
        // A bucket that exists and one that does not are refused alike.
        let refusals = try [cash, "nowhere"].map { account in
            try ask(desk, "eve", "POST", "entry", #"{"id":"\#(Self.id(8))","account":"\#(account)"}"#).text
        }
        #expect(refusals[0] == refusals[1] && refusals[0].contains("not-permitted"))
        #expect(try ask(desk, "ann", "POST", "entry", #"{"account":"\#(cash)"}"#).status == 201)
    }

    @Test(arguments: TestBackend.stores)
    func `a receipt tells nothing that its caller may no longer see`(_ backend: TestBackend) throws {
        let desk = try household(backend)
        #expect(try invite(desk) == 201)
        func write() throws -> HTTPResponse {
            try desk.ask(
                "PATCH", "/tables/entry/\(coffee)", #"{"text":"tea"}"#,
                ["X-ZUMO-AUTH": token("bob"), WireHeader.operationID: "o1"])
        }
        let first = try write()
        #expect(first.status == 200 && first.text.contains("tea"))
        #expect(try ask(desk, "ann", "DELETE", "member/\(bobIn)").status == 200)
        let again = try write()
        #expect(again.status == 200 && again.text.contains(#""readable":false"#), "\(again.text)")
        #expect(again.etag == first.etag)
    }
}
