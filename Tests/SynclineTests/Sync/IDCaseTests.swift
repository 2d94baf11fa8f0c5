// A server that changes the case of ids: a write is parked with both ids, others are sent, and a store can be told
// later that such ids are one.

import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

/// A server that stores ids in upper case.
private func upperCase(_ server: SimulatedServer) -> PlayedLine {
    PlayedLine { request in
        var request = request
        request.path = request.path.split(separator: "/", omittingEmptySubsequences: false).enumerated().map {
            $0.offset == 3 ? $0.element.uppercased() : String($0.element)
        }.joined(separator: "/")
        if let body = request.body, case .object(var members)? = try? Value(json: body),
            let place = members.firstIndex(where: { $0.name == "id" }), case .string(let id) = members[place].value
        {
            members[place].value = .string(id.uppercased())
            request.body = Array(Value.object(members).json.utf8)
        }
        return .success(server.handle(request))
    }
}

@Suite struct IDCaseTests {
    private struct Store {
        let server = SimulatedServer(.zumo2)
        var disk = MemoryStorage(granularity: .sector)
        var database: SyncDatabase
        private let configuration: SyncConfiguration

        init() async throws {
            var configuration = SyncConfiguration.test()
            configuration.transport = upperCase(server)
            self.configuration = configuration
            database = try await SyncDatabase.open(disk, configuration)
        }

        mutating func die() async throws {
            disk = disk.processKill()
            database = try await SyncDatabase.open(disk, configuration)
        }

        /// What the store shows.
        struct Image: Equatable {
            var rows: [String: [String: Value]] = [:]
            var pending: [String]
            var held: [HeldRow]
            var conflicts: [String]
        }

        func image() async throws -> Image {
            var image = Image(
                pending: try await database.pending().map { "\($0.kind) \($0.id) \($0.state)" },
                held: try await database.heldRows().sorted { $0.id < $1.id },
                conflicts: try await database.conflicts().map { "\($0.id) \($0.state)" })
            for row in try await database.rows(of: "t").query(RowQuery(table: "t")).rows {
                image.rows[row.id] = row.columns.dictionary
            }
            return image
        }

        func ignoreCase() async throws { try await database.set("ids", .string("ignore-case")) }
    }

    @Test func `a write that is answered in another case is parked with both ids, and the others are sent`()
        async throws
    {
        var store = try await Store()
        let table = store.database.rows(of: "t")
        for id in ["row-a", "7", "row-b"] { try await table.insert(.item(id, ["n": .integer(1)])) }
        let report = try await store.database.push()
        #expect(report.operations.map(\.outcome) == [.parked, .done, .parked])
        let message = try #require(try await store.database.conflicts().first?.message)
        #expect(message.contains("ROW-A") && message.contains("row-a") && message.contains("`ignore-case`"))
        #expect(try await store.database.pull("t").reason == nil, "nothing stops a pull")
        // The pull has fetched the rows under the server's ids: two rows each.
        await #expect { try await store.ignoreCase() } throws: {
            let error = $0 as? SyncError
            return error?.code == .invalidConfiguration && error?.message.contains("ROW-A") == true
        }
        for id in ["row-a", "row-b"] { try await store.database.discard(table: "t", id: id, force: true) }
        try await store.ignoreCase()
        try await store.die()
        try await store.database.rows(of: "t").update(.item("row-a", ["n": .integer(2)]))
        #expect(try await store.database.push().outcome == .complete)
        #expect(store.server.rows(of: "t").first { $0[member: "id"] == .string("ROW-A") }?[member: "n"] == .integer(2))
        await #expect(throws: SyncError.self) { try await store.database.set("ids", .string("exact")) }
        await #expect(throws: SyncError.self) { try await store.database.set("ids", nil) }
    }

    @Test func `after the change a parked insert is tried again, and is recognised as done`() async throws {
        var store = try await Store()
        try await store.database.rows(of: "t").insert(.item("row-a", ["n": .integer(1)]))
        _ = try await store.database.push()
        try await store.ignoreCase()
        try await store.database.resolve(table: "t", id: "ROW-A", .keepMine)
        try await store.die()
        #expect(try await store.database.push().outcome == .complete)
        #expect(
            try await store.database.rows(of: "t").get(id: "row-a")?.id == "ROW-A", "the server's spelling wins")
        // The row's history is one, whatever the spelling.
        for id in ["ROW-A", "row-a"] {
            #expect(try await store.database.blame("t", id: id)?.map(\.field).contains("n") == true)
            let past = try StateLoader(store.disk).load(onlyTo: RowFocus(table: "t", id: id), usingCheckpoints: false)
            #expect(try past.reader(of: past.store.snapshot).row("t", id)?.columns["n"] == .integer(1))
        }
    }

    @Test func `a store whose ids come to be one folds to the same state, with its holds, indexes and changes`()
        async throws
    {
        for seed in UInt64(1)...20 {
            var chance = Chance(seed: seed)
            var store = try await Store()
            let table = store.database.rows(of: "t")
            try await store.database.declareIndex(table: "t", column: "n")
            var truth: [String: Int64] = [:]
            let ids = (0..<12).map { number -> String in
                let uuid = "abcdef00-0000-4000-8000-0000000000\(number + 10)"
                return chance.pick(["row-\(number)", "ROW-\(number)", "Row-\(number)", uuid, uuid.uppercased()])
            }
            for _ in 0..<60 {
                let id = chance.pick(ids)
                let number = Int64(chance.below(5))
                switch chance.below(8) {
                case 0 where truth[id] != nil:
                    try? await table.delete(id: id)
                    truth[id] = nil
                case 1: try? await store.database.hold(table: "t", id: id)
                case 2: store.server.upsert([.item(id, ["n": .integer(number)])], in: "t")
                case 3: _ = try await store.database.push()
                default:
                    _ =
                        truth[id] == nil
                        ? try? await table.insert(.item(id, ["n": .integer(number)]))
                        : try? await table.update(.item(id, ["n": .integer(number)]))
                    truth[id] = number
                }
            }
            let before = try await store.image()
            do {
                try await store.ignoreCase()
            } catch {
                // The push has brought the server's spelling of a row that waits.
                continue
            }
            try #require(try await store.image() == before, "seed \(seed)")
            let indexed = try await table.query(RowQuery(table: "t", filter: try FilterExpression(parsing: "n eq 3")))
                .rows.map(\.id)
            try #require(Set(indexed) == Set(before.rows.filter { $0.value["n"] == .integer(3) }.keys), "seed \(seed)")
            let image = try StateImage.check(store.disk, "seed \(seed)")
            try await store.die()
            try #require(try StateImage.check(store.disk, "seed \(seed)") == image, "seed \(seed)")
            for (id, row) in before.rows {
                let other = id == id.uppercased() ? id.lowercased() : id.uppercased()
                try #require(
                    try await store.database.rows(of: "t").get(id: other)?.columns.dictionary == row, "seed \(seed)"
                )
            }
            // Everything can still be undone, sent and decided.
            for row in try await store.database.heldRows() {
                try await store.database.release(table: row.table, id: row.id)
            }
            _ = try await store.database.push()
            var outcome = PushOutcome.incomplete
            for _ in 0..<4 where outcome != .complete {
                // A refused insert may meet a row of the server, and then be in conflict with it.
                for conflict in try await store.database.conflicts() {
                    try await store.database.resolve(table: conflict.table, id: conflict.id, .keepMine)
                }
                outcome = try await store.database.push().outcome
            }
            try #require(outcome == .complete, "seed \(seed)")
        }
    }
}
