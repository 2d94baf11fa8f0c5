// A store with automatic sync that hears from the server when there is something to fetch.

import Syncline
import SynclineCore
import Testing

@testable import SynclineServer

@Suite(.timeLimit(.minutes(10))) struct ListeningTests {
    @Test func `changes that another store pushes arrive without an interval`()
        async throws
    {
        let server = try RunningServer()
        defer { withExtendedLifetime(server) {} }
        let folder = try TemporaryFolder()
        func store(_ name: String) async throws -> SyncDatabase {
            var configuration = SyncConfiguration()
            configuration.backend = "http://127.0.0.1:\(server.port)"
            return try await SyncDatabase.open(at: folder.path + "/" + name, configuration)
        }
        let (listener, writer) = (try await store("a"), try await store("b"))
        try await writer.rows(of: "todoitem").insert(.object([.init("id", .string("first"))]))
        #expect(try await writer.push().reason == nil)
        var settings = AutomaticSyncSettings(tables: ["todoitem"])
        settings.interval = nil
        let sync = try listener.startAutomaticSync(settings)
        for number in 0..<5 {
            // Before the first round is over nothing listens, and changes made until then are reported when the
            // stream begins.
            try await writer.rows(of: "todoitem").insert(.object([.init("id", .string("r\(number)"))]))
            #expect(try await writer.push().reason == nil)
            for await status in sync.statuses() {
                if case .waiting(_, let error) = status.phase { Issue.record("\(error)") }
                if try await listener.rows(of: "todoitem").get(id: "r\(number)") != nil { break }
            }
        }
        #expect(try await listener.rows(of: "todoitem").count() == 6)
        await sync.stop()
        try await listener.close()
        try await writer.close()
    }
}
