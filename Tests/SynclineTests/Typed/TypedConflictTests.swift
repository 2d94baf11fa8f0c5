// Decisions with models: only what differs from the server's row is sent, and local columns are kept.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

private struct Note: SyncModel {
    var id: String
    var text: String
    var colour: String
    var isExpanded: Bool?
}

@Suite(.timeLimit(.minutes(10))) struct TypedConflictTests {
    /// A conflict over `text`, in a table with a local column.
    private static func conflict(_ server: ServerProtocol) async throws -> (SyncPair, SyncTable<Note>) {
        let pair = try await SyncPair(
            server, rows: [.item("a", ["text": "one", "colour": "red"])],
            schema: SyncSchema(version: 1, tables: [TableSchema("t", localColumns: ["isExpanded", "scroll"])]))
        try await pair.pull()
        try await pair.table.update(.item("a", ["text": "mine", "isExpanded": true, "scroll": 7]))
        pair.server.upsert([.item("a", ["text": "theirs", "colour": "blue"])], in: "t")
        try await pair.push()
        return (pair, try pair.database.table(Note.self, named: "t"))
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a model chosen by the app sends the differences from the server's row and keeps local columns`(
        _ server: ServerProtocol
    ) async throws {
        let (pair, notes) = try await Self.conflict(server)
        let conflict = try #require(try await notes.conflicts().first)
        var chosen = try #require(conflict.server)
        chosen.text = "both"
        try await notes.resolve(conflict, with: chosen)
        let operation = try #require(try await pair.database.pending().first)
        #expect(try await pair.database.fields(of: operation) == ["text"])
        let row = try #require(try await notes.untyped.get(id: "a")).columns
        #expect(row["isExpanded"] == true && row["scroll"] == 7)
        #expect(row["text"] == "both" && row["colour"] == "blue")
        #expect(try await pair.push().outcome == .complete)
        #expect(pair.serverRow("a")?[member: "colour"] == "blue")
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a model that is the server's row sends nothing`(_ server: ServerProtocol) async throws {
        let (pair, notes) = try await Self.conflict(server)
        let conflict = try #require(try await notes.conflicts().first)
        try await notes.resolve(conflict, with: try #require(conflict.server))
        #expect(try await pair.database.pending().isEmpty)
        #expect(try await notes.conflicts().isEmpty)
        #expect(try await notes.get(id: "a")?.isExpanded == true)
    }

    @Test(arguments: ServerProtocol.allCases)
    func `local columns stay if the chosen model replaces a missing row`(
        _ server: ServerProtocol
    ) async throws {
        let (pair, notes) = try await Self.conflict(server)
        pair.server.remove(["a"], from: "t")
        try await pair.database.resolve(table: "t", id: "a", .keepMine)
        try await pair.push()
        let conflict = try #require(try await notes.conflicts().first)
        #expect(conflict.server == nil)
        try await notes.resolve(conflict, with: Note(id: "a", text: "again", colour: "green"))
        let row = try #require(try await notes.untyped.get(id: "a")).columns
        #expect(row["isExpanded"] == true && row["scroll"] == 7 && row["text"] == "again")
    }

    @Test func `a conflict that the model can't decode is named, or left out and reported`() async throws {
        let (pair, notes) = try await Self.conflict(.zumo2)
        pair.server.upsert([.item("b", ["text": 5])], in: "t")
        try await pair.table.insert(.item("b", ["text": "x", "colour": "red"]))
        try await pair.push()
        let error = await #expect(throws: SyncError.self) { try await notes.conflicts() }
        #expect(error?.address == "t/b")
        let reported = Mutex<[String?]>([])
        let readable = notes.skippingUndecodable { error in reported.withLock { $0.append(error.address) } }
        #expect(try await readable.conflicts().map(\.id) == ["a"])
        #expect(reported.withLock { $0 } == ["t/b"])
    }

    @Test func `live conflicts continue after one that the model can't decode`() async throws {
        let (pair, notes) = try await Self.conflict(.zumo2)
        var live = try notes.observeConflicts().makeAsyncIterator()
        #expect(try await live.next()?.map(\.id) == ["a"])
        pair.server.upsert([.item("b", ["text": 5])], in: "t")
        try await pair.table.insert(.item("b", ["text": "x", "colour": "red"]))
        try await pair.push()
        let error = await #expect(throws: SyncError.self) { try await live.next() }
        #expect(error?.address == "t/b")
        try await pair.database.resolve(table: "t", id: "b", .takeServer)
        #expect(try await live.next()?.map(\.id) == ["a"], "the same list as before the error")
    }

    @Test func `a model of another row decides nothing`() async throws {
        let (_, notes) = try await Self.conflict(.zumo2)
        let conflict = try #require(try await notes.conflicts().first)
        let other = Note(id: "b", text: "x", colour: "red")
        let error = await #expect(throws: SyncError.self) { try await notes.resolve(conflict, with: other) }
        #expect(error?.code == .invalidID)
    }
}
