// The command of each view of the page, and the view as a file.

import Foundation
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct StudioViewTests {
    private static let views: [[String: String]] = [
        ["view": "status"], ["view": "events"], ["view": "events", "kind": "local", "in": "todoitem"],
        ["view": "events", "kind": "local,undo,drop", "in": "todoitem"], ["view": "events", "only": "todoitem/a"],
        ["view": "events", "kind": "sent,answer", "only": "todoitem/a"], ["view": "events", "kind": "lost"],
        ["view": "events", "outcome": "problem"],
        ["view": "events", "outcome": "conflict", "kind": "answer", "in": "todoitem"],
        ["view": "event", "at": "3"], ["view": "event"], ["view": "row", "row": "todoitem/a", "at": "5"],
        ["view": "row", "row": "todoitem/a", "field": "text"],
        ["view": "tables", "table": "todoitem", "order": "text desc", "filter": "text ne 'x'", "at": "4"],
        ["view": "tables", "table": "todoitem", "search": "milk"],
        ["view": "tables", "table": "todoitem", "search": "soy", "by": "history"], ["view": "log", "bytes": "sizes"],
        ["view": "log", "bytes": "HEAD"],
        ["view": "sql", "statement": "select * from todoitem"], ["view": "outbox", "at": "5"], ["view": "conflicts"],
        ["view": "syncs"], ["view": "debugger", "ask": "bisect", "condition": "pending gt 0"], ["view": "log"],
        ["view": "log", "bytes": "s1"], ["view": "log", "bytes": "@3"],
    ]

    private func ask(_ page: StudioPageCall, _ path: String, _ view: [String: String]) async throws -> HTTPResponse {
        let body = try JSONSerialization.data(withJSONObject: view)
        return await page.post(path, String(decoding: body, as: UTF8.self))
    }

    @Test(arguments: views) func `a view is a command, and a file of what the command prints`(_ view: [String: String])
        async throws
    {
        let page = try StudioPageCall(TestLog.story())
        let answer = try await ask(page, "command", view)
        let command = try Value(json: answer.body)[member: "command"]
        guard case .string(let text)? = command else {
            Issue.record("no command: \(view)")
            return
        }
        #expect(text.hasPrefix("syncline "))
        let file = try await ask(page, "export", view)
        #expect(file.status == 200, "\(text): \(String(decoding: file.body, as: UTF8.self))")
        #expect((try? Value(json: file.body)) != nil, "\(text)")
        let csv = try await ask(page, "export", view.merging(["form": "csv"]) { $1 })
        #expect(csv.status == 200 && csv.headers.value("Content-Type") == "text/csv; charset=utf-8")
    }

    @Test func `the charts are a file without a command, and a view without a choice is neither`() async throws {
        let page = try StudioPageCall(TestLog.story())
        #expect(try await ask(page, "command", ["view": "charts"]).body == Array(#"{"command":null}"#.utf8))
        let points = try await ask(page, "export", ["view": "charts", "form": "csv"])
        #expect(String(decoding: points.body, as: UTF8.self).hasPrefix("n,time,made,done,pending,age,bytes\n"))
        for view in [["view": "row"], ["view": "sql"], ["view": "nothing"]] {
            #expect(try await ask(page, "command", view).body == Array(#"{"command":null}"#.utf8), "\(view)")
            #expect(try await ask(page, "export", view).status == 422, "\(view)")
        }
        #expect(page.service.answer(page.posting("export", "[]")).status == 422)
        #expect(page.service.answer(page.posting("export", "{")).status == 400)
    }

    @Test func `what a person writes is never an option or another statement`() throws {
        func words(_ view: [String: String]) throws -> [String] {
            StudioView(try Value(json: JSONSerialization.data(withJSONObject: view))).words ?? []
        }
        for view in [
            ["view": "row", "row": "--store=/nowhere"], ["view": "tables", "table": "--store=/nowhere"],
            ["view": "tables", "table": "a", "search": "--store=/nowhere"],
            ["view": "log", "bytes": "--store=/nowhere"],
            ["view": "sql", "statement": "--store=/nowhere"],
        ] {
            let words = try words(view)
            #expect(try #require(words.firstIndex(of: "--")) < #require(words.firstIndex(of: "--store=/nowhere")))
        }
        #expect(
            try words(["view": "events", "kind": "a,b') or 1", "only": "t/i'/@1"]) == [
                "sql",
                #"select * from syncline_events where cause in ('a', 'b'') or 1') and "table" = 't' and id = 'i''/@1'"#,
            ])
        #expect(
            try words(["view": "events", "outcome": "problem", "in": "it's"]) == [
                "sql",
                "select * from syncline_events where outcome in ('conflict', 'failing', 'parked')"
                    + " and \"table\" = 'it''s'",
            ])
        #expect(try words(["view": "debugger", "ask": "resolve", "table": "t", "id": "i", "choice": "merge"]).isEmpty)
        #expect(try words(["view": "outbox", "at": "@9 --x"]) == ["inspect", "outbox"])
    }

    @Test func `the command of an outcome finds the events that the list shows`() async throws {
        let page = try StudioPageCall(TestLog.story())
        try page.summary()
        var found = 0
        for outcome in ["problem"] + StudioIndex.outcomes.dropFirst() {
            let view = ["view": "events", "outcome": outcome]
            let listed = try page.object("lines", ["outcome": outcome, "fold": "off", "top": "500"])["lines"]
            let numbers = (listed as? [[String: Any]] ?? []).compactMap { $0["n"] as? Int }
            let file = try await ask(page, "export", view)
            let rows = try JSONSerialization.jsonObject(with: Data(file.body)) as? [[String: Any]] ?? []
            #expect(Set(rows.compactMap { $0["event"] as? Int }) == Set(numbers), "\(outcome)")
            found += numbers.count
        }
        #expect(found > 3)
    }

    @Test func `a file that is too large or takes too long is refused with the way out`() async throws {
        let page = try StudioPageCall(TestLog.story(), statementSeconds: 0)
        let late = try await ask(page, "export", ["view": "sql", "statement": "select * from todoitem"])
        #expect(late.status == 422 && String(decoding: late.body, as: UTF8.self).contains("stopped after"))
    }
}
