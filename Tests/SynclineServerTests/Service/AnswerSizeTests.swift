// Responses are limited in bytes: a page ends early with a link to continue, a batch leaves rows out and says so.

import Syncline
import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct AnswerSizeTests {
    private let limits = #","limits":{"answerBytes":100000,"bodyBytes":90000}"#
    private static let large = String(repeating: "x", count: 30_000)

    /// Seven rows, of which a response holds three.
    private func desk(_ backend: TestBackend) throws -> ServiceDesk {
        let desk = try ServiceDesk(backend, more: limits)
        for id in ["a", "b", "c", "d", "e", "f", "g"] {
            for table in ["todoitem", "hard"] {
                let body = #"{"id":"\#(id)","text":"\#(Self.large)"}"#
                #expect(try desk.ask("POST", "/tables/\(table)", body).status == 201)
            }
        }
        return desk
    }

    @Test(arguments: TestBackend.stores, [true, false])
    func `a page ends before it is too large, and leads to the next`(_ backend: TestBackend, _ isNew: Bool) throws {
        let desk = try desk(backend)
        // By a time, by nothing, by a column, with a filter of the database's and one of the evaluator's.
        for query in [
            "$orderby=updatedAt", "", "$orderby=text,id", "$filter=" + "startswith(text,'x')".encoded,
            "$filter=" + "tolower(text) ne 'y'".encoded, "$orderby=updatedAt&$top=6", "$skip=1",
        ] {
            var next: String? = "/tables/todoitem?" + query
            var pages: [[String]] = []
            while let target = next, pages.count < 9 {
                let page = try desk.ask("GET", target, new: isNew)
                #expect(page.status == 200 && page.body.count < 110_000)
                pages.append(page.ids)
                next =
                    isNew
                    ? page.json["nextLink"]?.string.map { "/tables/todoitem?" + $0 }
                    : page.headers.value("Link").map { String($0.dropFirst(18).prefix { $0 != ";" }) }
            }
            let wanted =
                query.contains("top")
                ? [["a", "b", "c"], ["d", "e", "f"]]
                : query.contains("skip")
                    ? [["b", "c", "d"], ["e", "f", "g"]] : [["a", "b", "c"], ["d", "e", "f"], ["g"]]
            #expect(pages == wanted, "\(query)")
        }
        let counted = try desk.ask("GET", "/tables/todoitem?$inlinecount=allpages&$count=true", new: isNew)
        #expect(counted.json["count"] == .integer(7) && counted.ids == ["a", "b", "c"])
    }

    @Test(arguments: TestBackend.stores, ["todoitem", "hard"])
    func `a page of changes ends early at a cursor`(_ backend: TestBackend, _ table: String) throws {
        let desk = try desk(backend)
        // Tombstones are between the rows.
        for id in ["a", "d"] { _ = try desk.ask("DELETE", "/tables/\(table)/\(id)") }
        _ = try desk.ask("PATCH", "/tables/\(table)/b", #"{"complete":true}"#)
        var since = ""
        var ids: [String] = []
        for _ in 0..<9 {
            let page = try desk.ask("GET", "/tables/\(table)/changes?since=\(since)&$count=true")
            #expect(page.body.count < 110_000)
            #expect(page.json["count"] == .integer(Int64(7 - ids.count)), "\(ids)")
            ids += page.ids
            since = try #require(page.json["cursor"]?.string)
            if page.json["hasMore"] == .bool(false) { break }
        }
        #expect(ids == ["c", "e", "f", "g", "a", "d", "b"])
    }

    @Test(arguments: TestBackend.stores)
    func `a row that has grown counts with its new size`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, more: limits)
        // Each character takes six bytes in the response.
        let text = String(repeating: #"\u0001"#, count: 5000)
        for id in ["a", "b", "c", "d", "e"] {
            _ = try desk.ask("POST", "/tables/todoitem", #"{"id":"\#(id)","text":"\#(text)"}"#)
        }
        let page = try desk.ask("GET", "/tables/todoitem", new: true)
        #expect(page.ids == ["a", "b", "c"] && page.json["nextLink"]?.string != nil)
        let changes = try desk.ask("GET", "/tables/todoitem/changes?since=")
        #expect(changes.ids == ["a", "b", "c"] && changes.json["hasMore"] == .bool(true))
        let rest = try desk.ask("GET", "/tables/todoitem/changes?since=\(changes.json["cursor"]?.string ?? "")")
        #expect(rest.ids == ["d", "e"] && rest.json["hasMore"] == .bool(false))
    }

    @Test(arguments: TestBackend.stores)
    func `a batch omits rows beyond the limit and says so`(_ backend: TestBackend) throws {
        let desk = try desk(backend)
        let updates = ["a", "b", "c", "d", "e"].map {
            #"{"operation":"update","table":"todoitem","id":"\#($0)","item":{"complete":true}}"#
        }
        let stale =
            #"{"operation":"update","table":"todoitem","id":"f","item":{"complete":true},"ifMatch":"AAAAAAAAAAk="}"#
        let body = #"{"operations":[\#((updates + [stale]).joined(separator: ","))]}"#
        let answer = try desk.ask("POST", "/tables/$batch", body)
        #expect(answer.status == 200 && answer.body.count < 110_000)
        guard case .array(let results)? = answer.json["results"] else { return }
        #expect(results.map { $0["status"] } == [200, 200, 200, 200, 200, 412].map { .integer($0) })
        #expect(results.map { $0["row"] != nil } == [true, true, true, false, false, false])
        #expect(results.map { $0["rowOmitted"] == .bool(true) } == [false, false, false, true, true, true])
        #expect(results[4]["id"] == .string("e"))
        let row = try desk.ask("GET", "/tables/todoitem/e")
        #expect(row.json["complete"] == .bool(true) && row.json["version"] == results[4]["version"])
        // Without rows there is nothing to leave out.
        let short = try desk.ask("POST", "/tables/$batch", #"{"rows":false,"# + body.dropFirst())
        #expect(!short.text.contains(#""status":200,"rowOmitted"#) && short.json["results"]?[5]?["row"] != nil)
    }

    @Test(arguments: TestBackend.available, [true, false])
    func `large work is done in parts with the same result`(_ backend: TestBackend, _ stops: Bool) throws {
        let desk = try ServiceDesk(backend)
        let text = String(repeating: "x", count: 1_000_000)
        #expect(try desk.ask("POST", "/tables/todoitem", #"{"id":"a","text":"\#(text)"}"#).status == 201)
        func write(_ id: String, _ number: Int64) -> TableWrite {
            TableWrite(.update(Row([.init("n", .integer(number))])), table: "todoitem", id: id, serverProtocol: .zumo2)
        }
        var groups = (0..<40).map { [write("a", $0)] }
        groups[25] = [write("a", 99), write("none", 1)]
        func kept() -> Double? {
            desk.store.measures.first { $0.name == "syncline_transactions_total" }?.samples.first?.value
        }
        let before = try #require(kept())
        let outcomes = try desk.store.write(groups, stopsAtRefusal: stops)
        // Each operation reads and writes a megabyte: three are enough for one transaction.
        #expect(kept() == before + (stops ? 9 : 14))
        #expect(outcomes.count == 40 && outcomes.map(\.count) == groups.map(\.count))
        #expect(outcomes.enumerated().allSatisfy { ($1[0].isRefused) == ($0 == 25 || stops && $0 > 25) })
        #expect(try desk.store.row("todoitem", id: "a")?.columns["n"] == .integer(stops ? 24 : 39))
        let told = outcomes.joined().filter { $0.row?.isBare == false }
        #expect(told.count == 4, "the bound on the answer holds for all parts together")
        let whole = try desk.store.write([(0..<40).map { write("a", $0 + 100) }], stopsAtRefusal: false)[0]
        let codes = whole.map { outcome in if case .refused(let refusal, _) = outcome { refusal.code } else { "" } }
        #expect(Set(codes) == ["group-refused", "group-too-large"])
        #expect(try desk.store.row("todoitem", id: "a")?.columns["n"] == .integer(stops ? 24 : 39))
    }

    @Test(arguments: TestBackend.stores)
    func `a row has a largest size`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, more: limits)
        let text = String(repeating: "x", count: 60_000)
        #expect(try desk.ask("POST", "/tables/todoitem", #"{"id":"a","text":"\#(text)"}"#).status == 201)
        let large = try desk.ask("PATCH", "/tables/todoitem/a", #"{"more":"\#(text)"}"#)
        #expect(large.status == 413 && large.json["code"] == .string("too-large"), "\(large.text.prefix(200))")
        #expect(try desk.ask("PATCH", "/tables/todoitem/a", #"{"complete":true}"#).status == 200)
    }

    @Test(arguments: TestBackend.available)
    func `an answer that is too large is remembered without its row`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, more: limits.replacing("}", with: #","rememberedBytes":1000}"#))
        let name = [WireHeader.operationID: "o"]
        let body = #"{"id":"a","text":"\#(Self.large)"}"#
        #expect(try desk.ask("POST", "/tables/todoitem", body, name).json["text"] == .string(Self.large))
        let again = try desk.ask("POST", "/tables/todoitem", body, name)
        #expect(again.status == 201 && again.json["text"] == .string(Self.large), "the row is still as it was then")
        _ = try desk.ask("PATCH", "/tables/todoitem/a", #"{"complete":true}"#)
        let later = try desk.ask("POST", "/tables/todoitem", body, name)
        #expect(
            later.status == 201 && later.text == #"{"rowOmitted":true}"# && later.etag != nil,
            "\(later.text.prefix(99))")
        // One request keeps no more than a response holds.
        let half = String(repeating: "y", count: 700)
        let operations = (0..<200).map {
            #"{"operation":"insert","table":"todoitem","item":{"id":"n\#($0)","text":"\#(half)"},"operationId":"p\#($0)"}"#
        }
        for part in [operations[..<100], operations[100...]] {
            let batch = #"{"operations":[\#(part.joined(separator: ","))]}"#
            #expect(try desk.ask("POST", "/tables/$batch", batch).status == 200)
        }
        var size: Int64 = 0
        try desk.store.database.read { connection throws(StoreFailure) in
            let statement: SQLStatement = #"SELECT sum(length("row")) FROM "syncline_operations""#
            size = try connection.first(statement, count: 1)?[0].integer ?? 0
        }
        #expect(size < 210_000)
    }

    @Test(arguments: TestBackend.stores, ServerProtocol.allCases)
    func `a client reads rows that an answer left out, and continues after a page that was cut`(
        _ backend: TestBackend, _ protocolVersion: ServerProtocol
    ) async throws {
        for capabilities in [true, false] {
            let desk = try ClientDesk(backend, protocolVersion, more: limits)
            desk.line.tellCapabilities(capabilities)
            let store = try await desk.store("s")
            for number in 0..<12 { try await store.insert("r\(number)", Self.large) }
            #expect(try await store.push().outcome == .complete)
            for number in 0..<12 { try await store.update("r\(number)", Self.large + "2") }
            #expect(try await store.push().outcome == .complete)
            #expect(try await store.column("version") == desk.truth())
            let other = try await desk.store("o")
            try await other.pullAll()
            #expect(try await other.column("version") == desk.truth())
            #expect(try await store.conflicts().isEmpty)
            try await store.close()
            try await other.close()
        }
    }
}
