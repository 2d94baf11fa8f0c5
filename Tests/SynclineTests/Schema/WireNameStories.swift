// A store whose columns have other names than the server's, with servers of both protocols, and migrations that
// leave the server unchanged.

import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct WireNameStories {
    private static let first = SyncSchema(version: 1, tables: [TableSchema("t")])
    private static let second = SyncSchema(
        version: 2, tables: [TableSchema("t", columns: [.column("text", onServer: "note")])],
        migrations: [Migration(to: 2, steps: [.renameColumn(table: "t", from: "note", to: "text")])])

    private struct Note: SyncModel, Equatable {
        var id: String
        var text: String
        var done: Bool
    }

    private static func configuration(
        _ schema: SyncSchema, _ protocolVersion: ServerProtocol, _ network: SimulatedNetwork
    ) -> SyncConfiguration {
        var configuration = SyncConfiguration.test()
        configuration.schema = schema
        configuration.serverProtocol = protocolVersion
        configuration.connect(to: network)
        return configuration
    }

    private static func servers() -> [SimulatedServer] {
        ServerProtocol.allCases.flatMap { protocolVersion in
            [false, true].map { canMore in
                var options = SimulatedServer.Options()
                options.tellsChanges = canMore
                options.takesBatches = canMore
                let server = SimulatedServer(protocolVersion, options: options)
                server.setTable(
                    "t",
                    rows: [
                        .item("1", ["note": "milk", "done": false]), .item("2", ["note": "bread", "done": true]),
                    ])
                return server
            }
        }
    }

    private static func note(_ server: SimulatedServer, _ id: String) -> Value? {
        server.rows(of: "t").first { $0[member: "id"] == .string(id) }?[member: "note"]
    }

    @Test func `after a rename the server's answers keep the list alive`() async throws {
        for server in Self.servers() {
            let (protocolVersion, disk, network) = (
                server.serverProtocol, MemoryStorage(granularity: .sector), SimulatedNetwork(server)
            )
            let old = try await SyncDatabase.open(disk, Self.configuration(Self.first, protocolVersion, network))
            #expect(try await old.sync(["t"]).reason == nil)
            try await old.rows(of: "t").update(.item("1", ["note": "oat milk"]))
            // The write arrives, and its response is lost: it is frozen with the old name.
            network.script([.dropAnswer])
            #expect(try await old.push().reason?.code == .offline)
            try await old.rows(of: "t").update(.item("2", ["note": "rye bread"]))
            try await old.close()

            let new = try await SyncDatabase.open(disk, Self.configuration(Self.second, protocolVersion, network))
            let notes = try new.table(Note.self, named: "t")
            #expect(try await notes.order(by: \.id).get().map(\.text) == ["oat milk", "rye bread"])
            let sent = network.requests.last { $0.method != "GET" }
            let count = network.requestCount
            #expect(try await new.push().outcome == .complete)
            let again = network.requests[count...].first { $0.method != "GET" }
            if !server.rows(of: "t").isEmpty, again?.path.hasSuffix("$batch") == false {
                #expect(again?.body == sent?.body && again?.headers == sent?.headers, "exactly as it was")
            }
            #expect(Self.note(server, "1") == "oat milk" && Self.note(server, "2") == "rye bread")
            try await notes.insert(Note(id: "3", text: "salt", done: false))
            server.upsert([.item("1", ["note": "goat milk", "done": true])], in: "t")
            let report = try await new.sync(["t"])
            #expect(report.reason == nil && report.push.outcome == .complete)
            #expect(try await notes.order(by: \.id).get().map(\.text) == ["goat milk", "rye bread", "salt"])
            #expect(Self.note(server, "3") == "salt")
            #expect(server.rows(of: "t").allSatisfy { $0[member: "text"] == nil }, "no column of the app's name")
            try await new.close()
            _ = try StateImage.check(disk, "\(protocolVersion)")
        }
    }

    @Test func `filters, orders, previews and decisions go by the app's names`() async throws {
        for server in Self.servers() {
            let (protocolVersion, network) = (server.serverProtocol, SimulatedNetwork(server))
            let database = try await SyncDatabase.open(
                MemoryStorage(granularity: .sector), Self.configuration(Self.second, protocolVersion, network))
            var settings = PullSettings()
            settings.queryID = "m"
            settings.filter = try .init(parsing: "startswith(text, 'm')")
            settings.reconciles = true
            #expect(try await database.pull("t", settings).reason == nil)
            #expect(try await database.rows(of: "t").query(RowQuery(table: "t")).rows.map(\.id) == ["1"])
            settings = PullSettings()
            settings.order = [RowQuery.Key("text")]
            #expect(try await database.pull("t", settings).received >= 2)
            server.upsert([.item("1", ["note": "theirs", "done": false])], in: "t")
            try await database.rows(of: "t").update(.item("1", ["text": "mine"]))
            let preview = try await database.pushPreview()
            let body = try Value(json: preview.requests.first??.body ?? [])
            #expect(body[member: "note"] == "mine" && body[member: "text"] == nil)
            #expect(try await database.push().outcome == .incomplete)
            let conflict = try #require(try await database.conflicts().first)
            #expect(conflict.mine?["text"] == "mine" && conflict.server?["text"] == "theirs")
            #expect(conflict.base?["text"] == "milk")
            try await database.resolve(table: "t", id: "1", .keepMine)
            #expect(try await database.push().outcome == .complete)
            #expect(Self.note(server, "1") == "mine")
            await #expect(throws: SyncError.self) {
                try await database.rows(of: "t").update(.item("1", ["note": "x"]))
            }
        }
    }

    @Test func `local columns that one device adds, changes and drops are not pushed by another`() async throws {
        let server = SimulatedServer(.datasync3)
        server.setTable("t", rows: [.item("1", ["size": "12 kg", "note": "a"])])
        server.setTable("old", rows: [.item("x", [:])])
        let network = SimulatedNetwork(server)
        let schema = SyncSchema(
            version: 2, tables: [TableSchema("t")],
            migrations: [
                Migration(
                    to: 2,
                    steps: [
                        .addColumn(table: "t", column: "priority", default: 2),
                        .transform(table: "t", column: "size") { value in
                            // Another device may have sent one in the new form with the rest of a row.
                            guard case .string(let text) = value, !text.hasSuffix("!") else { return value }
                            return .string(text + "!")
                        }, .dropTable("old"),
                    ])
            ])
        var writes = 0
        for device in 0..<2 {
            let disk = MemoryStorage(granularity: .sector)
            let old = try await SyncDatabase.open(disk, Self.configuration(Self.first, .datasync3, network))
            #expect(try await old.sync(["t", "old"]).reason == nil)
            try await old.close()
            let new = try await SyncDatabase.open(disk, Self.configuration(schema, .datasync3, network))
            let row = try await new.rows(of: "t").get(id: "1")?.columns
            #expect(row?["priority"] == 2 && row?["size"] == "12 kg!")
            #expect(try await new.pending().isEmpty)
            #expect(try await new.tables() == ["t"])
            #expect(try await new.sync(["t"]).push.operations.isEmpty)
            try await new.rows(of: "t").update(.item("1", ["note": .string("b\(device)"), "priority": 2]))
            #expect(try await new.sync(["t"]).reason == nil)
            writes += 1
            #expect(server.rows(of: "t").first?[member: "priority"] == nil, "only what the app set is sent")
            #expect(try await new.rows(of: "t").get(id: "1")?.columns["priority"] == 2)
            let past = try await new.history(at: 4)
            #expect(try await past.get("t", id: "1")?.columns["priority"] == nil)
            try await new.close()
            _ = try StateImage.check(disk, "device \(device)")
        }
        #expect(network.requests.count { $0.method != "GET" } == writes)
    }

    @Test func `a table with pending operations is not dropped without permission`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let server = SimulatedServer(.zumo2)
        let network = SimulatedNetwork(server)
        let old = try await SyncDatabase.open(disk, Self.configuration(Self.first, .zumo2, network))
        try await old.rows(of: "t").insert(.item("1", [:]))
        try await old.close()
        func schema(_ step: Migration.Step) -> SyncSchema {
            SyncSchema(version: 2, migrations: [Migration(to: 2, steps: [step])])
        }
        let error = await #expect(throws: SyncError.self) {
            try await SyncDatabase.open(disk, Self.configuration(schema(.dropTable("t")), .zumo2, network))
        }
        #expect(error?.code == .pendingChanges)
        let still = try await SyncDatabase.open(disk, Self.configuration(Self.first, .zumo2, network))
        #expect(try await still.pending().count == 1)
        try await still.close()
        let new = try await SyncDatabase.open(
            disk, Self.configuration(schema(.dropTable("t", discardsPending: true)), .zumo2, network))
        #expect(try await new.pending().isEmpty)
        #expect(try await new.tables().isEmpty)
    }
}
