// The SQL page of `studio`: what a statement answers, what is refused, and how one is stopped.

import Foundation
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct StudioSQLTests {
    private func body(_ statement: String, at event: Int? = nil, ticket: String = "t") throws -> String {
        var members: [String: Any] = ["statement": statement, "ticket": ticket]
        if let event { members["at"] = event }
        return String(decoding: try JSONSerialization.data(withJSONObject: members), as: UTF8.self)
    }

    private func ask(
        _ page: StudioPageCall, _ statement: String, at event: Int? = nil
    ) async throws -> (status: Int, answer: [String: Any]) {
        let response = await page.post("sql", try body(statement, at: event))
        return (response.status, try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any] ?? [:])
    }

    private func message(_ answer: [String: Any]) -> String {
        let error = answer["error"] as? [String: Any]
        return "\(error?["message"] ?? "") \(error?["hint"] ?? "")"
    }

    @Test func `a statement is answered as of the moment`() async throws {
        let page = try StudioPageCall(TestLog.story())
        let now = try await ask(page, "select id, text from todoitem order by id").answer
        #expect(now["columns"] as? [String] == ["id", "text"] && now["tables"] as? [String] == ["todoitem"])
        #expect((now["rows"] as? [[String]])?.map { $0[0] } == ["a", "b", "c", "d"])
        #expect(now["count"] as? Int == 4 && now["counted"] as? Bool == true && now["at"] as? Int == 20)
        let then = try await ask(page, "select text from todoitem where id = 'a'", at: 4).answer
        #expect(then["rows"] as? [[String]] == [["milk"]] && then["at"] as? Int == 4)
        #expect((then["command"] as? String)?.hasPrefix("syncline sql --at @4 'select text") == true)
        let both = "select n.id from todoitem n join \"todoitem@4\" o using (id) order by 1"
        #expect(try await ask(page, both).answer["rows"] as? [[String]] == [["a"], ["b"]])
    }

    @Test(arguments: [
        ("selec 1", "syntax error"), ("", "is empty"), ("select * from todoitm", "Did you mean \"todoitem\"?"),
        ("insert into todoitem (id) values ('x')", "would change todoitem"),
        ("delete from todoitem", "would change todoitem"), ("attach 'x.db' as x", "attach"),
        ("select * from \"todoitem@99\"", "no event @99"), ("select 1; select 2", "more than one statement"),
    ])
    func `a wrong statement and one that writes are refused in words`(
        _ statement: String, _ words: String
    ) async throws {
        let log = try TestLog.story()
        let before = try log.bytes
        let (status, answer) = try await ask(try StudioPageCall(log), statement)
        #expect(status == 422 && message(answer).contains(words), "\(answer)")
        #expect(try log.bytes == before)
    }

    @Test func `a long result is cut, and says how long it is`() async throws {
        let page = try StudioPageCall(TestLog.story())
        func series(_ count: Int, _ columns: String = "n") -> String {
            "with recursive s(n) as (select 1 union all select n + 1 from s limit \(count)) select \(columns) from s"
        }
        let some = try await ask(page, series(3000)).answer
        #expect((some["rows"] as? [Any])?.count == 200 && some["count"] as? Int == 3000)
        let many = try await ask(page, series(200_000)).answer
        #expect(many["count"] as? Int == 100_000 && many["counted"] as? Bool == false)
        let wide = try await ask(page, series(3000, (1...100).map { "n c\($0)" }.joined(separator: ", "))).answer
        #expect((wide["rows"] as? [Any])?.count == 40)
        let long = try await ask(page, "select hex(zeroblob(5000)) a, 9007199254740993 b, x'00ff' c, null d").answer
        let row = try #require((long["rows"] as? [[Any]])?.first)
        #expect((row[0] as? String)?.count == 1001 && long["shortened"] as? Bool == true)
        #expect(row[1] as? String == "9007199254740993" && row[2] as? String == "AP8=" && row[3] is NSNull)
    }

    private let endless = "with recursive s(n) as (select 1 union all select n + 1 from s) select max(n) from s"

    @Test func `an endless statement is stopped at its deadline`() async throws {
        let page = try StudioPageCall(TestLog.story(), statementSeconds: 0)
        let (status, answer) = try await ask(page, endless)
        #expect(status == 422 && message(answer).contains("stopped after 0 seconds"), "\(answer)")
    }

    /// Asks until no other statement is running.
    private static func askAlone(_ service: StudioService, _ request: HTTPRequest) async -> String {
        while true {
            let answer = String(decoding: await StudioPageCall.answer(service, request).body, as: UTF8.self)
            if !answer.contains("another statement is running") { return answer }
        }
    }

    @Test func `an endless statement can be cancelled, and another one is refused meanwhile`() async throws {
        let page = try StudioPageCall(TestLog.story())
        let (service, request) = (page.service, page.posting("sql", try body(endless, ticket: "mine")))
        async let running = Self.askAlone(service, request)
        var refusal = ""
        for _ in 0..<100_000 where !refusal.contains("another statement is running") {
            refusal = message(try await ask(page, "select 1").answer)
        }
        #expect(refusal.contains("Cancel it"))
        #expect(await page.post("cancel", #"{"ticket":"other"}"#).body == Array(#"{"stopped":false}"#.utf8))
        #expect(await page.post("cancel", #"{"ticket":"mine"}"#).body == Array(#"{"stopped":true}"#.utf8))
        #expect(await running.contains("was cancelled"))
        #expect(try await ask(page, "select 1").status == 200)
    }

    @Test func `no statement is run without the cookie, or for another page`() async throws {
        let page = try StudioPageCall(TestLog.story())
        let host = ["Host": "127.0.0.1:1"]
        let elsewhere = ["Cookie": "syncline-studio-1=s", "Origin": "http://example.com"].merging(host) { $1 }
        for headers in [host, elsewhere] {
            for path in ["/api/sql", "/api/cancel"] {
                var request = HTTPRequest("POST", path)
                request.headers = headers.map { HTTPHeader($0.key, $0.value) }
                request.body = Array(try body("select 1").utf8)
                #expect(page.service.answer(request).status == 403)
            }
        }
        #expect(page.get("sql", ["statement": "select 1"]).status == 404)
        #expect(await page.post("sql", "{}").status == 400)
        #expect(await page.post("sql", #"{"ticket":"t"}"#).status == 400)
    }

    @Test func `a damaged store is asked, too, and the answer says what it lacks`() async throws {
        let log = try TestLog.story()
        try log.flip("salt", in: TestLog.firstSegment)
        let page = try StudioPageCall(log)
        let answer = try await ask(page, "select count(*) from todoitem").answer
        #expect(answer["whole"] as? Bool == false && answer["rows"] as? [[Int]] == [[3]])
        #expect(try await ask(page, "select count(*) from todoitem", at: 4).answer["whole"] as? Bool == true)
    }
}
