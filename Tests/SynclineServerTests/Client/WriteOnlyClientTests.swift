// This project's client at a table that it may write and not read.

import Syncline
import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct WriteOnlyClientTests {
    @Test(arguments: TestBackend.stores, ServerProtocol.allCases)
    func `a client that may not read keeps what it sent`(
        _ backend: TestBackend, _ protocolVersion: ServerProtocol
    ) async throws {
        let client = try ClientDesk(
            backend, protocolVersion, tables: #"{"todoitem":{"read":"disabled"},"other":{"read":"disabled"}}"#)
        for hasCapabilities in [true, false] {
            client.line.tellCapabilities(hasCapabilities)
            let name = hasCapabilities ? "batch" : "alone"
            let store = try await client.store(name)
            try await store.insert("\(name)1", "one")
            try await store.insert("\(name)2", "two")
            #expect(try await store.pushOnce().reason == nil)
            #expect(try await store.column("text") == ["\(name)1": .string("one"), "\(name)2": .string("two")])
            try await store.update("\(name)1", "three")
            try await store.rows(of: "todoitem").delete(id: "\(name)2")
            #expect(try await store.pushOnce().reason == nil)
            #expect(try await store.column("text") == ["\(name)1": .string("three")])
            #expect(try await store.pending().isEmpty)
            let row = try client.desk.tables.row("todoitem", id: "\(name)1")
            #expect(row?.columns["text"] == .string("three"))
            #expect(
                try await store.rows(of: "todoitem").get(id: "\(name)1")?.columns["version"]
                    == row.map { .string($0.version) })
            try await store.close()
        }
    }
}
