// This project's client and server: what two devices write ends up on both.

import Foundation
import Syncline
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct ClientTests {
    private func device(
        _ server: RunningServer, _ folder: TemporaryFolder, _ name: String, _ protocolVersion: ServerProtocol
    )
        async throws
        -> SyncDatabase
    {
        var configuration = SyncConfiguration()
        configuration.backend = server.server.url
        configuration.serverProtocol = protocolVersion
        return try await SyncDatabase.open(at: folder.path + "/" + name, configuration)
    }

    private func contents(_ device: SyncDatabase) async throws -> [String: Value] {
        let rows = try await device.rows(of: "todoitem").query(RowQuery(table: "todoitem")).rows
        return Dictionary(rows.map { ($0.id, $0.columns["text"] ?? .null) }) { $1 }
    }

    @Test(arguments: TestBackend.available, ServerProtocol.allCases)
    func `two devices end up with the same rows`(_ backend: TestBackend, _ protocolVersion: ServerProtocol) async throws
    {
        let server = try RunningServer(backend)
        defer { withExtendedLifetime(server) {} }
        let folder = try TemporaryFolder()
        defer { withExtendedLifetime(folder) {} }
        let first = try await device(server, folder, "first", protocolVersion)
        let second = try await device(server, folder, "second", protocolVersion)
        for number in 0..<60 {
            try await first.rows(of: "todoitem").insert(
                .object([.init("id", .string("r\(number)")), .init("text", .string("text \(number)"))]))
        }
        #expect(try await first.push().outcome == .complete)
        var settings = PullSettings()
        settings.queryID = "all"
        #expect(try await second.pull("todoitem", settings).received >= 60)
        #expect(try await contents(second) == contents(first))

        try await second.rows(of: "todoitem").update(
            .object([.init("id", .string("r1")), .init("text", .string("new"))]))
        try await second.rows(of: "todoitem").delete(id: "r2")
        try await second.rows(of: "todoitem").update(
            .object([.init("id", .string("r3")), .init("text", .string("theirs"))]))
        #expect(try await second.push().outcome == .complete)
        try await first.rows(of: "todoitem").update(
            .object([.init("id", .string("r3")), .init("text", .string("mine"))]))
        #expect(try await first.push().outcome != .complete)
        let conflicts = try await first.conflicts()
        #expect(conflicts.map(\.id) == ["r3"])
        try await first.resolve(table: "todoitem", id: "r3", .keepMine)
        #expect(try await first.push().outcome == .complete)
        _ = try await first.pull("todoitem", settings)
        _ = try await second.pull("todoitem", settings)
        let truth = try await contents(first)
        #expect(truth.count == 59 && truth["r1"] == .string("new") && truth["r3"] == .string("mine"))
        #expect(try await contents(second) == truth)
        try await first.close()
        try await second.close()
    }
}
