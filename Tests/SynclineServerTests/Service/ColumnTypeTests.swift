// Columns of decimals, dates and UUIDs from the outside: a table whose columns have other types, processes that start at the
// same time, restarts, other programs, patches, batches, tables that others made, and hostile values.

import ChildProcesses
import Foundation
import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ColumnTypeTests {
    private static let columns = #"{"amount":"decimal","at":"date","owner":"uuid","words":"decimal(string)"}"#
    private static let item = """
        {"id":"a","amount":12345678901234567890.12,"at":"2026-05-19T23:30:00.123456+02:00",\
        "owner":"6F9619FF-8b86-D011-B42D-00C04FC964FF","words":"0.070","n":18446744073709551615}
        """

    private func database(_ address: String) throws -> any SQLDatabase {
        switch try StoreAddress(address) {
        case .sqlite(let path): try SQLiteDatabase(path: path)
        case .postgres(let url): try PostgresDatabase(url: url, connections: 2, limits: .patient)
        }
    }

    private func service(
        _ address: String, _ definition: String
    ) throws -> (service: TableAnswers, store: SQLStore, database: any SQLDatabase) {
        let settings = try configuration(#"{"tables":{"t":\#(definition)}}"#)
        let database = try database(address)
        let store = try SQLStore(database, settings.tables, StillEnvironment())
        return (TableAnswers(settings, store, StillEnvironment()), store, database)
    }

    private func ask(
        _ service: TableAnswers, _ method: String, _ target: String, _ body: String? = nil, type: String? = nil
    ) throws -> HTTPResponse {
        var request = try #require(HTTPRequest(method, target: "/tables/" + target))
        request.body = body.map { Array($0.utf8) }
        if let type {
            request.headers = [HTTPHeader("Content-Type", type), HTTPHeader("ZUMO-API-VERSION", "3.0.0")]
        }
        return service.answer(request, url: "http://server")
    }

    @Test(arguments: TestBackend.available)
    func `a restart, another process and a copy of the database show the same values`(_ backend: TestBackend) throws {
        let (address, keeper) = try backend.store()
        defer { withExtendedLifetime(keeper) {} }
        let definition = #"{"columns":\#(Self.columns)}"#
        let first = try service(address, definition)
        let second = try service(address, definition)
        #expect(try ask(first.service, "POST", "t", Self.item).status == 201)
        var text = try ask(second.service, "GET", "t/a").text
        #expect(text.contains(#""amount":12345678901234567890.12,"at":"2026-05-19T21:30:00.123456Z""#), "\(text)")
        #expect(text.contains(#""owner":"6F9619FF-8b86-D011-B42D-00C04FC964FF","words":"0.070""#), "\(text)")
        #expect(text.contains(#""n":18446744073709551615"#), "\(text)")
        // A column that only one process has seen so far.
        #expect(try ask(second.service, "POST", "t", #"{"id":"b","fresh":0.07,"amount":"7"}"#).status == 201)
        let found = try ask(first.service, "GET", "t?$filter=\("fresh eq 0.07 and amount lt 7.5".encoded)")
        #expect(found.ids == ["b"])
        text = try ask(first.service, "GET", "t/a").text
        for (_, store, database) in [first, second] {
            #expect(try store.sweep().isEmpty)
            database.close()
        }
        let third = try service(address, definition)
        #expect(try ask(third.service, "GET", "t/a").text == text)
        #expect(try third.store.sweep().isEmpty)
        third.database.close()
        guard case .sqlite(let path) = try StoreAddress(address) else { return }
        // The file needs none of the server's functions.
        let script = """
            sqlite3 '\(path)' .dump | sqlite3 '\(path).copy' && sqlite3 '\(path).copy' \
            "SELECT amount FROM t WHERE owner LIKE '6f9619ff-%' ORDER BY amount" >'\(path).out'
            """
        guard FileManager.default.isExecutableFile(atPath: "/usr/bin/sqlite3") else { return }
        #expect(try shell(script) == 0)
        #expect(try String(contentsOfFile: path + ".out", encoding: .utf8) == "12345678901234567890.12\n")
        let copy = try service("sqlite:\(path).copy", definition)
        #expect(try ask(copy.service, "GET", "t/a").text == text)
    }

    @Test(arguments: TestBackend.available)
    func `a column that has another type is named when a server starts`(_ backend: TestBackend) throws {
        let (address, keeper) = try backend.store()
        defer { withExtendedLifetime(keeper) {} }
        let first = try service(address, "{}")
        _ = try ask(first.service, "POST", "t", #"{"id":"a","n":1e300,"s":"soon"}"#)
        for (columns, words) in [
            (#"{"n":"decimal"}"#, "column n of table t is number, not decimal"),
            (#"{"s":"date"}"#, "column s of table t is string, not date"),
            (#"{"s":"uuid"}"#, "column s of table t is string, not uuid"),
        ] {
            do {
                _ = try service(address, #"{"columns":\#(columns)}"#)
                Issue.record("\(columns) was accepted")
            } catch let failure as StoreFailure {
                #expect("\(failure)".contains(words), "\(failure)")
            }
        }
        #expect(try ask(first.service, "GET", "t/a").json["s"] == .string("soon"))
        #expect(throws: StartFailure.self) { try configuration(#"{"tables":{"t":{"columns":{"a":"any"}}}}"#) }
    }

    @Test(arguments: TestBackend.available)
    func `patches and batches keep digits`(_ backend: TestBackend) throws {
        let (address, keeper) = try backend.store()
        defer { withExtendedLifetime(keeper) {} }
        let (service, store, _) = try service(address, #"{"columns":\#(Self.columns)}"#)
        #expect(try ask(service, "POST", "t", Self.item).status == 201)
        let patch = #"""
            [{"op":"test","path":"/amount","value":12345678901234567890.12},
            {"op":"replace","path":"/amount","value":12345678901234567890.13},
            {"op":"replace","path":"/owner","value":"6f9619ff-8b86-d011-b42d-00c04fc964ff"}]
            """#
        let patched = try ask(service, "PATCH", "t/a", patch, type: "application/json-patch+json")
        #expect(patched.text.contains(#""amount":12345678901234567890.13"#), "\(patched.status) \(patched.text)")
        #expect(patched.json["owner"] == .string("6f9619ff-8b86-d011-b42d-00c04fc964ff"))
        #expect(patched.json["at"] == .string("2026-05-19T21:30:00.123456Z"))
        let nines = String(repeating: "9", count: 39)
        let batch = """
            {"operations":[{"operation":"update","table":"t","id":"a","item":{"amount":-0.10,"words":0.30}},
            {"operation":"insert","table":"t","item":{"id":"b","amount":\(nines)}},
            {"operation":"insert","table":"t","item":{"id":"c","n":12345678901234567890.12}}]}
            """
        let results = try ask(service, "POST", "$batch", batch).json["results"]
        #expect(results?[0]?["row"]?["amount"]?.json == "-0.10" && results?[0]?["row"]?["words"] == .string("0.30"))
        #expect(results?[1]?["error"]?.string?.contains("amount") == true, "\(results?.json ?? "")")
        #expect(results?[2]?["row"]?["n"]?.json == "12345678901234567890.12")
        // A repeat is answered as the first request was.
        for _ in 0..<2 {
            var request = try #require(HTTPRequest("POST", target: "/tables/t"))
            request.headers = [HTTPHeader(WireHeader.operationID, "once")]
            request.body = Array(#"{"id":"d","amount":1.10,"at":"2026-05-19","words":"2.50"}"#.utf8)
            let text = service.answer(request, url: "http://server").text
            #expect(text.contains(#""amount":1.10,"at":"2026-05-19T00:00:00.000Z","#), "\(text)")
            #expect(text.contains(#""words":"2.50""#), "\(text)")
        }
        #expect(try store.sweep().isEmpty && store.sweep().isEmpty)
    }

    @Test(arguments: TestBackend.available)
    func `a hostile filter is answered or refused, and never fails`(_ backend: TestBackend) throws {
        let (address, keeper) = try backend.store()
        defer { withExtendedLifetime(keeper) {} }
        let (service, _, _) = try service(address, #"{"columns":\#(Self.columns)}"#)
        #expect(try ask(service, "POST", "t", Self.item).status == 201)
        let digits = String(repeating: "9", count: 400)
        for (filter, isFound) in [
            ("amount lt 1e999999", true), ("amount gt -1e999999", true), ("amount eq 1e-999999", false),
            ("amount lt \(digits)", true), ("amount gt \(digits).5", false), ("n lt \(digits)", true),
            ("n lt 1e400", true), ("n ne 1e999999", true), ("n in (1e999999,18446744073709551615)", true),
            ("amount lt '\(digits)'", true), ("owner eq guid'x'", false), ("owner ne guid''", true),
            ("owner eq ''", false), ("owner in ('x',guid'6f9619ff-8b86-d011-b42d-00c04fc964ff')", true),
            ("not (owner eq 'x')", true), ("at gt cast(0001-01-01,Edm.Date)", true),
            ("at lt datetimeoffset'9999-12-31T23:59:59.9999999Z'", true), ("at ne null", true),
            ("amount eq null", false), ("amount add 1 gt 12345678901234567891.11", true), ("-amount lt 0", true),
            ("round(words) eq 0", true), ("words lt '0.08'", true), ("words eq 0.07", true),
        ] {
            let answer = try ask(service, "GET", "t?$filter=\(filter.encoded)")
            #expect(
                answer.status == 200 && answer.ids.count == (isFound ? 1 : 0), "\(filter.prefix(60)) \(answer.text)")
        }
        for filter in [
            "amount eq 'x'", "amount eq true", "at gt datetimeoffset'10000-01-01T00:00:00Z'", "at eq '2026-05-19'",
            "at gt 5", "owner eq 5", "amount eq NaN", "amount eq datetimeoffset'2026-05-19T21:30:00Z'",
        ] {
            let answer = try ask(service, "GET", "t?$filter=\(filter.encoded)")
            #expect(answer.status == 400 || answer.ids.isEmpty, "\(filter) \(answer.text)")
            #expect(answer.status < 500, "\(filter) \(answer.text)")
        }
        for item in [#"{"amount":NaN}"#, #"{"amount":1e99999999999}"#, #"{"n":Infinity}"#, #"{"n":1e99999999999}"#] {
            #expect(try ask(service, "POST", "t", item).status == 400, "\(item)")
        }
    }

    @Test(arguments: TestBackend.available, [false, true])
    func `pages go through numbers and UUIDs in the order of their meaning`(
        _ backend: TestBackend, isOlder: Bool
    ) throws {
        let (address, keeper) = try backend.store()
        defer { withExtendedLifetime(keeper) {} }
        let (service, _, _) = try service(address, #"{"columns":\#(Self.columns)}"#)
        func ids(_ query: String) throws -> String {
            let version = isOlder ? "" : "&ZUMO-API-VERSION=3.0.0"
            let page = try (0..<4).map { page in
                try ask(service, "GET", "t?$top=2&$skip=\(page * 2)&$orderby=\(query)\(version)").ids.joined()
            }
            return page.joined()
        }
        let uuid = "f9619ff-8b86-d011-b42d-00c04fc964ff"
        for (id, amount, owner, number) in [
            ("c", "1.50", "7F9619FF-8B86-D011-B42D-00C04FC964FF", "-1e300"),
            ("a", "1.5", "6" + uuid, "9007199254740993"),
            ("d", "\"1.500\"", "6F" + uuid.dropFirst(), "0"), ("b", "15e-1", "5" + uuid, "9007199254740992"),
            ("e", "-0", "a" + uuid, "1e300"), ("f", "0.00", "A" + uuid, "0.5"),
        ] {
            let item = #"{"id":"\#(id)","amount":\#(amount),"owner":"\#(owner)","n":\#(number)}"#
            let made = try ask(service, "POST", "t", item)
            #expect(made.status == 201, "\(made.text)")
        }
        #expect(try ids("amount") == "efabcd" && ids("amount%20desc") == "abcdef")
        #expect(try ids("owner") == "badcef" && ids("owner%20desc") == "efcadb")
        #expect(try ids("n") == "cdfbae")
        // A number with more digits than a double comes between the others.
        for (id, number) in [("x", "9007199254740992.5"), ("y", "-18446744073709551615")] {
            #expect(try ask(service, "POST", "t", #"{"id":"\#(id)","n":\#(number)}"#).status == 201)
        }
        #expect(try ids("n") == "cydfbxae" && ids("n%20desc") == "eaxbfdyc")
    }

    @Test(arguments: TestBackend.available)
    func `a table that others made is served with the meanings of its types`(_ backend: TestBackend) throws {
        let types =
            backend == .sqlite
            ? ", amount TEXT, price DECIMAL(12,2), at TIMESTAMP, day DATE, owner UUID"
            : ", amount numeric, price numeric(12,2), at timestamptz, day date, owner uuid"
        let declared = #"{"amount":"decimal","price":"decimal","at":"date","day":"date","owner":"uuid"}"#
        let desk = try AdoptedDesk(
            backend, [AdoptedDesk.create(backend, types)],
            definition: backend == .sqlite ? #"{"columns":\#(declared)}"# : "{}")
        let served = try #require(desk.store.schema("t")).columns
        #expect(served.map(\.type) == [.decimal, .decimal, .date, .date, .uuid])
        let item = """
            {"id":"a","amount":12345678901234567890.12,"price":7.25,"at":"2026-05-19T23:30:00.123456+02:00",\
            "day":"2026-05-19","owner":"6F9619FF-8B86-D011-B42D-00C04FC964FF"}
            """
        let made = try desk.ask("POST", "", item).answer
        #expect(made.status == 201, "\(made.text)")
        #expect(made.text.contains(#""amount":12345678901234567890.12,"price":7.25,"#), "\(made.text)")
        #expect(made.json["at"] == .string("2026-05-19T21:30:00.123456Z"), "\(made.text)")
        #expect(made.json["owner"]?.string?.uppercased() == "6F9619FF-8B86-D011-B42D-00C04FC964FF")
        _ = try desk.ask(
            "POST", "", #"{"id":"b","amount":"9","price":-1,"owner":"7F9619FF-8B86-D011-B42D-00C04FC964FF"}"#)
        for (filter, ids) in [
            ("amount gt 12345678901234567890.11", "a"), ("amount lt 10", "b"), ("amount eq '9.0'", "b"),
            ("price eq 7.250", "a"), ("price lt 0", "b"),
            ("owner eq '6f9619ff-8b86-d011-b42d-00c04fc964ff'", "a"),
            ("owner eq guid'7F9619ff-8b86-d011-b42d-00c04fc964ff'", "b"),
            ("at eq cast(2026-05-19T21:30:00.123456Z,Edm.DateTimeOffset)", "a"),
            ("at gt datetimeoffset'2026-05-19T21:30:00.1234559Z'", "a"), ("day eq cast(2026-05-19,Edm.Date)", "a"),
        ] {
            for text in [filter, "\(filter) and length(id) eq 1"] {
                let answer = try desk.ask("GET", "?$filter=\(text.encoded)").answer
                #expect(answer.ids.joined() == ids, "\(text) \(answer.text)")
            }
        }
        for (order, ids) in [("amount", "ba"), ("price", "ba"), ("owner", "ab"), ("at desc", "ab"), ("day", "ba")] {
            #expect(try desk.ask("GET", "?$orderby=\(order.encoded)").answer.ids.joined() == ids, "\(order)")
        }
        // A whole row in another spelling changes nothing; other digits do.
        let whole = made.text.replacing("6F9619FF", with: "6f9619ff")
        #expect(try desk.ask("PUT", "/a", whole, new: true).answer.status == 200)
        #expect(try desk.ask("GET", "/a").answer.json["owner"] == made.json["owner"])
        let more = try desk.ask("PATCH", "/a", #"{"amount":12345678901234567890.13}"#).answer
        #expect(more.json["amount"]?.json == "12345678901234567890.13", "\(more.text)")
    }

    @Test func `a column in which SQLite would round a number refuses it`() throws {
        let desk = try AdoptedDesk(.sqlite, [AdoptedDesk.create(.sqlite, ", price DECIMAL(30,2), n REAL, w TEXT")])
        for (column, number, status) in [
            ("price", "12345678901234567890.12", 400), ("n", "12345678901234567890.12", 400), ("price", "0.07", 201),
            ("n", "9007199254740993", 400), ("price", "18446744073709551615", 400),
            ("price", "9007199254740993", 201), ("w", "9", 400), ("n", "1e300", 201),
        ] {
            let made = try desk.ask("POST", "", #"{"id":"\#(column)\#(number)","\#(column)":\#(number)}"#).answer
            #expect(made.status == status, "\(column) \(number) \(made.text)")
            if status == 400 { #expect(made.json["error"]?.string?.contains("olumn \(column)") == true) }
        }
    }
}
