// A push at each known trap of writing; N numbers the requirements of a sync.

import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct WritingBehaviourTests {
    private static func operationIDs(_ requests: [HTTPRequest]) -> [String] {
        requests.compactMap { $0.headers.value("X-Syncline-Operation-Id") }
    }

    @Test(arguments: ServerProtocol.allCases, [true, false])
    func `N21, N22: a lost reply is recognised, under the same operation id after a restart`(
        _ server: ServerProtocol, _ recognizes: Bool
    ) async throws {
        var options = SimulatedServer.Options()
        options.recognizesOperations = recognizes
        for kind in OperationKind.allCases {
            var pair = try await SyncPair(server, options, rows: kind == .insert ? [] : Value.rows(1))
            try await pair.pull()
            switch kind {
            case .insert: try await pair.table.insert(.item("r0", ["n": .integer(7)]))
            case .update: try await pair.table.update(.item("r0", ["n": .integer(7)]))
            case .delete: try await pair.table.delete(id: "r0")
            }
            pair.network.script([.dropAnswer])
            #expect(try await pair.push().reason?.code == .offline)
            let before = pair.serverRow("r0")
            try await pair.die()
            #expect(try await pair.push().outcome == .complete, "\(kind)")
            #expect(Set(Self.operationIDs(pair.writes)).count == 1)
            #expect(pair.serverRow("r0") == before, "the \(kind) was done twice")
            #expect(try await pair.database.conflicts().isEmpty)
            #expect(try await pair.agrees())
        }
    }

    @Test func `N23: what was sent is not cancelled out`() async throws {
        for fault in [NetworkFault.dropAnswer, .dropRequest, .answer(status: 429), .answer(status: 500)] {
            for edits in 1...3 {
                let pair = try await SyncPair()
                try await pair.table.insert(.item("r", ["n": .integer(1)]))
                pair.network.script([fault])
                _ = try await pair.push()
                for edit in 0..<edits {
                    switch (edit, edits) {
                    case (0, 2), (0, 3): try await pair.table.update(.item("r", ["n": .integer(2)]))
                    case (2, _): try await pair.table.insert(.item("r", ["n": .integer(3)]))
                    default: try await pair.table.delete(id: "r")
                    }
                }
                for _ in 0..<4 {
                    _ = try await pair.push()
                    for conflict in try await pair.database.conflicts() {
                        try await pair.database.resolve(table: "t", id: conflict.id, .takeServer)
                    }
                }
                #expect(try await pair.database.pending().isEmpty, "\(fault), \(edits) edits")
                try await pair.pull()
                #expect(try await pair.agrees(), "\(fault), \(edits) edits")
            }
        }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `N24: a row that is deleted and inserted again is replaced`(_ server: ServerProtocol) async throws {
        let pair = try await SyncPair(server, rows: [.item("r", ["a": .integer(1), "b": .integer(1)])])
        try await pair.pull()
        try await pair.table.delete(id: "r")
        try await pair.table.insert(.item("r", ["a": .integer(2)]))
        #expect(try await pair.push().outcome == .complete)
        #expect(pair.serverRow("r")?[member: "a"] == .integer(2))
        #expect(pair.serverRow("r")?[member: "b"] ?? .null == .null)
        try await pair.pull()
        #expect(try await pair.agrees())
    }

    @Test func `N25: an edit during a push stays, on top of what the server answered`() async throws {
        let box = Mutex<SyncDatabase?>(nil)
        let pair = try await SyncPair(rows: [.item("r", ["a": .integer(1), "b": .integer(1)])]) { _ in
            guard let database = box.withLock({ $0 }) else { return }
            _ = try? await database.rows(of: "t").update(.item("r", ["a": .integer(3)]))
        }
        box.withLock { $0 = pair.database }
        try await pair.pull()
        try await pair.table.update(.item("r", ["a": .integer(2)]))
        pair.network.script([.delay])
        #expect(try await pair.push().outcome == .complete)
        #expect(pair.serverRow("r")?[member: "a"] == .integer(2))
        #expect(try await pair.table.get(id: "r")?.columns["a"] == .integer(3))
        #expect(try await pair.push().outcome == .complete)
        #expect(pair.serverRow("r")?[member: "a"] == .integer(3))
        #expect(try await pair.agrees())
    }

    @Test func `N26: the echo of an own write changes nothing, before and after its reply`() async throws {
        let pair = try await SyncPair(rows: Value.rows(1))
        try await pair.pull()
        try await pair.table.update(.item("r0", ["n": .integer(5)]))
        try await pair.push()
        #expect(try await pair.pull().changed == 0)
        try await pair.table.update(.item("r0", ["n": .integer(6)]))
        pair.network.script([.dropAnswer])
        try await pair.push()
        try await pair.table.update(.item("r0", ["m": .integer(1)]))
        let report = try await pair.pull { $0.pushesFirst = false }
        #expect(report.conflicts == 0)
        #expect(try await pair.table.get(id: "r0")?.columns["m"] == .integer(1))
        try await pair.push()
        #expect(try await pair.database.pending().isEmpty)
        #expect(try await pair.agrees())
    }

    @Test func `N28: a refused operation waits alone, and a delete of a missing row counts as done`() async throws {
        for status in [302, 400, 403, 413, 422] {
            let pair = try await SyncPair()
            for id in ["a", "b", "c"] { try await pair.table.insert(.item(id, [:])) }
            pair.network.script([nil, .answer(status: status), nil])
            let report = try await pair.push()
            #expect(report.operations.map(\.outcome) == [.done, .parked, .done])
            #expect(try await pair.database.conflicts().map(\.status) == [status])
            try await pair.database.resolve(table: "t", id: "b", .keepMine)
            #expect(try await pair.push().outcome == .complete)
            pair.server.remove(["a"], from: "t")
            try await pair.table.delete(id: "a")
            #expect(try await pair.push().outcome == .complete)
            #expect(try await pair.agrees())
        }
    }

    @Test func `N30: a parent goes before its child, and changes keep their order`() async throws {
        let pair = try await SyncPair()
        try await pair.database.rows(of: "child").insert(.item("c", ["parent": .null]))
        try await pair.table.insert(.item("p", [:]))
        try await pair.database.rows(of: "child").update(.item("c", ["parent": .string("p")]))
        try await pair.database.rows(of: "child").insert(.item("d", ["parent": .string("p")]))
        try await pair.table.update(.item("p", ["n": .integer(1)]))
        try await pair.push()
        #expect(pair.writes.map(\.path) == ["/tables/child", "/tables/t", "/tables/child"])
    }

    @Test(arguments: ServerProtocol.allCases)
    func `N32: values come back from the server as they were written`(_ server: ServerProtocol) async throws {
        let values: [String: Value] = [
            "null": .null, "yes": .bool(true), "big": .integer(9_007_199_254_740_993), "least": .integer(.min),
            "half": .double(0.5), "text": .string("e\u{301} \u{1f9d1} \"\\ +00:00"), "empty": .string(""),
            "list": .array([.integer(1), .null, .string("x")]), "object": .object([.init("a", .double(1.25))]),
            "date": .string("2026-03-01T10:00:00.1234567+02:00"),
        ]
        let pair = try await SyncPair(server)
        try await pair.table.insert(.item("r", values))
        #expect(try await pair.push().outcome == .complete)
        try await pair.database.purge(table: "t")
        try await pair.pull()
        let found = try await pair.table.get(id: "r")?.columns
        for (name, value) in values where !value.isNull { #expect(found?[name] == value, "\(name)") }
        #expect(found?["null"] ?? .null == .null)
    }

    @Test func `N29: after any faults a healthy network empties the outbox`() async throws {
        for seed in UInt64(1)...20 {
            let pair = try await SyncPair(seed % 2 == 0 ? .zumo2 : .datasync3)
            for number in 0..<6 { try await pair.table.insert(.item("r\(number)", ["n": .integer(0)])) }
            pair.network.setRandomFaults(RandomFaults(seed: seed, perThousand: 500))
            for round in 0..<6 {
                _ = try await pair.push()
                _ = try? await pair.table.update(.item("r\(round)", ["n": .integer(Int64(round))]))
            }
            pair.network.setRandomFaults(nil)
            for _ in 0..<3 {
                _ = try await pair.push(.clientWins)
                for conflict in try await pair.database.conflicts() {
                    try await pair.database.resolve(table: "t", id: conflict.id, .keepMine)
                }
            }
            #expect(try await pair.database.pending().isEmpty, "seed \(seed)")
            #expect(try await pair.agrees(), "seed \(seed)")
        }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a preview shows the request that is sent`(_ server: ServerProtocol) async throws {
        let pair = try await SyncPair(server, rows: Value.rows(3))
        try await pair.pull()
        try await pair.table.insert(.item("new", ["n": .integer(1), "text": .string("é\"")]))
        try await pair.table.update(.item("r0", ["n": .integer(9)]))
        try await pair.table.update(.item("r0", ["more": .null]))
        try await pair.table.delete(id: "r1")
        try await pair.table.delete(id: "r2")
        try await pair.table.insert(.item("r2", ["n": .integer(4)]))
        let before = (pair.network.requestCount, pair.database.lastEvent)
        let preview = try await pair.database.pushPreview()
        #expect((pair.network.requestCount, pair.database.lastEvent) == before)
        #expect(preview.report.operations.map(\.outcome) == [.pending, .pending, .pending, .pending])
        #expect(try await pair.push().outcome == .complete)
        let writes = pair.writes
        #expect(writes.count == preview.requests.count)
        for (write, shown) in zip(writes, preview.requests) {
            #expect(write.method == shown?.method && write.path == shown?.path && write.body == shown?.body)
            var headers = Dictionary(write.headers.map { ($0.name, $0.value) }) { $1 }
            headers["X-Syncline-Operation-Id"] = nil
            #expect(headers == shown?.headers)
        }
    }
}
