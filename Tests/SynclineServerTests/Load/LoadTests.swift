// The parts of a load that decide: its command line, when it measures, its account, and what is left of its rows.

import Foundation
import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

func loadPlan(_ words: [String]) throws -> LoadPlan {
    let arguments = ServerArguments(
        file: { path throws(StartFailure) in Array("from \(path)\n".utf8).filter { $0 != 0x20 } },
        variable: { $0 == "TOKEN" ? "secret" : nil })
    guard case .load(let plan) = try arguments.parse(["load"] + words) else {
        throw UsageFailure(message: "it is not a load")
    }
    return plan
}

@Suite struct LoadTests {
    private typealias Instant = ContinuousClock.Instant

    private let start = ContinuousClock.now

    @Test func `the command line names the server and the table`() throws {
        let plan = try loadPlan([
            "https://x.org/", "--table", "entry", "--token=env:TOKEN", "--writers", "7", "--batch=3", "--item",
            #"{"text":"milk {n}"}"#, "--requests", "9", "--root", "/api/", "--keep", "--json",
        ])
        #expect(plan.url == "https://x.org" && plan.table == "entry" && plan.token == "secret" && plan.root == "/api")
        #expect((plan.writers, plan.readers, plan.listeners, plan.batch) == (7, 4, 4, 3))
        #expect(plan.item == [.init("text", "milk {n}")] && plan.keeps && plan.isJSON)
        #expect(plan.requests == 9 && plan.seconds == nil && plan.warmUp == 1)
        let usual = try loadPlan(["--table", "entry", "http://[::1]:8080", "--token", "file:t"])
        #expect(usual.seconds == 10 && usual.requests == nil && usual.token == "fromt" && !usual.keeps)
    }

    @Test(arguments: [
        (["--table", "t"], "needs the server's URL"), (["http://x"], "needs --table"),
        (["http://x", "--table="], "--table"),
        (["x", "--table", "t"], "does not begin with http"), (["http://x", "y", "--table", "t"], "there is no option"),
        (["http://x", "--table", "t", "--table", "u"], "given twice"), (["http://x", "--table"], "needs a value"),
        (["http://x", "--table", "t", "--store", "sqlite:a.db"], "there is no option"),
        (["http://x", "--table", "t", "--batch", "0"], "from 1 to 10000"),
        (["http://x", "--table", "t", "--seconds", "soon"], "takes a number"),
        (["http://x", "--table", "t", "--writers", "0", "--readers", "0"], "a writer or a reader"),
        (["http://x", "--table", "t", "--item", "milk"], "JSON object"),
        (["http://x", "--table", "t", "--item", #"{"ID":"a"}"#], "can't have ID"),
        (["http://x", "--table", "t", "--token", "a b"], "not a token"),
        (["http://u:p@x", "--table", "t"], "credentials"),
        (["http://x", "--table", "t", "--root", "api"], "begins with a slash"),
        (["http://x", "--tabel", "t"], "--table"),
    ])
    func `a wrong command line is refused`(words: [String], message: String) throws {
        do {
            _ = try loadPlan(words)
            Issue.record("\(words) was taken")
        } catch let failure as UsageFailure {
            #expect("\(failure.message) \(failure.hint ?? "")".contains(message), "\(failure)")
        }
    }

    @Test func `percentiles are at most 1.6 percent above the true ones, and never below`() {
        var latencies = Latencies()
        #expect(latencies.quantile(0.5) == nil)
        var values: [Int64] = []
        var value: UInt64 = 1
        for _ in 0..<5000 {
            value = value &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            // Of every size.
            values.append(Int64(value >> (24 + value % 37)))
            latencies.add(.nanoseconds(values[values.count - 1]))
        }
        values.sort()
        for share in [0.001, 0.5, 0.95, 0.99, 1] {
            let exact = values[Int((5000 * share).rounded(.up)) - 1]
            let found = latencies.quantile(share).map { $0 / .nanoseconds(1) } ?? 0
            #expect(found >= Double(exact) && found <= Double(exact) * 1.016 + 1, "\(share)")
        }
        #expect(latencies.longest == .nanoseconds(values[4999]) && latencies.quantile(1) == latencies.longest)
        #expect(latencies.count == 5000)
    }

    @Test func `nothing is measured in the warm-up, nor on a new connection`() throws {
        var schedule = LoadSchedule(
            try loadPlan(["http://x", "--table", "t", "--requests", "2", "--seconds", "5"]), at: start)
        func next(_ milliseconds: Int, isFirst: Bool = false) -> Bool? {
            schedule.next(isFirst: isFirst, at: start + .milliseconds(milliseconds))
        }
        #expect(next(999) == false && next(2000, isFirst: true) == false)
        #expect(schedule.measured == .zero)
        #expect(next(1500) == true && next(2000) == true && next(2000) == nil)
        schedule.ended(at: start + .seconds(3))
        #expect(schedule.measured == .milliseconds(1500))
        schedule = LoadSchedule(try loadPlan(["http://x", "--table", "t", "--seconds", "5"]), at: start)
        #expect(next(5999) == true && next(6000) == nil)
        schedule.stop()
        #expect(next(0) == nil)
    }

    private func reply(_ status: Int, _ version: Int64? = nil) -> ServerReply {
        var reply = ServerReply(status: status, content: .unreadable(""))
        if let version {
            reply.content = .row(.hidden("a", version: RowVersion.text(version), isDeleted: false))
        }
        reply.message = status >= 400 ? "sorry" : nil
        return reply
    }

    @Test func `an error is a failure, also of one write in a batch`() {
        var batch = reply(200)
        batch.content = .results([reply(201, 5), reply(403)])
        let answers = LoadAnswer.success(batch).writes(2)
        #expect(answers.map { (try? $0.get())?.change } == [5, nil])
        guard case .failure(let refusal) = answers[1] else {
            Issue.record("it is not a failure")
            return
        }
        #expect(refusal == LoadFailure(403, "sorry") && !refusal.isUnclear && LoadFailure(503, "").isUnclear)
        #expect(
            LoadAnswer.success(reply(503)).writes(2) == Array(repeating: .failure(LoadFailure(503, "sorry")), count: 2))
        for answer in LoadAnswer.success(batch).writes(3) + LoadAnswer.success(reply(200)).writes(1) {
            #expect(answer == .failure(LoadFailure(nil, "the answer has no results")))
        }
        #expect(LoadAnswer.success(reply(200, 1)).readFailure(.row) == nil)
        #expect(LoadAnswer.success(reply(200, 1)).readFailure(.page) != nil)
        #expect(LoadAnswer.success(reply(200)).readFailure(.page) != nil)
        #expect(LoadAnswer.failure(LoadFailure(.offline("x"))).readFailure(.row) == LoadFailure(nil, "x"))
    }

    @Test func `only rows that the server may have are removed`() throws {
        var rows = LoadRows([.init("text", "milk {n}")], (0x0123_4567_89ab_cdef, 0xffff_fe54_3210))
        let numbers = rows.take(4)
        let writes = rows.writes(.insert, numbers, of: "t")
        #expect(writes[3].id == "01234567-89ab-8cde-8f54-000000000003")
        #expect(UUID(uuidString: writes[3].id) != nil)
        #expect(writes.map { $0.body["text"] } == ["milk 1", "milk 2", "milk 3", "milk 4"])
        #expect(Set(writes.map(\.operationID)).count == 4)
        let answers = [LoadAnswer.success(reply(201, 1))] + [409, nil, 503].map { .failure(LoadFailure($0, "")) }
        let hasAll = rows.inserted(numbers, answers)
        #expect(!hasAll && rows.made == [0] && rows.unclear == [2, 3])
        var removal = LoadRemoval(rows)
        #expect(removal.left == [0, 2, 3])
        func take(_ answers: [LoadAnswer]) -> Bool { removal.take(answers) }
        let missing = LoadAnswer.success(reply(404)).writes(1)
        #expect(take([.failure(LoadFailure(503, "busy"))] + missing) && removal.lost == 0)
        #expect(removal.removed == 0 && removal.left == [3, 0] && removal.reason == LoadFailure(503, "busy"))
        var deleted = reply(409)
        deleted.content = .row(.hidden("a", version: RowVersion.text(1), isDeleted: true))
        #expect(!take([.success(reply(200))] + LoadAnswer.success(deleted).writes(1)))
        #expect(removal.removed == 2 && removal.left.isEmpty && removal.lost == 0)
    }

    @Test func `a listener's time is that from a write's answer to its event`() {
        var news = LoadNews(listeners: 2)
        func event(_ change: Int64) -> [UInt8] { Array("event: change\ndata: e.\(change)\n\n".utf8) }
        func commit(_ change: Int64, _ seconds: Int) -> Int { news.committed(change, at: start + .seconds(seconds)) }
        func take(_ piece: some Sequence<UInt8>, _ listener: Int, _ seconds: Int) -> [Duration] {
            news.take(Array(piece), listener, at: start + .seconds(seconds))
        }
        #expect(commit(5, 0) == 0 && news.unheard == 2)
        #expect(take(event(4), 0, 1) == [] && commit(6, 1) == 0)
        #expect(
            take(event(7).prefix(9), 0, 2) == [] && take(event(7).dropFirst(9), 0, 3) == [.seconds(3), .seconds(2)])
        #expect(commit(7, 4) == 1 && news.unheard == 3)
        #expect(take("event: change\nda".utf8, 1, 4) == [])
        news.begin(1)
        #expect(take(event(7), 1, 4).count == 3 && news.unheard == 0)
    }

    @Test func `a reader begins again at the end, and when its cursor is refused`() {
        var reading = LoadReading("t")
        func next(_ other: String? = nil) -> String {
            switch reading.next(other: other).1 {
            case .row(_, let id, _): "row \(id)"
            case .changes(let changes): "since \(changes.since)"
            default: ""
            }
        }
        func take(_ ids: [String], _ cursor: String, more: Bool) -> Int {
            var page = reply(200)
            let rows = ids.map { ServerRow(id: $0, columns: .empty, isDeleted: $0 == "gone", moment: nil) }
            page.content = .changes(ServerChanges(rows: rows, cursor: cursor, hasMore: more))
            return reading.take(.success(page))
        }
        #expect(next() == "since " && take(["a", "b", "gone"], "c1", more: true) == 3)
        #expect(next() == "row b")
        #expect(next() == "since c1" && take(["gone"], "c2", more: false) == 1 && next("own") == "row own")
        #expect(next() == "since c2" && take([], "c2", more: false) == 0)
        #expect(next() == "since " && take(["a"], "c3", more: true) == 1)
        #expect(next() == "row a" && next() == "since c3")
        _ = reading.take(.success(reply(410)))
        #expect(next() == "since ")
    }

    @Test func `a load needs the rights to what it does`() throws {
        let rights = LoadRights(["read": true, "insert": "rows", "update": false, "delete": false])
        #expect(rights.insert && !rights.update)
        let words = ["http://x", "--table", "t", "--token", "t"]
        #expect(
            rights.fault(try loadPlan(Array(words.prefix(3))))?.hint
                == "Its rows stay with --keep, or give them a --token")
        #expect(rights.fault(try loadPlan(words))?.message == "the clients may not delete in table t")
        #expect(rights.fault(try loadPlan(words + ["--keep"])) == nil)
        #expect(rights.fault(try loadPlan(words + ["--writers", "0"])) == nil)
        let writers = LoadRights(["read": false, "insert": true, "update": true, "delete": true])
        #expect(writers.fault(try loadPlan(words))?.hint == "Use --readers 0 --listeners 0")
        #expect(writers.fault(try loadPlan(words + ["--readers", "0", "--listeners", "0"])) == nil)
    }
}
