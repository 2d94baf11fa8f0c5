// The code of "Testing your app".

import Syncline
import SynclineTesting

enum TestingSnippets {
    static func conflict() async throws {
        let server = SimulatedServer()
        server.setTable("todoitem", rows: [["id": "a", "text": "milk", "complete": false]])
        var configuration = SyncConfiguration()
        configuration.connect(to: SimulatedNetwork(server))
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        let todos = try database.table(TodoItem.self)
        _ = try await database.pull("todoitem")

        server.upsert([["id": "a", "text": "oat milk", "complete": false]], in: "todoitem")
        try await todos.update(id: "a") { $0.text = "goat milk" }
        _ = try await database.push()

        let conflict = try await todos.conflicts().first
        expect(conflict?.base?.text == "milk")
        expect(conflict?.mine?.text == "goat milk")
        expect(conflict?.server?.text == "oat milk")
    }

    static func lostAnswer() async throws {
        let server = SimulatedServer()
        let network = SimulatedNetwork(server)
        var configuration = SyncConfiguration()
        configuration.connect(to: network)
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        try await database.rows(of: "todoitem").insert(["id": "a", "text": "milk"])

        network.script([.dropAnswer])  // the server applies it, and the answer is lost
        let first = try await database.push()
        let second = try await database.push()

        if case .stopped(let error) = first.outcome { expect(error.code == .offline) }
        expect(second.outcome == .complete)
        expect(server.rows(of: "todoitem").count == 1)
    }

    static func powerCut() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk)
        try await database.rows(of: "todoitem").insert(["id": "a", "text": "milk"])

        let afterwards = disk.crash { _ in false }  // nothing that was not synced survives
        let reopened = try await SyncDatabase.open(afterwards)
        expect(try await reopened.rows(of: "todoitem").get(id: "a") != nil)
    }

    static func clock() async throws {
        let clock = ManualEnvironment()
        var configuration = SyncConfiguration()
        configuration.environment = clock
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        let row = try await database.rows(of: "todoitem").insert(["text": "milk"])

        expect(row.id == "id-2")  // the store's own identity was the first
        clock.advance(by: .seconds(86_400))
    }
}
