// The answers to the page of `studio`: what it asks for, what a browser would not send, and damaged logs.

import Foundation
import SegmentLog
import StudioPage
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct StudioServiceTests {
    @Test func `numbers of any size are answered`() throws {
        let page = try StudioPageCall(TestLog.story())
        try page.summary()
        let numbers = ["0", "1", "9223372036854775807", "18446744073709551615", "99999999999999999999", "-1", "x", ""]
        for (path, names) in [
            ("lines", ["skip", "top", "find", "open"]), ("event", ["n"]), ("table", ["at", "after", "top"]),
            ("count", ["at"]), ("columns", ["at"]), ("search", ["at", "from"]), ("tables", ["at"]),
            ("outbox", ["at", "skip", "top"]),
            ("conflicts", ["at"]), ("row", ["at"]), ("value", ["at", "field"]), ("sizes", ["x"]),
            ("timeline", ["from", "to", "count"]), ("syncs", ["skip", "top"]), ("requests", ["session"]),
            ("moment", ["time"]), ("time", ["n"]), ("find", ["text"]), ("charts", ["x"]),
            ("files", ["x"]), ("frames", ["skip", "holding", "top"]), ("bytes", ["skip", "top"]),
        ] {
            for name in names {
                for number in numbers {
                    var query = [name: number]
                    if ["table", "columns", "count", "search"].contains(path) { query["name"] = "todoitem" }
                    query.merge(["file": "s1", "address": "@1"]) { mine, _ in mine }
                    if path == "search" { query["text"] = "milk" }
                    if ["row", "value"].contains(path) { query.merge(["table": "todoitem", "id": "a"]) { $1 } }
                    let response = page.get(path, query)
                    #expect([200, 400].contains(response.status), "\(path) \(query)")
                    #expect((try? Value(json: response.body)) != nil, "\(path) \(query)")
                }
            }
        }
        #expect(page.service.answer(page.request("POST", "/api/lines")).status == 405)
        #expect(page.service.answer(page.request("GET", "/etc/passwd")).status == 404)
    }

    @Test func `the executable holds every file of the page, and the page asks for no other`() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "../../tools/syncline/Page").standardized
        let page = try StudioPageCall(TestLog.story())
        for name in try FileManager.default.contentsOfDirectory(atPath: folder.path) where !name.hasSuffix(".swift") {
            let path = name == "page.html" ? "/" : "/" + name
            let response = page.service.answer(page.request("GET", path))
            let file = try Data(contentsOf: folder.appending(path: name))
            #expect(response.status == 200 && Data(response.body) == file, "\(name)")
            let policy = response.headers.value("Content-Security-Policy") ?? ""
            #expect(policy.contains("script-src 'self'") && !policy.contains("unsafe"), "\(name)")
            let text = String(decoding: file, as: UTF8.self)
            for match in text.matches(of: #/(?:src|href)="(\/[^"]+)"|from '\.(\/[^']+)'/#) {
                let asked = String(match.1 ?? match.2 ?? "")
                #expect(StudioPage.files[asked] != nil, "\(name) asks for \(asked)")
            }
        }
    }

    @Test func `a row's address from the page is never taken for an option`() async throws {
        let log = try TestLog.story()
        let choice = ##"{"table":"--store=/nowhere","id":"x","choice":"merge"}"##
        #expect(await (try StudioPageCall(log)).post("resolve", choice).status == 403)
        let page = try StudioPageCall(log, mayWrite: true)
        let response = await page.post("resolve", choice)
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(response.status == 422 && !text.contains("nowhere\"") && text.contains("conflict"), "\(text)")
        #expect(await page.post("resolve", #"{"table":"todoitem","id":"a","choice":"compact"}"#).status == 400)
        // A decision has one path, which asks whether the page may write.
        #expect(await (try StudioPageCall(log)).post("debug/resolve", choice).status == 405)
        let words = StudioDebugger.words("bisect", .object([.init("condition", .string("--policy"))]))
        #expect(words == ["replay", "--bisect=--policy"])
    }

    private func batch(_ event: [UInt8]) -> RecordBatch {
        var batch = RecordBatch()
        batch.append(event)
        return batch
    }

    @Test func `events and times in values are a part of the value, and a time before the first event is refused`()
        throws
    {
        let log = try TestLog.story()
        let writer = try log.open()
        let odd = "see @3 on 2026-05-19T21:30:00.000Z and `rm`"
        let change = LocalChange(
            kind: .insert, table: "todoitem", id: "odd", columns: Row([.init("text", .string(odd))]))
        try writer.append(
            batch(Event(time: 1_900_000_000_000, .local(LocalTransaction([change], isGrouped: false))).bytes))
        try writer.close()
        let page = try StudioPageCall(log)
        let why = try #require(page.object("row", ["table": "todoitem", "id": "odd"])["why"] as? [String: Any])
        let parts = try #require(why["parts"] as? [[Any]]).flatMap { $0 }
        let last = Story.events.count + 1
        #expect(parts.compactMap { ($0 as? [String: Any])?["event"] as? Int }.allSatisfy { $0 == last })
        #expect(parts.contains { ($0 as? String)?.contains(odd) == true })
        #expect(parts.contains { ($0 as? [String: Any])?["time"] as? Int == 1_900_000_000_000 })
        _ = try page.summary()
        #expect(page.get("moment", ["time": "1"]).status == 400)
    }

    @Test func `the page follows an app that writes`() throws {
        let log = try TestLog.story()
        let page = try StudioPageCall(log)
        let before = try page.summary()
        #expect(before["last"] as? Int == Story.events.count)
        #expect(try page.object("counts")["pending"] as? Int == 1)
        let writer = try log.open()
        var batch = RecordBatch()
        let change = LocalChange(
            kind: .insert, table: "todoitem", id: "new", columns: Row([.init("text", .string("tea"))]))
        batch.append(Event(time: 1_700_009_000_000, .local(LocalTransaction([change], isGrouped: false))).bytes)
        try writer.append(batch)
        let after = try page.summary()
        #expect(after["last"] as? Int == Story.events.count + 1)
        #expect(try page.object("counts")["pending"] as? Int == 2)
        let lines = try page.object(
            "lines", ["skip": "0", "top": "1", "kinds": "local", "table": "todoitem", "id": "new"])
        #expect(lines["count"] as? Int == 1)
        let rows = try page.object("table", ["name": "todoitem", "filter": "text eq 'tea'"])
        #expect((rows["rows"] as? [Any])?.count == 1)
        try writer.close()
    }

    @Test(arguments: [
        ("@7", #"{"event":7}"#), ("@-1", #"{"event":20}"#), ("2023-11-14T22:16:30Z", #"{"event":4}"#),
        ("todoitem/a", #"{"table":"todoitem","id":"a"}"#),
        ("todoitem/a@5", #"{"table":"todoitem","id":"a","event":5}"#),
        ("b", #"{"table":"todoitem","id":"b"}"#), ("~1", #"{"table":"todoitem","id":"b"}"#),
    ])
    func `the box takes events, times, rows and operations`(_ text: String, _ answer: String) throws {
        let page = try StudioPageCall(TestLog.story())
        try page.summary()
        let response = page.get("find", ["text": text])
        #expect(String(decoding: response.body, as: UTF8.self) == answer)
    }

    @Test func `the box suggests what may have been meant`() throws {
        let page = try StudioPageCall(TestLog.story())
        try page.summary()
        for (text, words) in [
            ("todoitems/a", "todoitem/a"), ("@99", "the last event is @20"), ("x y z", "not a valid moment"),
        ] {
            let response = page.get("find", ["text": text])
            let answer = String(decoding: response.body, as: UTF8.self)
            #expect(response.status == 400 && answer.contains(words), "\(text): \(answer)")
        }
    }

    @Test func `a conflict shows what collides, and what each decision leaves`() throws {
        let page = try StudioPageCall(TestLog.story())
        let found = try page.object("conflicts", ["at": "12"])
        let conflict = try #require((found["conflicts"] as? [[String: Any]])?.first)
        #expect(conflict["colliding"] as? [String] == ["text"])
        #expect((conflict["sentence"] as? String)?.contains("the server answered 412") == true)
        let decisions = try #require(conflict["decisions"] as? [[String: Any]])
        let texts = decisions.map { ($0["row"] as? [String: Any])?["text"] as? String }
        #expect(texts == ["soy milk", "oat milk", nil])
        #expect(decisions.map { $0["sends"] as? String } == [nil, "update", nil])
        #expect((decisions[2]["error"] as? String)?.contains("text") == true)
    }

    @Test func `a row's story ends with what it was at the moment, and continues`() throws {
        let page = try StudioPageCall(TestLog.story())
        let then = try page.object("row", ["table": "todoitem", "id": "a", "at": "6"])
        let why = try #require(then["why"] as? [String: Any])
        let fields = try #require(why["fields"] as? [[String: Any]])
        let text = try #require(fields.first { $0["field"] as? String == "text" })
        #expect(text["value"] as? String == "oat milk" && text["event"] as? String == "@5")
        #expect(text["standing"] as? String == "unconfirmed")
        let numbers = (then["history"] as? [[String: Any]])?.compactMap { $0["n"] as? Int }
        #expect(numbers == [4, 5, 6, 11, 12, 13, 14, 15])
        #expect(then["at"] as? Int == 6 && then["whole"] as? Bool == true)
    }

    @Test func `from a moment, the nearest events that changed a row or a field lead both ways`() throws {
        let page = try StudioPageCall(TestLog.story())
        func near(_ at: String, _ field: String = "") throws -> [Int?] {
            let found = try page.object("row", ["table": "todoitem", "id": "a", "at": at, "field": field])
            let near = try #require(found["near"] as? [String: Any])
            return [near["before"] as? Int, near["after"] as? Int]
        }
        #expect(try near("4") == [nil, 5] && near("7") == [6, 11] && near("20") == [15, nil])
        let story = try page.object("row", ["table": "todoitem", "id": "a"])["history"] as? [[String: Any]] ?? []
        let ofText = story.filter { step in
            let fields = (step["difference"] as? [String: Any])?["fields"] as? [[String: Any]] ?? []
            return fields.contains { $0["name"] as? String == "text" }
        }
        let numbers = ofText.compactMap { $0["n"] as? Int }
        #expect(!numbers.isEmpty && numbers.count < story.count)
        for moment in 1...20 {
            #expect(
                try near("\(moment)", "text")
                    == [numbers.last { $0 < moment }, numbers.first { $0 > moment }], "@\(moment)")
        }
        #expect(try near("7", "nothing") == [nil, nil])
    }

    @Test func `a conflict leads to the event since which it waits`() throws {
        let page = try StudioPageCall(TestLog.story())
        var waiting: Set<Int> = []
        for moment in 1...20 {
            let listed = try page.object("conflicts", ["at": "\(moment)"])["conflicts"] as? [[String: Any]] ?? []
            for id in ["a", "b", "c"] {
                let row = try page.object("row", ["table": "todoitem", "id": id, "at": "\(moment)"])
                let since = row["undecidedSince"] as? Int
                #expect((since != nil) == listed.contains { $0["id"] as? String == id }, "\(id) @\(moment)")
                guard let since else { continue }
                waiting.insert(since)
                #expect(since <= moment)
                // It did not wait just before.
                let before = try page.object("conflicts", ["at": "\(since - 1)"])["conflicts"] as? [[String: Any]] ?? []
                #expect(!before.contains { $0["id"] as? String == id }, "\(id) @\(moment)")
            }
        }
        #expect(!waiting.isEmpty)
    }

    @Test func `a watched condition stops at the next event that made it true, and at the last one`() async throws {
        let log = try TestLog.story()
        let page = try StudioPageCall(log)
        func stop(_ way: String, _ moment: String, _ condition: String = "pending ge 1") async throws -> (Int, [String])
        {
            let body = try JSONSerialization.data(withJSONObject: ["condition": condition, "way": way, "at": moment])
            let answer = await page.post("debug/watch", String(decoding: body, as: UTF8.self))
            return (answer.status, [String(decoding: answer.body, as: UTF8.self)])
        }
        func event(_ answer: (Int, [String])) throws -> UInt64? {
            #expect(answer.0 == 200, "\(answer)")
            guard case .array(let lines)? = try Value(json: Array(answer.1[0].utf8))[member: "lines"],
                case .string(let address)? = lines.first?[member: "event"]?[member: "address"]
            else { return nil }
            return UInt64(address.dropFirst())
        }
        // A condition at each event that made it true, a count at each that changed it.
        for condition in ["pending ge 1", "pending", "count(todoitem)"] {
            var rises: [UInt64] = []
            while let next = try event(await stop("after", "\(rises.last ?? 0)", condition)) { rises.append(next) }
            #expect(rises.count > 1, "\(condition)")
            for moment in UInt64(1)...21 {
                let found = try event(await stop("before", "\(moment)", condition))
                #expect(found == rises.last { $0 < moment }, "\(condition) @\(moment)")
            }
            #expect(try event(await stop("before", "\(UInt64.max)", condition)) == rises.last)
        }
        #expect(try event(await stop("after", "\(UInt64.max)")) == nil)
        #expect(try event(await stop("before", "0")) == nil)
        for (condition, words) in [
            ("((", "can't be read"), ("not pending", "only a condition has an opposite"),
            ("count(nope) ge 1", "there is no table"), ("pending ge 0", "for every state"),
        ] {
            let answer = try await stop("before", "20", condition)
            #expect(answer.0 == 422 && answer.1[0].contains(words), "\(answer)")
        }
        #expect(try await stop("before", "x").0 == 400)
        #expect(try await stop("after", "3", "").0 == 400)
    }

    @Test(arguments: [1, 2, 3, 7, 4096] as [UInt64])
    func `a search backwards finds the last event in stretches of any length`(_ length: UInt64) throws {
        let log = try TestLog.story()
        let storage = POSIXStorage(directory: log.path)
        for text in [
            "pending ge 1", "todoitem/a.text eq 'oat milk'", "conflicts ge 1", "count(todoitem: id ne 'q') ge 2",
        ] {
            let condition = try Bisection.condition(text)
            var rises: [UInt64] = []
            while let next = try Bisection(storage, condition, from: (rises.last ?? 0) + 1, through: .max).run().event {
                rises.append(next)
            }
            #expect(!rises.isEmpty, "\(text)")
            for moment in UInt64(0)...21 {
                let found = try BackwardSearch(storage, condition, length: length).last(before: moment)
                #expect(found == rises.last { $0 < moment }, "\(text) before @\(moment)")
            }
        }
    }

    @Test func `a search ends when the page cancels it, and no other does`() async throws {
        let log = try TestLog.story()
        let storage = POSIXStorage(directory: log.path)
        let condition = try Bisection.condition("pending gt 99")
        let tickets = StudioTickets()
        func code(_ body: (Interrupt) throws -> Void) -> String? {
            tickets.run("a") { interrupt in
                do { try body(interrupt) } catch { return (error as? ToolError)?.code }
                return nil
            }
        }
        for cancels in [true, false] {
            let after = code { interrupt in
                #expect(tickets.cancel(cancels ? "a" : "b") == cancels)
                _ = try Bisection(storage, condition, from: nil, through: .max, until: interrupt).run()
            }
            let before = code { interrupt in
                if cancels { tickets.stop() }
                let found = try BackwardSearch(storage, condition, until: interrupt).last(before: 20)
                #expect(found == nil)
            }
            #expect(after == (cancels ? "cancelled" : nil) && before == after)
        }
        #expect(!tickets.cancel("a"))
        // The page asks with a ticket, and cancels by it.
        let page = try StudioPageCall(log)
        let asked = await page.post("debug/watch", #"{"condition":"pending","way":"after","at":"0","ticket":"t"}"#)
        #expect(asked.status == 200)
        let answer = await page.post("cancel", #"{"ticket":"t"}"#)
        #expect(String(decoding: answer.body, as: UTF8.self).contains(#""stopped":false"#))
    }

    @Test func `the stretches of a search backwards are all events, each once`() {
        #expect(BackwardSearch.stretches(1, 1, 4).isEmpty && BackwardSearch.stretches(5, 3, 4).isEmpty)
        #expect(BackwardSearch.stretches(1, 100, 4) == [96..<100, 64..<96, 1..<64])
        let all = BackwardSearch.stretches(1, .max, 1)
        #expect(all.last?.lowerBound == 1 && zip(all, all.dropFirst()).allSatisfy { $0.lowerBound == $1.upperBound })
    }

    // MARK: Damage

    /// The event with the insert of `c` and the first update of `a` can't be read.
    private func damaged() throws -> TestLog {
        let log = try TestLog.story()
        try log.flip("salt", in: TestLog.firstSegment)
        return log
    }

    @Test func `a damaged store is shown, with the place and the remedy`() throws {
        let page = try StudioPageCall(damaged())
        let summary = try page.summary()
        #expect(summary["gaps"] as? [[Int]] == [[5, 5]])
        let damage = try #require((summary["damage"] as? [[String: Any]])?.first)
        #expect((damage["advice"] as? String)?.contains("repair --salvage") == true)
        #expect((damage["address"] as? String)?.hasPrefix("s1:") == true)
        let lines = try #require(try page.object("lines", ["top": "100", "fold": "off"])["lines"] as? [[String: Any]])
        #expect(lines.map { $0["n"] as? Int } == Array(1...20))
        #expect(lines.filter { $0["kind"] as? String == "lost" }.map { $0["n"] as? Int } == [5])
        for at in 1...20 {
            for path in ["tables", "outbox", "conflicts"] {
                let found = try page.object(path, ["at": "\(at)"])
                #expect(found["whole"] as? Bool == (at < 5), "\(path) @\(at)")
            }
            let event = try page.object("event", ["n": "\(at)"])
            #expect((event["event"] is NSNull) == (at == 5), "@\(at)")
        }
        let row = try page.object("row", ["table": "todoitem", "id": "b"])
        #expect(row["whole"] as? Bool == false && (row["history"] as? [Any])?.isEmpty == false)
        let rows = try page.object("table", ["name": "todoitem"])
        #expect((rows["rows"] as? [Any])?.count ?? 0 >= 3)
    }

    @Test func `each of two gaps has its own damage, in the page and in the tool`() async throws {
        let log = try damaged()
        let frames = try await Call.tool("inspect", "frames", "--json", on: log).array()
        let second = try #require(frames.first { ($0["records"] as? String)?.hasPrefix("@12") == true })
        let address = try #require(second["address"] as? String).dropFirst().split(separator: ":").compactMap {
            Int($0)
        }
        let names = try FileManager.default.contentsOfDirectory(atPath: log.path)
        let name = try #require(names.first { $0.hasPrefix("0000000\(address[0])-") })
        try log.change(name) { $0[address[1] + 44] ^= 1 }
        let page = try StudioPageCall(log)
        let summary = try page.summary()
        let gaps = try #require(summary["gaps"] as? [[Int]])
        #expect(gaps.count == 2 && gaps[0] == [5, 5] && gaps[1][0] > 6, "\(gaps)")
        let damage = try #require(summary["damage"] as? [[String: Any]])
        // As the page finds the damage of a gap: by the records that it costs.
        #expect(
            damage.map { $0["records"] as? String } == gaps.map { $0[0] == $0[1] ? "@\($0[0])" : "@\($0[0])..\($0[1])" }
        )
        #expect(Set(damage.compactMap { $0["address"] as? String }).count == 2)
        #expect(damage.allSatisfy { ($0["advice"] as? String)?.isEmpty == false })
        let verify = try await Call.tool("verify", "--json", on: log).object()["damage"] as? [[String: Any]]
        #expect(verify?.map { $0["address"] as? String } == damage.map { $0["address"] as? String })
        #expect(verify?.map { $0["records"] as? String } == damage.map { $0["records"] as? String })
        let lines = try #require(try page.object("lines", ["top": "100", "fold": "off"])["lines"] as? [[String: Any]])
        let lost = lines.filter { $0["kind"] as? String == "lost" }.compactMap { $0["n"] as? Int }
        #expect(lost == gaps.flatMap { Array($0[0]...$0[1]) })
    }

    @Test func `an event after damage shows the rows that it changes, or says that it is left out`() throws {
        let page = try StudioPageCall(damaged())
        let undo = try page.object("event", ["n": "8"])
        let changes = try #require(undo["changes"] as? [[String: Any]])
        #expect(changes.map { "\($0["change"] ?? "") \($0["id"] ?? "")" } == ["added b"])
        #expect(undo["leftOut"] as? Bool == false)
        // The insert of the row that is sent can't be read.
        let sent = try page.object("event", ["n": "9"])
        #expect(sent["leftOut"] as? Bool == true && (sent["changes"] as? [Any])?.isEmpty == true)
    }
}
