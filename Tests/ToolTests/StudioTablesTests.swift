// Long tables in the page of `studio`: parts that follow each other by key, and the search for a string.

import Foundation
import SegmentLog
import Syncline
import SynclineCore
import SynclineSQL
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct StudioTablesTests {
    @Test func `a search through the history finds what rows had, as the command does`() async throws {
        let log = try TestLog.story()
        let page = try StudioPageCall(log)
        func found(_ text: String) async throws -> [[String: Any]] {
            let body = try JSONSerialization.data(withJSONObject: ["text": text, "table": "todoitem"])
            let answer = await page.post("debug/search", String(decoding: body, as: UTF8.self))
            #expect(answer.status == 200, "\(answer)")
            let object = try JSONSerialization.jsonObject(with: Data(answer.body)) as? [String: Any]
            return object?["lines"] as? [[String: Any]] ?? []
        }
        // No row has it any more.
        let soy = try await found("SOY")
        #expect(soy.map { $0["event"] as? String } == ["@12"] && soy[0]["parts"] as? [String] == ["", "soy", " milk"])
        #expect(try page.object("search", ["name": "todoitem", "text": "soy"])["matches"] as? [Any] != nil)
        #expect((try page.object("search", ["name": "todoitem", "text": "soy"])["matches"] as? [Any])?.isEmpty == true)
        #expect(try await found("milk").map { $0["event"] as? String } == ["@4", "@5", "@12", "@13", "@15"])
        for text in ["--store=/nowhere", "caviar"] { #expect(try await found(text).isEmpty, "\(text)") }
        #expect(await page.post("debug/search", "{}").status == 400)
    }

    /// A log with rows of one table. Every third one has `milk` within an array, and ids sort differently from events.
    private func log(_ count: Int = 50) throws -> TestLog {
        let log = try TestLog(empty: ())
        let writer = try log.open()
        for number in 0..<count {
            let words: Value = number % 3 == 0 ? .array([.string("Oat MILK"), .integer(1)]) : .string("bread")
            let change = LocalChange(
                kind: .insert, table: "notes", id: "r\(number * 37 % count)",
                columns: Row([.init("text", words), .init("n", .integer(Int64(number % 7)))]))
            try append([change], to: writer)
        }
        try writer.close()
        return log
    }

    private func append(_ changes: [LocalChange], to writer: LogWriter) throws {
        var batch = RecordBatch()
        let transaction = LocalTransaction(changes, isGrouped: changes.count > 1)
        batch.append(Event(time: 1_700_000_000_000, .local(transaction)).bytes)
        try writer.append(batch)
    }

    @Test func `a long value comes with its beginning, and whole on request`() throws {
        let log = try TestLog(empty: ())
        let writer = try log.open()
        let long = String(repeating: "é\u{202e}\"😀", count: 40_000)
        let short = String(repeating: "x", count: 900)
        let list = Value.array((0..<600).map { .integer($0) })
        let values: [(String, Value)] = [("long", .string(long)), ("short", .string(short)), ("list", list), ("n", 7)]
        let row = Row(values.map { .init($0.0, $0.1) })
        try append([LocalChange(kind: .insert, table: "notes", id: "r1", columns: row)], to: writer)
        try writer.close()
        let page = try StudioPageCall(log)
        let found = try page.object("table", ["name": "notes"])
        #expect(page.get("table", ["name": "notes"]).body.count < 8000)
        let sent = try #require((found["rows"] as? [[String: Any]])?.first)
        #expect(Set((sent["row"] as? [String: Any])?.keys.map { $0 } ?? []) == ["id", "short", "n"])
        let cut = try #require(sent["cut"] as? [String: [String: Any]])
        for (name, value) in [("long", Value.string(long)), ("list", list)] {
            // What the page writes is JSON, whose length it counts as browsers do.
            let text = JSONValue(value).text
            #expect(cut[name]?["length"] as? Int == text.utf16.count)
            let part = try #require(cut[name]?["text"] as? String)
            #expect(text.unicodeScalars.starts(with: part.unicodeScalars) && part.unicodeScalars.count == 1000)
            let whole = page.get("value", ["table": "notes", "id": "r1", "field": name])
            #expect(try Value(json: whole.body)[member: "value"] == value)
        }
        #expect(found["columns"] as? [String] == ["long", "short", "list", "n"])
        for query in [["table": "notes", "id": "r2", "field": "n"], ["table": "notes", "id": "r1", "field": "x"]] {
            #expect(try page.object("value", query)["value"] is NSNull)
        }
    }

    /// The ids of all parts of a list.
    private func parts(_ page: StudioPageCall, _ query: [String: String]) throws -> [[String]] {
        var (parts, query) = ([[String]](), query)
        while parts.count < 100 {
            let found = try page.object("table", query)
            let rows = try #require(found["rows"] as? [[String: Any]])
            parts.append(rows.compactMap { ($0["row"] as? [String: Any])?["id"] as? String })
            guard let next = found["next"] as? String else { return parts }
            query["after"] = next
        }
        return parts
    }

    @Test(arguments: ["", "n", "n desc", "id desc", "text,n desc"], [nil, "20"])
    func `parts of a list follow each other, now and at a past moment`(_ order: String, _ at: String?) throws {
        let page = try StudioPageCall(try log())
        var query = ["name": "notes", "order": order, "top": "7"]
        query["at"] = at
        let found = try parts(page, query)
        let count = at == nil ? 50 : 20
        #expect(found.map(\.count) == (0..<(count + 6) / 7).map { min(7, count - $0 * 7) })
        query["top"] = "500"
        #expect(found.flatMap { $0 } == (try parts(page, query)).flatMap { $0 })
        #expect(Set(found.flatMap { $0 }).count == count)
    }

    @Test func `rows that appear or vanish move no row to another part`() throws {
        let log = try log()
        let page = try StudioPageCall(log)
        let query = ["name": "notes", "order": "n", "top": "10"]
        let all = try parts(page, query).flatMap { $0 }
        let next = try #require(try page.object("table", query)["next"] as? String)
        let writer = try log.open()
        // The last row of the first part is removed, too: the next part begins after its place.
        try append(
            [
                LocalChange(kind: .delete, table: "notes", id: all[0], columns: .empty),
                LocalChange(kind: .delete, table: "notes", id: all[9], columns: .empty),
                LocalChange(kind: .insert, table: "notes", id: "a", columns: Row([.init("n", .integer(-1))])),
            ], to: writer)
        try writer.close()
        #expect(try parts(page, query.merging(["after": next]) { $1 }).flatMap { $0 } == Array(all[10...]))
    }

    @Test func `a place in another order is refused, and so is nonsense`() throws {
        let page = try StudioPageCall(try log())
        let next = try #require(try page.object("table", ["name": "notes", "top": "5"])["next"] as? String)
        for (after, order) in [(next, "n"), ("nonsense", ""), ("00", ""), (String(next.dropLast(2)), "")] {
            let response = page.get("table", ["name": "notes", "order": order, "after": after])
            #expect(response.status == 400, "\(after)")
        }
    }

    @Test func `rows that match a filter are counted`() throws {
        let page = try StudioPageCall(try log())
        let found = try page.object("count", ["name": "notes", "filter": "n lt 3", "at": "14"])
        #expect(found["count"] as? Int == 6)
        #expect(page.get("count", ["name": "notes", "filter": "n lt"]).status == 400)
    }

    // MARK: Search

    private func matches(_ found: [String: Any]) -> [String] {
        (found["matches"] as? [[String: Any]] ?? []).compactMap { $0["id"] as? String }
    }

    @Test func `a string is found in any case, within other values, and in ids`() throws {
        let page = try StudioPageCall(try log(20))
        let found = try page.object("search", ["name": "notes", "text": "t mil"])
        #expect(matches(found).count == 7 && found["read"] as? Int == 20 && found["next"] is NSNull)
        let match = try #require((found["matches"] as? [[String: Any]])?.first)
        #expect(match["column"] as? String == "text" && match["parts"] as? [String] == ["Oa", "t MIL", "K"])
        #expect(found["by"] as? String == "rows")
        #expect(matches(try page.object("search", ["name": "notes", "text": "R19"])) == ["r19"])
        #expect(matches(try page.object("search", ["name": "notes", "text": "milk", "at": "4"])).count == 2)
        #expect(matches(try page.object("search", ["name": "nothing", "text": "milk"])).isEmpty)
        #expect(page.get("search", ["name": "notes"]).status == 400)
    }

    @Test func `a search asks the full-text index of the app, if it is at the moment`() async throws {
        let log = try TestLog(empty: ())
        let database = try await SyncDatabase.open(at: log.path)
        try await database.rows(of: "notes").insert(["id": "a", "text": "oat milk"])
        try await database.rows(of: "notes").insert(["id": "b", "text": "milk and buttermilk"])
        try await FullText(database, [FullTextIndex("notes", columns: ["text"])]).update()
        try await database.close()
        let page = try StudioPageCall(log)
        let query = ["name": "notes", "text": "and milk"]
        let found = try page.object("search", query)
        #expect(found["by"] as? String == "index" && matches(found) == ["b"])
        let match = try #require((found["matches"] as? [[String: Any]])?.first)
        #expect(match["parts"] as? [String] == ["", "milk", " ", "and", " buttermilk"])
        #expect(try page.object("search", query.merging(["by": "rows"]) { $1 })["by"] as? String == "rows")
        #expect(try page.object("search", query.merging(["at": "2"]) { $1 })["by"] as? String == "rows")
    }

    @Test func `a search reads a bounded number of rows, and continues after them`() throws {
        let log = try log()
        let reader = try StudioStates(POSIXStorage(directory: log.path)).settled(at: nil).reader
        let whole = try RowSearch("milk").run(reader, "notes", from: nil)
        #expect(whole.matches.count == 17 && whole.read == 50 && whole.next == nil)
        for (search, rows) in [(RowSearch("milk", rows: 8), 8), (RowSearch("milk", matches: 3), 50)] {
            var (ids, read, key) = ([String](), 0, [UInt8]?.none)
            repeat {
                let part = try search.run(reader, "notes", from: key)
                #expect(part.read <= rows && part.matches.count <= max(3, rows))
                ids += part.matches.map(\.id)
                read += part.read
                key = part.next
            } while key != nil && read < 100
            #expect(ids == whole.matches.map(\.id) && read == 50)
        }
    }

    @Test(arguments: [
        ("straße", "RASSE", false), ("Élan vital", "éLAN", true), ("a", "ab", false), ("aab", "ab", true),
    ])
    func `letters of any alphabet are compared without case`(_ text: String, _ part: String, _ isFound: Bool) {
        #expect((RowSearch(part).range(in: text) != nil) == isFound)
    }
}
