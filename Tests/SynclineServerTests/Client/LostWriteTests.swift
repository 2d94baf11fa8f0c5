// Changes that wait for rows whose right is lost: each stays, with a reason, until the user decides, also after a restart.

import Syncline
import SynclineCore
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct LostWriteTests {
    private static let tables = #"""
        {"todoitem":{"columns":{"list":"string","text":"string"},"read":"list in share(list where user eq auth.sub)"},
        "share":{"columns":{"user":"string","list":"string"},"softDelete":false,
          "insert":"role:admin","update":"role:admin","delete":"role:admin","undelete":"role:admin"}}
        """#

    private func id(_ number: Int) -> String { "00000000-0000-7000-8000-00000000000\(number)" }

    /// A server with a list of three rows, of which Bob is a member, and Bob's store.
    private struct World {
        let client: ClientDesk
        var store: SyncDatabase

        init(_ backend: TestBackend, _ protocolVersion: ServerProtocol, _ ids: [String]) async throws {
            client = try ClientDesk(backend, protocolVersion, tables: LostWriteTests.tables)
            store = try await World.open(client)
            for (number, user) in ["ann", "bob"].enumerated() {
                try admin("POST", "share", #"{"id":"s\#(number)","user":"\#(user)","list":"l"}"#)
            }
            for id in ids {
                let body = #"{"id":"\#(id)","list":"l","text":"t"}"#
                let answer = try client.desk.ask(
                    "POST", "/tables/todoitem", body, ["X-ZUMO-AUTH": token("ann")])
                #expect(answer.status == 201)
            }
            #expect(try await store.pullAll().reason == nil)
        }

        /// The store on the device, with the token of a user.
        static func open(_ client: ClientDesk, _ user: String = "bob") async throws -> SyncDatabase {
            var configuration = SyncConfiguration()
            configuration.transport = UserLine(client.line, user)
            configuration.serverProtocol = client.protocolVersion
            return try await SyncDatabase.open(at: client.folder.path + "/device", configuration)
        }

        mutating func restart() async throws {
            try await store.close()
            store = try await World.open(client)
        }

        func admin(_ method: String, _ path: String, _ body: String? = nil) throws {
            let headers = ["X-ZUMO-AUTH": token("root", claims: #","roles":["admin"]"#)]
            #expect(try client.desk.ask(method, "/tables/" + path, body, headers).status < 300)
        }

        /// The operations that wait for a decision, by their rows' last digits.
        func waiting() async throws -> [String] {
            try await store.conflicts().map { "\($0.id.suffix(1)) \($0.kind) \($0.reason)" }.sorted()
        }
    }

    @Test(arguments: [TestBackend.memory, .sqlite], ServerProtocol.allCases)
    func `a push keeps the changes of a removed member, with a reason`(
        _ backend: TestBackend, _ protocolVersion: ServerProtocol
    ) async throws {
        var world = try await World(backend, protocolVersion, (1...3).map(id))
        try await world.store.update(id(1), "mine")
        try await world.store.rows(of: "todoitem").delete(id: id(2))
        try await world.store.rows(of: "todoitem").insert(
            .object([.init("id", .string(id(4))), .init("list", .string("l")), .init("text", .string("new"))]))
        try world.admin("DELETE", "share/s1")
        try await world.restart()
        #expect(try await world.store.pushOnce().reason != nil)
        let kept = ["1 update gone", "2 delete rejected", "4 insert rejected"]
        #expect(try await world.waiting() == kept)
        try await world.restart()
        // The page says why the server refused what it had.
        #expect(try await world.store.pullAll().reason == nil)
        #expect(try await world.waiting() == ["1 update rightLost", "2 delete rightLost", "4 insert rejected"])
        let delete = try await world.store.conflicts().first { $0.kind == .delete }
        #expect(delete?.message == "The item does not exist, or you may not see it")
        #expect(try await world.store.column("text") == [id(1): .string("mine"), id(4): .string("new")])
        // Nothing was done, and nothing of another's row is left after the decisions.
        #expect(try world.client.desk.tables.row("todoitem", id: id(2))?.isDeleted == false)
        for number in [1, 2, 4] {
            try await world.store.resolve(table: "todoitem", id: id(number), .takeServer)
        }
        #expect(try await world.waiting() == [])
        #expect(try await world.store.column("text") == [:])
        try await world.store.close()
    }

    @Test func `a sign-out does not lose changes that wait unless it is forced, and the next user never sends them`()
        async throws
    {
        let world = try await World(.sqlite, .zumo2, [id(1)])
        try await world.store.update(id(1), "mine")
        await #expect(throws: SyncError.self) { try await world.store.erase() }
        #expect(try await world.store.column("text") == [id(1): .string("mine")])
        try await world.store.erase(force: true)
        let next = try await World.open(world.client, "ann")
        _ = world.client.line.takeRequests()
        #expect(try await next.column("text") == [:])
        #expect(try await next.pushOnce().reason == nil)
        #expect(world.client.line.takeRequests().isEmpty)
        #expect(try world.client.desk.tables.row("todoitem", id: id(1))?.columns["text"] == .string("t"))
        try await next.close()
    }

    @Test(arguments: [TestBackend.memory, .sqlite])
    func `a pull that finds the loss first keeps a delete that waits`(_ backend: TestBackend) async throws {
        for decision in [ConflictDecision.takeServer, .keepMine] {
            var world = try await World(backend, .zumo2, (1...2).map(id))
            try await world.store.rows(of: "todoitem").delete(id: id(2))
            try await world.store.hold(table: "todoitem", id: id(2))
            try world.admin("DELETE", "share/s1")
            #expect(try await world.store.pullAll().reason == nil)
            #expect(try await world.waiting() == ["2 delete rightLost"])
            try await world.restart()
            #expect(try await world.waiting() == ["2 delete rightLost"])
            // The row's place tells the loss again: still no agreement.
            #expect(try await world.store.pullAll().reason == nil)
            #expect(try await world.waiting() == ["2 delete rightLost"])
            try await world.store.resolve(table: "todoitem", id: id(2), decision)
            #expect(try await world.waiting() == [])
            // One that is tried again is sent, and refused again.
            let isSent = decision == .keepMine
            try await world.store.release(table: "todoitem", id: id(2))
            #expect(try await (world.store.pushOnce().reason != nil) == isSent)
            #expect(try await world.waiting() == (isSent ? ["2 delete rightLost"] : []))
            #expect(try await world.store.column("text") == [:])
            #expect(try world.client.desk.tables.row("todoitem", id: id(2))?.isDeleted == false)
            try await world.store.close()
        }
    }
}
