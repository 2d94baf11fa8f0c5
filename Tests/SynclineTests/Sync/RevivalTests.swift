// Rows that are deleted and restored: an insert over a tombstone, and each decision about a row that is gone, with
// both protocols, with lost responses, and with servers that do not restore rows.

import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct RevivalTests {
    private static let old: [String: Value] = ["a": .integer(1), "b": .integer(2)]
    private static let new: [String: Value] = ["a": .integer(7), "c": .string("x")]

    /// A store whose own delete left a tombstone on the server, and a pending insert of the same id.
    private static func inserted(
        _ server: ServerProtocol, _ options: SimulatedServer.Options = .init()
    ) async throws -> SyncPair {
        let pair = try await SyncPair(server, options, rows: [.item("r", old)])
        try await pair.pull()
        try await pair.table.delete(id: "r")
        try await pair.push()
        try await pair.table.insert(.item("r", new))
        return pair
    }

    private static func expectNew(_ pair: SyncPair, line: SourceLocation = #_sourceLocation) async throws {
        let row = pair.serverRow("r")
        #expect(row?[member: "a"] == .integer(7), sourceLocation: line)
        #expect(row?[member: "b"] ?? .null == .null, sourceLocation: line)
        #expect(row?[member: "c"] == .string("x"), sourceLocation: line)
        #expect(row?[member: "deleted"] != .bool(true), sourceLocation: line)
        #expect(try await pair.agrees(), sourceLocation: line)
        try await pair.pull()
        #expect(try await pair.agrees(), sourceLocation: line)
    }

    @Test(arguments: ServerProtocol.allCases, [true, false])
    func `an insert of an id that was deleted here restores the row`(
        _ server: ServerProtocol, _ deletesForGood: Bool
    ) async throws {
        var options = SimulatedServer.Options()
        options.deletesForGood = deletesForGood
        for policy in [ConflictPolicy.fail, .serverWins, .merge] {
            let pair = try await Self.inserted(server, options)
            #expect(try await pair.push(policy).outcome == .complete)
            try await Self.expectNew(pair)
        }
    }

    @Test(arguments: ServerProtocol.allCases, [true, false])
    func `it does so whichever answer is lost, and is not done twice`(
        _ server: ServerProtocol, _ recognizes: Bool
    ) async throws {
        var options = SimulatedServer.Options()
        options.recognizesOperations = recognizes
        for lost in 0..<4 {
            for diesToo in [false, true] {
                var pair = try await Self.inserted(server, options)
                pair.network.script(Array(repeating: nil, count: lost) + [.dropAnswer])
                let first = try await pair.push()
                if first.outcome == .complete { continue }
                #expect(first.reason?.code == .offline)
                pair.network.script([])
                // The app sees its own row all the time.
                #expect(try await pair.table.get(id: "r")?.columns["a"] == .integer(7))
                #expect(try await pair.table.get(id: "r")?.columns["b"] ?? .null == .null)
                if diesToo { try await pair.die() }
                #expect(try await pair.push().outcome == .complete, "request \(lost)")
                try await Self.expectNew(pair)
            }
        }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `it does so whichever request is refused for a while`(_ server: ServerProtocol) async throws {
        for refused in 0..<4 {
            let pair = try await Self.inserted(server)
            pair.network.script(Array(repeating: nil, count: refused) + [.answer(status: 401)])
            try await pair.push()
            pair.network.script([])
            #expect(try await pair.push().outcome == .complete, "request \(refused)")
            try await Self.expectNew(pair)
        }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `an edit and a delete during its restoration follow it`(_ server: ServerProtocol) async throws {
        for isDelete in [false, true] {
            for lost in 0..<3 {
                let pair = try await Self.inserted(server)
                pair.network.script(Array(repeating: nil, count: lost) + [.dropAnswer])
                if try await pair.push().outcome == .complete { continue }
                if isDelete {
                    try await pair.table.delete(id: "r")
                } else {
                    try await pair.table.update(.item("r", ["a": .integer(8)]))
                }
                pair.network.script([])
                try await pair.push()
                try await pair.push()
                #expect(try await pair.database.pending().isEmpty)
                #expect(try await pair.agrees())
                let now = pair.serverRow("r")
                if isDelete {
                    #expect(now?[member: "deleted"] == .bool(true))
                } else {
                    #expect(now?[member: "a"] == .integer(8))
                }
            }
        }
    }

    /// A row that another client deleted while it was edited here.
    private static func edited(
        _ server: ServerProtocol, _ options: SimulatedServer.Options = .init()
    ) async throws -> SyncPair {
        let pair = try await SyncPair(server, options, rows: [.item("r", old)])
        try await pair.pull()
        try await pair.table.update(.item("r", new))
        pair.server.upsert([.item("r", old.merging(["deleted": .bool(true)]) { $1 })], in: "t")
        return pair
    }

    @Test(arguments: ServerProtocol.allCases)
    func `only a decision restores a row that another client deleted`(_ server: ServerProtocol) async throws {
        for policy in [ConflictPolicy.fail, .merge] {
            let pair = try await Self.edited(server)
            #expect(try await pair.push(policy).operations.first?.reason == .conflict(.gone))
            #expect(try await pair.push(policy).outcome == .incomplete)
            #expect(pair.serverRow("r")?[member: "deleted"] == .bool(true))
            try await pair.database.resolve(table: "t", id: "r", .keepMine)
            #expect(try await pair.push().outcome == .complete)
            #expect(pair.serverRow("r")?[member: "a"] == .integer(7))
            #expect(pair.serverRow("r")?[member: "b"] == .integer(2), "columns of the base belong to mine")
            #expect(try await pair.agrees())
        }
        let pair = try await Self.edited(server)
        #expect(try await pair.push(.serverWins).outcome == .complete)
        #expect(try await pair.table.get(id: "r") == nil)
        let other = try await Self.edited(server)
        #expect(try await other.push(.clientWins).outcome == .complete)
        #expect(other.serverRow("r")?[member: "a"] == .integer(7))
        #expect(try await other.agrees())
    }

    @Test(arguments: ServerProtocol.allCases, [nil, OperationKind.insert, .update])
    func `a row chosen by the app in place of a missing row is inserted`(
        _ server: ServerProtocol, _ kind: OperationKind?
    ) async throws {
        let pair = try await Self.edited(server)
        try await pair.push()
        try await pair.database.resolve(table: "t", id: "r", .row(Row([.init("a", .integer(9))]), as: kind))
        #expect(try await pair.push().outcome == .complete)
        #expect(pair.serverRow("r")?[member: "a"] == .integer(9))
        #expect(pair.serverRow("r")?[member: "b"] ?? .null == .null)
        #expect(try await pair.agrees())
    }

    @Test(arguments: ServerProtocol.allCases)
    func `an insert of a row that another client deleted awaits a decision`(_ server: ServerProtocol) async throws {
        let pair = try await SyncPair(server, rows: [.item("r", Self.old.merging(["deleted": .bool(true)]) { $1 })])
        try await pair.table.insert(.item("r", Self.new))
        for policy in [ConflictPolicy.fail, .merge] {
            #expect(try await pair.push(policy).operations.first?.reason == .conflict(.gone))
        }
        try await pair.database.resolve(table: "t", id: "r", .keepMine)
        #expect(try await pair.push().outcome == .complete)
        try await Self.expectNew(pair)
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a server that does not restore rows leaves a conflict, which the next decision resolves`(
        _ server: ServerProtocol
    ) async throws {
        var options = SimulatedServer.Options()
        options.undeletes = false
        for policy in [ConflictPolicy.fail, .clientWins] {
            var pair = try await Self.inserted(server, options)
            #expect(try await pair.push(policy).operations.first?.reason == .conflict(.gone))
            let count = pair.network.requestCount
            #expect(try await pair.push(policy).outcome == .incomplete)
            #expect(pair.network.requestCount == count, "what waits for a decision is not sent")
            try await pair.die()
            let conflict = try #require(try await pair.database.conflicts().first)
            #expect(conflict.message?.isEmpty == false)
            try await pair.database.resolve(table: "t", id: "r", .keepMine)
            #expect(try await pair.push(policy).operations.first?.reason == .conflict(.gone))
            try await pair.database.resolve(table: "t", id: "r", .takeServer)
            #expect(try await pair.push().outcome == .complete)
            #expect(try await pair.table.get(id: "r") == nil)
            #expect(try await pair.agrees())
        }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `an own delete is forgotten when the row is seen live, and at a purge`(
        _ server: ServerProtocol
    ) async throws {
        for purges in [false, true] {
            let pair = try await SyncPair(server, rows: [.item("r", Self.old)])
            try await pair.pull()
            try await pair.table.delete(id: "r")
            try await pair.push()
            if purges {
                try await pair.database.purge(table: "t")
            } else {
                pair.server.upsert([.item("r", Self.old)], in: "t")
                try await pair.pull()
                pair.server.upsert([.item("r", Self.old.merging(["deleted": .bool(true)]) { $1 })], in: "t")
                try await pair.pull()
            }
            try await pair.table.insert(.item("r", Self.new))
            #expect(try await pair.push().operations.first?.reason == .conflict(.gone), "purge \(purges)")
        }
    }
}
