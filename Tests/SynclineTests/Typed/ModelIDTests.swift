// Ids of models that are not strings. A row's id remains a string, and a model always finds its own row.

import Foundation
import SegmentLog
import SynclineTesting
import Testing

@testable import Syncline

private struct Site: SyncModel, Equatable {
    var id = UUID()
    var name: String
}

private struct Ticket: SyncModel, Equatable {
    var id: Int
    var text: String
}

private struct DoorID: RawRepresentable, RowIdentifier {
    var rawValue: UUID
}

private struct Door: SyncModel, Equatable {
    static let table = "doors"

    var id: DoorID
    var site: UUID?
    var isOpen = false
}

private struct Key: SyncModel, Equatable {
    var id: String
    var door: DoorID?
}

@Suite struct ModelIDTests {
    private func database() async throws -> SyncDatabase {
        try await SyncDatabase.open(MemoryStorage(), .test())
    }

    @Test func `a UUID makes a row with an upper-case id, and finds one in lower case`() async throws {
        let pair = try await SyncPair()
        let (ours, theirs) = (Site(name: "ours"), Site(name: "theirs"))
        pair.server.upsert([.item(theirs.id.uuidString.lowercased(), ["name": "theirs"])], in: "t")
        try await pair.pull()
        let sites = try pair.database.table(Site.self, named: "t")
        try await sites.insert(ours)

        #expect(try await pair.table.get(id: ours.id.uuidString) != nil)
        #expect(try await sites.get(id: theirs.id) == theirs)
        #expect(try await sites.where { $0.id == theirs.id }.get() == [theirs])
        #expect(try await sites.where { $0.id != theirs.id }.get() == [ours])
        try await sites.update(id: theirs.id) { $0.name = "changed" }
        try await sites.overwrite(Site(id: theirs.id, name: "changed again"))
        #expect(try await pair.table.count() == 2)
        #expect(try await pair.push().outcome == .complete)
        #expect(pair.serverRow(theirs.id.uuidString.lowercased())?[member: "name"] == .string("changed again"))
        try await sites.delete(theirs)
        #expect(try await sites.all() == [ours])
    }

    @Test func `an integer is stored as its digits, and finds its row`() async throws {
        let tickets = try await database().table(Ticket.self)
        for number in [5, 12] { try await tickets.insert(Ticket(id: number, text: "ticket \(number)")) }
        #expect(try await tickets.untyped.get(id: "12")?.columns["text"] == .string("ticket 12"))
        #expect(try await tickets.get(id: 12)?.text == "ticket 12")
        #expect(try await tickets.where { $0.id == 5 }.get().map(\.id) == [5])
        #expect(try await tickets.where { $0.id.isOne(of: [5, 7]) }.count() == 1)
        let error = await #expect(throws: SyncError.self) { try await tickets.where { $0.id > 5 }.get() }
        #expect(error?.code == .unsupportedPredicate)
    }

    @Test func `a type of an app's own can be an id`() async throws {
        let doors = try await database().table(Door.self)
        let door = Door(id: DoorID(rawValue: UUID()), site: UUID())
        try await doors.insert(door)
        #expect(doors.name == "doors")
        #expect(try await doors.get(id: door.id) == door)
        #expect(try await doors.where { $0.id == door.id && $0.site == door.site }.get() == [door])
    }

    @Test func `an id of an app's own type is a string in other columns, too, and is found in either case`()
        async throws
    {
        let keys = try await database().table(Key.self)
        let door = DoorID(rawValue: UUID())
        let text = door.rawValue.uuidString
        try await keys.insert(Key(id: "a", door: door))
        try await keys.untyped.insert(["id": "b", "door": .string(text.lowercased())])
        try await keys.insert(Key(id: "c", door: DoorID(rawValue: UUID())))
        #expect(try await keys.untyped.get(id: "a")?.columns["door"] == .string(text))
        #expect(try await keys.where { $0.door == door }.get() == [Key(id: "a", door: door), Key(id: "b", door: door)])
        #expect(try await keys.where { $0.door != door }.get().map(\.id) == ["c"])
    }

    @Test(arguments: ["007", "-0", "seven"])
    func `a row whose id the model could not find again is an error, not another row`(_ id: String) async throws {
        let tickets = try await database().table(Ticket.self)
        try await tickets.untyped.insert(.item(id, ["text": "odd"]))
        let error = await #expect(throws: SyncError.self) { try await tickets.all() }
        #expect(error?.code == .invalidItem && error?.address == "ticket/\(id)")
    }

    @Test func `a row whose UUID is in mixed case is an error`() async throws {
        let sites = try await database().table(Site.self)
        try await sites.untyped.insert(.item("aBCDEF00-0000-0000-0000-000000000000", ["name": "odd"]))
        await #expect(throws: SyncError.self) { try await sites.all() }
    }
}
