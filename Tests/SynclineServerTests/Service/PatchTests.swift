// JSON patches of rows.

import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct PatchTests {
    /// Patches a row as a client of the newer protocol does.
    private func patch(
        _ desk: ServiceDesk, _ path: String, _ operations: String, _ headers: [String: String] = [:], new: Bool = true
    ) throws -> HTTPResponse {
        let headers = headers.merging(["Content-Type": "application/json-patch+json; charset=utf-8"]) { $1 }
        return try desk.ask("PATCH", "/tables/\(path)", operations, headers, new: new)
    }

    @Test(arguments: TestBackend.stores)
    func `a patch changes only what it names`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let before = try desk.ask(
            "POST", "/tables/fixed", #"{"id":"a","text":"one","n":1,"d":"2026-05-19T21:30:00Z","j":{"list":[1,2]}}"#)
        let answer = try patch(
            desk, "fixed/a",
            """
            [{"op":"test","path":"/text","value":"one"},{"op":"replace","path":"/n","value":2},
            {"op":"add","path":"/j/list/-","value":3},{"op":"remove","path":"/text"},
            {"op":"test","path":"/version","value":"\(before.json["version"]?.string ?? "")"}]
            """, ["If-Match": before.etag ?? ""])
        #expect(answer.status == 200 && answer.etag != before.etag, "\(answer.text)")
        #expect(answer.json["n"] == .integer(2) && answer.json["text"] == .null)
        #expect(answer.json["j"]?.json == #"{"list":[1,2,3]}"#)
        #expect(answer.json["d"] == .string("2026-05-19T21:30:00.000Z"))
        #expect(try desk.ask("GET", "/tables/fixed/a", new: true).text == answer.text)
    }

    @Test(arguments: TestBackend.stores)
    func `an impossible migration changes nothing`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let row = try desk.ask("POST", "/tables/fixed", #"{"id":"a","text":"one","n":1}"#)
        for (operations, code) in [
            (#"[{"op":"replace","path":"/n","value":2},{"op":"test","path":"/text","value":"two"}]"#, "patch-failed"),
            (#"[{"op":"remove","path":"/nope"}]"#, "patch-failed"),
            (#"[{"op":"replace","path":"/n","value":"text"}]"#, "invalid-value"),
            (#"[{"op":"add","path":"/nope","value":1}]"#, "unknown-column"),
            (#"[{"op":"replace","path":"/id","value":"b"}]"#, "reserved-column"),
            (#"[{"op":"replace","path":"/version","value":"b"}]"#, "reserved-column"),
            (#"[{"op":"replace","path":"/deleted","value":true}]"#, "reserved-column"),
            (#"[{"op":"remove","path":"/updatedAt"}]"#, "reserved-column"),
            (#"[{"op":"replace","path":"","value":1}]"#, "invalid-patch"),
            (#"[{"op":"spam"}]"#, "invalid-patch"), (#"{"text":"x"}"#, "invalid-patch"), ("[", "invalid-json"),
        ] {
            let answer = try patch(desk, "fixed/a", operations)
            #expect(answer.status == 400 && answer.json["code"] == .string(code), "\(operations) \(answer.text)")
        }
        // It is never made too deep to be read again.
        let deeper = (0..<999).map { #"{"op":"add","path":"/j\#(String(repeating: "/a", count: $0))","value":{}}"# }
        let deep = try patch(desk, "fixed/a", "[\(deeper.joined(separator: ","))]")
        #expect(deep.status == 400 && deep.json["code"] == .string("patch-failed"), "\(deep.text.prefix(200))")
        #expect(try desk.ask("GET", "/tables/fixed/a").text == row.text)
        #expect(try patch(desk, "fixed/a", "[]", new: false).status == 415, "the older protocol has no patches")
        #expect(try patch(desk, "fixed", "[]").json["code"] == .string("missing-id"))
        #expect(try patch(desk, "fixed/none", #"[{"op":"test","path":"/n","value":1}]"#).status == 404)
        let stale = try patch(
            desk, "fixed/a", #"[{"op":"test","path":"/n","value":7}]"#, ["If-Match": "\"AAAAAAAAAAk=\""])
        #expect(stale.status == 412 && stale.json["n"] == .integer(1), "the condition is looked at first")
    }

    @Test(arguments: TestBackend.stores)
    func `a deleted row comes back only if the patch says so`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        _ = try desk.ask("POST", "/tables/todoitem", #"{"id":"a","text":"one"}"#)
        _ = try desk.ask("DELETE", "/tables/todoitem/a")
        // A client that sends whole rows includes it in each of them, without meaning anything.
        #expect(try desk.ask("PATCH", "/tables/todoitem/a", #"{"text":"x","deleted":false}"#, new: true).status == 410)
        #expect(try patch(desk, "todoitem/a", #"[{"op":"replace","path":"/text","value":"x"}]"#).status == 410)
        let back = #"[{"op":"replace","path":"/deleted","value":false},{"op":"replace","path":"/text","value":"x"}]"#
        let answer = try patch(desk, "todoitem/a", back)
        #expect(answer.status == 200 && answer.json["deleted"] == .bool(false) && answer.json["text"] == .string("x"))
    }

    @Test func `no user can patch or see a row of another user`() throws {
        let desk = try ServiceDesk()
        let (anna, ben) = (["X-ZUMO-AUTH": token("anna")], ["X-ZUMO-AUTH": token("ben")])
        _ = try desk.ask("POST", "/tables/mine", #"{"id":"a","text":"secret"}"#, anna)
        for value in ["secret", "other"] {
            let answer = try patch(desk, "mine/a", #"[{"op":"test","path":"/text","value":"\#(value)"}]"#, ben)
            #expect(answer.status == 404 && !answer.text.contains("secret"))
        }
        let own = try patch(desk, "mine/a", #"[{"op":"replace","path":"/text","value":"x"}]"#, anna)
        #expect(own.status == 200)
        #expect(try patch(desk, "readonly/a", #"[]"#).status == 405)
    }
}
