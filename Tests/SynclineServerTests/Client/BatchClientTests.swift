// The client pushes several operations at a time to this server: what is lost on the way is applied once, and each
// operation has the same result as alone.

import Syncline
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct BatchClientTests {
    @Test(arguments: TestBackend.stores, ServerProtocol.allCases)
    func `operations are sent together once the server is known to support it`(
        _ backend: TestBackend, _ protocolVersion: ServerProtocol
    )
        async throws
    {
        let desk = try ClientDesk(backend, protocolVersion)
        let store = try await desk.store("s")
        for number in 0..<250 { try await store.insert("r\(number)", "text \(number)") }
        #expect(try await store.push().outcome == .complete)
        let batch = "POST /tables/$batch"
        #expect(desk.line.takeRequests() == ["POST /tables/todoitem", batch, batch, batch])
        #expect(try await store.column("version") == desk.truth())
        try await store.update("r1", "new")
        try await store.rows(of: "todoitem").delete(id: "r2")
        try await store.insert("x", "another")
        #expect(try await store.push().outcome == .complete)
        #expect(desk.line.takeRequests() == [batch])
        #expect(try await store.column("version") == desk.truth())
        var single = PushSettings()
        single.batchSize = 1
        for number in 0..<3 { try await store.update("r\(number + 5)", "alone") }
        #expect(try await store.push(single).outcome == .complete)
        #expect(desk.line.takeRequests().count == 3)
        // The log has only what it would have if sent alone.
        let report = try await store.pullAll()
        #expect(report.changed == 0 && report.conflicts == 0)
        try await store.close()
    }

    @Test(arguments: TestBackend.stores)
    func `N21, N22: a lost answer to several is recognised operation by operation`(_ backend: TestBackend) async throws
    {
        let desk = try ClientDesk(backend)
        var store = try await desk.store("s")
        for id in ["a", "b", "gone"] { try await store.insert(id, "one") }
        try await store.pushOnce()
        let before = try desk.truth()
        try await store.update("a", "two")
        try await store.rows(of: "todoitem").delete(id: "gone")
        for number in 0..<5 { try await store.insert("n\(number)", "new") }
        desk.line.lose(1)
        #expect(try await store.pushOnce().reason?.code == .offline)
        let after = try desk.truth()
        #expect(after.count == 7 && after["a"] != before["a"], "the server did what it was asked")
        // Another client changes the row before the write is repeated: the response is still the first one.
        try desk.ask("PATCH", "todoitem/n1", #"{"text":"theirs"}"#)
        // The process ends, and later changes affect how many go together.
        try await store.close()
        store = try await desk.store("s")
        try await store.update("n0", "later")
        try await store.insert("more", "new")
        var settings = PushSettings()
        settings.batchSize = 3
        #expect(try await store.push(settings).outcome == .complete)
        #expect(try desk.truth()["a"] == after["a"], "it was not done twice")
        try await store.pullAll()
        #expect(try await store.column("version") == desk.truth())
        #expect(try await store.column("text")["n1"] == .string("theirs"))
        #expect(try await store.column("text")["n0"] == .string("later"))
        #expect(try await store.conflicts().isEmpty)
        try await store.close()
    }

    @Test(arguments: TestBackend.stores)
    func `a transaction is at the server as a whole, or not at all, if the line breaks`(_ backend: TestBackend)
        async throws
    {
        let desk = try ClientDesk(backend)
        let store = try await desk.store("s")
        try await store.pullAll()
        for id in ["a", "b"] { try await store.insert(id, "one") }
        try await store.transaction { transaction in
            for id in ["c", "d", "e"] {
                _ = try transaction.insert(
                    "todoitem", .object([.init("id", .string(id)), .init("text", .string("two"))]))
            }
        }
        _ = desk.line.takeRequests()
        desk.line.lose(1)
        var settings = PushSettings()
        (settings.batchSize, settings.retries) = (4, 0)
        #expect(try await store.push(settings).reason?.code == .offline)
        #expect(try desk.truth().keys.sorted() == ["a", "b"])
        #expect(try await store.push(settings).outcome == .complete)
        #expect(desk.line.takeRequests() == Array(repeating: "POST /tables/$batch", count: 3))
        #expect(try desk.truth().count == 5)
        try await store.close()
    }

    @Test func `N28: each operation has the same result as if it had been sent alone`() async throws {
        let desk = try ClientDesk()
        let store = try await desk.store("s")
        for id in ["a", "b", "c"] { try await store.insert(id, "one") }
        try await store.pushOnce()
        try desk.ask("PATCH", "todoitem/a", #"{"text":"theirs"}"#)
        try desk.ask("DELETE", "todoitem/b")
        try await store.update("a", "mine")
        try await store.update("b", "mine")
        try await store.rows(of: "todoitem").update(
            .object([.init("id", .string("c")), .init("complete", .string("no boolean"))]))
        try await store.insert("r", "refused", into: "readonly")
        try await store.insert("d", "fine")
        _ = desk.line.takeRequests()
        let report = try await store.pushOnce()
        #expect(desk.line.takeRequests() == ["POST /tables/$batch"])
        #expect(report.operations.map(\.outcome) == [.conflict, .conflict, .parked, .parked, .done])
        #expect(report.operations.map(\.status) == [412, 412, 400, 405, 201])
        let conflicts = try await store.conflicts()
        #expect(conflicts.map(\.reason) == [.changed, .gone, .rejected, .rejected])
        #expect(conflicts[0].server?["text"] == .string("theirs") && conflicts[2].message != nil)
        var policy = PushSettings()
        policy.policy = .clientWins
        try await store.resolve(table: "todoitem", id: "a", .keepMine)
        #expect(try await store.push(policy).operations.first { $0.id == "a" }?.outcome == .done)
        #expect(try desk.ask("GET", "todoitem/a").json["text"] == .string("mine"))
        try await store.close()
    }

    @Test func `if a proxy blocks batches, operations are sent one by one`() async throws {
        let desk = try ClientDesk()
        desk.line.close("/tables/$batch")
        let store = try await desk.store("s")
        for number in 0..<4 { try await store.insert("r\(number)", "text") }
        #expect(try await store.pushOnce().outcome == .complete)
        let alone = "POST /tables/todoitem"
        #expect(desk.line.takeRequests() == [alone, "POST /tables/$batch", alone, alone, alone])
        #expect(try await store.column("version") == desk.truth())
        try await store.close()
    }

    @Test func `a table of users' rows asks for a login in a batch as it does alone`() async throws {
        let desk = try ClientDesk()
        let store = try await desk.store("s")
        try await store.insert("a", "one")
        try await store.pushOnce()
        try await store.insert("b", "one")
        try await store.insert("s", "secret", into: "secure")
        let report = try await store.pushOnce()
        #expect(report.reason?.code == .unauthorized)
        #expect(report.operations.map(\.outcome) == [.done, .pending])
        #expect(try await store.pending().map(\.maybeSent) == [false], "it was refused for sure")
        try await store.close()
    }
}
