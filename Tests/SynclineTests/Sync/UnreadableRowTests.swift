// Rows of a server that can't be read: the others of their pages are stored, the pull is complete, and the list of
// those that can't be read is durable and true.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

/// A server some of whose rows can't be read: what their column `text` says is sent as something else.
private final class OddServer: Sendable {
    let server: SimulatedServer
    /// Fails some requests.
    let chance = Mutex<Chance?>(nil)

    static let deep = String(repeating: "[", count: 200) + String(repeating: "]", count: 200)
    /// What is sent instead of a string.
    static let forms: [(text: String, sent: String)] = [
        ("deep", deep), ("open", #""\ud800""#), ("control", "\"a\u{1}b\""), ("vast", "1e99999999999999999999"),
        ("folded", #"{"a":[{"b":\#(deep)}],"id":"inner","deleted":true,"updatedAt":"2000-01-01T00:00:00Z"}"#),
    ]

    init(_ serverProtocol: ServerProtocol, _ options: SimulatedServer.Options = .init()) {
        server = SimulatedServer(serverProtocol, options: options)
    }

    func answer(_ request: HTTPRequest) -> Result<HTTPResponse, NetworkFailure> {
        if chance.withLock({ $0?.once(in: 4) ?? false }) { return .failure(.offline("the network is down")) }
        var response = server.handle(request)
        var body = String(decoding: response.body, as: UTF8.self)
        for form in Self.forms {
            body = body.split(separator: "\"text\":\"\(form.text)\"", omittingEmptySubsequences: false)
                .joined(separator: "\"text\":\(form.sent)")
        }
        response.body = Array(body.utf8)
        return .success(response)
    }
}

private struct OddStore {
    let odd: OddServer
    var disk = MemoryStorage(granularity: .sector)
    var database: SyncDatabase
    private let configuration: SyncConfiguration

    init(_ serverProtocol: ServerProtocol = .zumo2, _ options: SimulatedServer.Options = .init()) async throws {
        let odd = OddServer(serverProtocol, options)
        self.odd = odd
        var configuration = SyncConfiguration.test()
        configuration.serverProtocol = serverProtocol
        configuration.transport = PlayedLine { odd.answer($0) }
        self.configuration = configuration
        database = try await SyncDatabase.open(disk, configuration)
    }

    mutating func die() async throws {
        disk = disk.processKill()
        database = try await SyncDatabase.open(disk, configuration)
    }

    func open(_ disk: any LogStorage) async throws -> SyncDatabase { try await SyncDatabase.open(disk, configuration) }

    func put(_ id: String, _ text: String, at time: String? = nil) {
        var row: [String: Value] = ["text": .string(text)]
        row["updatedAt"] = time.map { .string($0) }
        odd.server.upsert([.item(id, row)], in: "t")
    }

    @discardableResult
    func pull(_ change: (inout PullSettings) -> Void = { _ in }) async throws -> PullReport {
        var settings = PullSettings()
        settings.queryID = "q"
        settings.retries = 0
        change(&settings)
        return try await database.pull("t", settings)
    }

    func listed() async throws -> [String] { try await database.unreadableRows().compactMap(\.id) }

    /// The rows, and what they show.
    func rows() async throws -> [String: Value] {
        try await database.rows(of: "t").query(RowQuery(table: "t")).rows.reduce(into: [:]) {
            $0[$1.id] = $1.columns["text"]
        }
    }
}

@Suite struct UnreadableRowTests {
    @Test func `the other rows of a page are stored, the cursor moves, and the row is listed over restarts`()
        async throws
    {
        for form in OddServer.forms {
            var store = try await OddStore()
            store.put("a", "x")
            store.put("bad", form.text)
            store.put("c", "z")
            let report = try await store.pull()
            #expect(report.reason == nil, "\(form.text)")
            #expect((report.received, report.changed, report.unreadable) == (3, 2, 1), "\(form.text)")
            #expect(try await store.rows() == ["a": .string("x"), "c": .string("z")])
            let row = try #require(try await store.database.unreadableRows().first)
            #expect((row.table, row.id, row.place) == ("t", "bad", 2))
            #expect(!row.reason.isEmpty && !row.reason.contains("byte"))
            try await store.die()
            #expect(try await store.listed() == ["bad"])
            // Nothing new is nothing in the log, even if the row is received again.
            let before = store.database.lastEvent
            #expect(try await store.pull { $0.queryID = nil }.unreadable == 1)
            #expect(store.database.lastEvent == before)
            store.put("bad", "y")
            try await store.pull()
            #expect(try await store.rows()["bad"] == .string("y"))
            #expect(try await store.listed().isEmpty)
            try await store.die()
            #expect(try await store.listed().isEmpty)
        }
    }

    @Test func `a row leaves the list as a tombstone and at purge, and what is stored of it stays until then`()
        async throws
    {
        let store = try await OddStore()
        for id in ["a", "b", "c"] { store.put(id, "x") }
        try await store.pull()
        for id in ["a", "b", "c"] { store.put(id, "deep") }
        try await store.pull { $0.reconciles = true }
        #expect(try await store.listed() == ["a", "b", "c"])
        #expect(try await store.rows() == ["a": .string("x"), "b": .string("x"), "c": .string("x")])
        // A tombstone is one whatever else it contains.
        store.odd.server.upsert([.item("a", ["text": .string("deep"), "deleted": .bool(true)])], in: "t")
        try await store.pull()
        #expect(try await store.listed() == ["b", "c"])
        #expect(try await store.rows().keys.sorted() == ["b", "c"])
        // Removed for good: the audit finds that it is gone.
        store.odd.server.remove(["b"], from: "t")
        try await store.pull { $0.reconciles = true }
        #expect(try await store.listed() == ["c"])
        #expect(try await store.rows().keys.sorted() == ["c"])
        try await store.database.purge(table: "t")
        #expect(try await store.listed().isEmpty)
        try await store.pull()
        #expect(try await store.listed() == ["c"], "it is read again")
    }

    @Test func `a row without an id is listed with its place, once, until its table is purged`() async throws {
        for element in ["7", "null", "[]", "{}", #"{"id":""}"#, #"{"id":7,"updatedAt":"2026-01-01T00:00:01Z"}"#] {
            var configuration = SyncConfiguration.test()
            let good = #"{"id":"a","version":"1","updatedAt":"2026-01-01T00:00:00Z"}"#
            configuration.transport = PlayedLine { request in
                .success(.json(200, #"{"results":[\#(good),\#(element)],"count":2}"#))
            }
            let disk = MemoryStorage(granularity: .sector)
            let database = try await SyncDatabase.open(disk, configuration)
            var settings = PullSettings()
            settings.queryID = "q"
            for _ in 0..<2 {
                let report = try await database.pull("t", settings)
                #expect(report.reason == nil && report.unreadable == 1, "\(element)")
            }
            let rows = try await database.unreadableRows()
            #expect(rows.map(\.id) == [nil] && rows.map(\.place) == [2], "\(element)")
            #expect(try await database.rows(of: "t").get(id: "a") != nil)
            // Which row it is can't be known, so an audit asks for each that it does not find.
            settings.reconciles = true
            try await database.pull(
                PulledPage(
                    table: "t", queryID: nil, rows: [PulledRow(id: "b", row: Row([.init("version", .string("1"))]))],
                    cursor: nil))
            #expect(try await database.pull("t", settings).reason?.code == .serverError, "the answer to b is not b")
            #expect(try await database.rows(of: "t").get(id: "b") != nil)
            try await database.purge(table: "t")
            #expect(try await database.unreadableRows().isEmpty)
        }
    }

    @Test(arguments: [nil, "q"], [false, true])
    func `a row without an id leaves the list at a pull of the whole table`(queryID: String?, reconciles: Bool)
        async throws
    {
        let odd = Mutex(["7", "[]", "null"])
        var configuration = SyncConfiguration.test()
        configuration.transport = PlayedLine { _ in
            let rows = [#"{"id":"a","version":"1","updatedAt":"2026-01-01T00:00:00Z"}"#] + odd.withLock { $0 }
            return .success(.json(200, #"{"results":[\#(rows.joined(separator: ","))],"count":\#(rows.count)}"#))
        }
        let disk = MemoryStorage(granularity: .sector)
        var database = try await SyncDatabase.open(disk, configuration)
        var settings = PullSettings(queryID: queryID, retries: 0)
        func pull() async throws { #expect(try await database.pull("t", settings).reason == nil) }
        try await pull()
        #expect(try await database.unreadableRows().map(\.place).sorted() == [2, 3, 4])
        odd.withLock { $0 = ["7"] }
        settings.reconciles = reconciles
        try await pull()
        // What is asked for by time may lack a row that is there, and an audit with such a row names no other.
        #expect(try await database.unreadableRows().count == (queryID == nil ? 1 : 3))
        odd.withLock { $0 = [] }
        settings.filter = try FilterExpression(parsing: "n eq 1")
        settings.queryID = nil
        settings.reconciles = false
        try await pull()
        #expect(try await database.unreadableRows().count == (queryID == nil ? 1 : 3), "a filter may exclude them")
        (settings.filter, settings.queryID, settings.reconciles) = (nil, queryID, reconciles)
        try await pull()
        let isEmpty = queryID == nil || reconciles
        #expect(try await database.unreadableRows().isEmpty == isEmpty)
        let before = try await database.unreadableRows()
        database = try await SyncDatabase.open(disk.processKill(), configuration)
        #expect(try await database.unreadableRows() == before)
    }

    /// The times of rows: few, so that pages lie within a millisecond.
    private static func time(_ chance: inout Chance) -> String { "2026-02-01T00:00:00.00\(chance.below(4))Z" }

    @Test(arguments: [false, true], ServerProtocol.allCases)
    func `whatever can't be read and wherever a page ends, the store has the rest and lists the rows`(
        tellsChanges: Bool, serverProtocol: ServerProtocol
    ) async throws {
        for seed in UInt64(1)...25 {
            var chance = Chance(seed: seed)
            var options = SimulatedServer.Options()
            options.tellsChanges = tellsChanges
            var store = try await OddStore(serverProtocol, options)
            store.odd.server.setTable("t", rows: [], pageLimit: 1 + chance.below(5))
            var truth: [String: String] = [:]
            for _ in 0..<4 {
                for _ in 0..<chance.below(20) {
                    let id = "r\(chance.below(25))"
                    if chance.once(in: 6) {
                        truth[id] = nil
                        store.odd.server.upsert(
                            [.item(id, ["deleted": .bool(true), "text": .string("deep")])], in: "t")
                    } else {
                        truth[id] = chance.once(in: 2) ? chance.pick(OddServer.forms.map(\.text)) : "plain"
                        // Only new rows may have times that a pull has passed.
                        store.put(id, truth[id] ?? "", at: store.database.lastEvent > 1 ? nil : Self.time(&chance))
                    }
                }
                // The network fails, and the process dies between pages.
                store.odd.chance.withLock { $0 = Chance(seed: seed) }
                for _ in 0..<6 where chance.once(in: 2) {
                    _ = try await store.pull()
                    if chance.once(in: 3) { try await store.die() }
                }
                store.odd.chance.withLock { $0 = nil }
                let reconciles = chance.once(in: 2)
                let report = try await store.pull { $0.reconciles = reconciles }
                try #require(report.reason == nil, "seed \(seed): \(String(describing: report.reason))")
                let odd = Set(truth.filter { $0.value != "plain" }.keys)
                try #require(try await Set(store.listed()) == odd, "seed \(seed)")
                let rows = try await store.rows()
                try #require(Set(rows.keys).isSubset(of: truth.keys), "seed \(seed): what is gone is gone")
                try #require(Set(truth.keys).subtracting(odd).isSubset(of: rows.keys), "seed \(seed)")
                try #require(rows.values.allSatisfy { $0 == .string("plain") }, "seed \(seed): nothing odd is stored")
            }
            // What the log says is what the state says.
            let before = try await store.database.unreadableRows()
            try await store.database.compact()
            try await store.die()
            try #require(try await store.database.unreadableRows() == before, "seed \(seed)")
        }
    }

    @Test func `an edit of a row that can't be read is parked, with the reason, and others are sent`() async throws {
        let store = try await OddStore(.zumo2)
        for id in ["a", "b"] { store.put(id, "x") }
        try await store.pull()
        store.put("a", "deep")
        try await store.pull()
        let table = store.database.rows(of: "t")
        try await table.update(.item("a", ["n": .integer(1)]))
        try await table.update(.item("b", ["n": .integer(2)]))
        try await table.insert(.item("c", ["text": .string("deep")]))
        try await table.insert(.item("d", ["text": .string("plain")]))
        let report = try await store.database.push()
        #expect(report.outcome == .incomplete)
        #expect(report.operations.map(\.outcome) == [.parked, .done, .parked, .done])
        let conflicts = try await store.database.conflicts()
        #expect(conflicts.map(\.id) == ["a", "c"] && conflicts.allSatisfy { $0.state == .parked })
        #expect(conflicts.allSatisfy { $0.message?.contains("nests deeper") == true })
        #expect(conflicts.map(\.status) == [412, 201])
        #expect(try await store.pull().reason == nil)
        // The row comes readable: what waits can be decided, and the list is empty.
        for id in ["a", "c"] { store.put(id, "y") }
        try await store.pull()
        #expect(try await store.listed().isEmpty)
        for id in ["a", "c"] { try await store.database.resolve(table: "t", id: id, .takeServer) }
        #expect(try await store.database.push().outcome == .complete)
    }

    @Test func `an answer that is too large parks the write that it answers, and others are sent`() async throws {
        let server = SimulatedServer(.zumo2)
        var configuration = SyncConfiguration.test()
        configuration.transport = PlayedLine { request in
            var response = server.handle(request)
            if String(decoding: response.body, as: UTF8.self).contains("vast") {
                response.body = []
                response.refusal = "the response is larger than 5 bytes"
            }
            return .success(response)
        }
        let database = try await SyncDatabase.open(MemoryStorage(granularity: .sector), configuration)
        try await database.rows(of: "t").insert(.item("a", ["text": .string("vast")]))
        try await database.rows(of: "t").insert(.item("b", ["text": .string("plain")]))
        let report = try await database.push()
        #expect(report.operations.map(\.outcome) == [.parked, .done])
        #expect(try await database.conflicts().first?.message?.contains("larger than 5 bytes") == true)
    }

    @Test func `an online table says which row can't be read`() async throws {
        let odd = OddServer(.datasync3)
        odd.server.setTable("t", rows: [.item("a", ["text": .string("x")]), .item("bad", ["text": .string("deep")])])
        let table = Backend(PlayedLine { odd.answer($0) }, speaking: .datasync3, nil).rows(of: "t")
        await #expect {
            _ = try await table.query(RowQuery(table: "t"))
        } throws: {
            ($0 as? SyncError)?.message.contains("bad") == true
        }
    }

    @Test func `a rescue and a compaction with retention keep the list`() async throws {
        let store = try await OddStore()
        store.put("a", "x")
        store.put("bad", "deep")
        try await store.pull()
        try await store.database.set(retention: .events(1))
        for number in 0..<10 {
            try await store.database.rows(of: "t").update(.item("a", ["n": .integer(Int64(number))]))
        }
        _ = try await store.database.push()
        try await store.database.checkpoint()
        try await store.database.compact()
        let expected = try await store.database.unreadableRows()
        #expect(expected.map(\.id) == ["bad"])
        let past = try await store.database.history(at: store.database.lastEvent)
        #expect(try past.reader.unreadableRows() == expected)
        try await store.database.close()
        let fresh = MemoryStorage(granularity: .sector)
        _ = try #require(try Rescue.run(from: store.disk, to: fresh, now: 0))
        let rescued = try await store.open(fresh)
        #expect(try await rescued.unreadableRows() == expected)
    }
}
