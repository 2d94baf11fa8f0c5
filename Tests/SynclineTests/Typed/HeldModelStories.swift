// A model that is held while a pull fetches what another device changed: no way of saving it reverts that.

import Foundation
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

private struct Contact: VersionedModel {
    var id: String
    var name: String
    var phone: String
    var version: String?
}

@Suite struct HeldModelStories {
    /// A reads a row; B changes `phone` and pushes; A pulls. A still has what it read.
    private static func story(_ server: ServerProtocol) async throws -> (SyncPair, SyncTable<Contact>, Contact) {
        let pair = try await SyncPair(server, rows: [.item("a", ["name": "Ada", "phone": "1"])])
        try await pair.pull()
        let contacts = try pair.database.table(Contact.self, named: "t")
        let held = try #require(try await contacts.get(id: "a"))
        pair.server.upsert([.item("a", ["name": "Ada", "phone": "2"])], in: "t")
        try await pair.pull()
        return (pair, contacts, held)
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a whole model with an older version is refused, and nothing is stored`(
        _ server: ServerProtocol
    ) async throws {
        let (pair, contacts, held) = try await Self.story(server)
        var edited = held
        edited.name = "Ada L."
        let error = await #expect(throws: SyncError.self) { try await contacts.update(edited) }
        #expect(error?.code == .staleItem && error?.address == "t/a")
        #expect(try await pair.database.pending().isEmpty)
        #expect(try await contacts.get(id: "a")?.phone == "2")
    }

    /// Every way of saving a new name that keeps the other device's phone.
    private static let forms:
        [(name: String, save: @Sendable (SyncPair, SyncTable<Contact>, Contact) async throws -> Void)] = [
            ("by closure", { _, contacts, held in try await contacts.update(id: held.id) { $0.name = "Ada L." } }),
            (
                "from the original",
                { _, contacts, held in
                    var edited = held
                    edited.name = "Ada L."
                    try await contacts.update(edited, from: held)
                }
            ),
            (
                "read again",
                { _, contacts, held in
                    var fresh = try #require(try await contacts.get(id: held.id))
                    fresh.name = "Ada L."
                    try await contacts.update(fresh)
                }
            ),
            (
                "by closure in a transaction",
                { pair, contacts, held in
                    try await pair.database.transaction { transaction in
                        let saved = try transaction.update(id: held.id, in: contacts) { $0.name = "Ada L." }
                        #expect(saved.phone == "2")
                    }
                }
            ),
            (
                "from the original in a transaction",
                { pair, contacts, held in
                    var edited = held
                    edited.name = "Ada L."
                    let model = edited
                    _ = try await pair.database.transaction { try $0.update(model, from: held, in: contacts) }
                }
            ),
            (
                "without a model",
                { pair, _, held in try await pair.table.update(id: held.id) { $0["name"] = "Ada L." } }
            ),
            (
                "from the original without a model",
                { pair, _, held in
                    let original = StoredRow(
                        id: held.id, columns: Row([.init("name", "Ada"), .init("phone", "1"), .init("version", "v")]))
                    var edited = original
                    edited.columns["name"] = "Ada L."
                    try await pair.table.update(edited, from: original)
                }
            ),
            (
                "without a model in a transaction",
                { pair, _, held in
                    _ = try await pair.database.transaction { transaction in
                        try transaction.update("t", id: held.id) { $0["name"] = "Ada L." }
                    }
                }
            ),
            (
                "part of a row",
                { pair, _, held in try await pair.table.update(.item(held.id, ["name": "Ada L."])) }
            ),
        ]

    @Test(arguments: ServerProtocol.allCases, forms.indices)
    func `a new name is saved, and the other device's phone stays`(_ server: ServerProtocol, _ form: Int) async throws {
        let (pair, contacts, held) = try await Self.story(server)
        try await Self.forms[form].save(pair, contacts, held)
        let operation = try #require(try await pair.database.pending().first)
        #expect(try await pair.database.fields(of: operation) == ["name"], "\(Self.forms[form].name)")
        #expect(try await pair.push().outcome == .complete)
        #expect(pair.serverRow("a")?[member: "name"] == "Ada L.")
        #expect(pair.serverRow("a")?[member: "phone"] == "2", "\(Self.forms[form].name)")
    }

    @Test func `a model without a version can't be told from a new one, which is why there are other forms`()
        async throws
    {
        struct Plain: SyncModel {
            var id: String
            var name: String
            var phone: String
        }
        let (pair, _, held) = try await Self.story(.zumo2)
        let plain = try pair.database.table(Plain.self, named: "t")
        #expect(try await plain.overwrite(Plain(id: "a", name: "Ada L.", phone: held.phone)).phone == "1")
    }

    @Test func `a model of a row that was deleted or is new is refused as well`() async throws {
        let (pair, contacts, held) = try await Self.story(.datasync3)
        var new = try await contacts.insert(Contact(id: "new", name: "Bob", phone: "3"))
        new.name = "Bo"
        try await contacts.update(new)
        #expect(try await pair.push().outcome == .complete)
        new.name = "Bobby"
        let older = new
        let early = await #expect(throws: SyncError.self) { try await contacts.update(older) }
        #expect(early?.code == .staleItem, "the server has answered since")

        try await contacts.delete(id: "new")
        let deleted = await #expect(throws: SyncError.self) { try await contacts.update(older) }
        #expect(deleted?.code == .rowDeleted)

        pair.server.remove(["a"], from: "t")
        try await pair.pull { $0.reconciles = true }
        #expect(try await contacts.get(id: "a") == nil)
        let gone = await #expect(throws: SyncError.self) { try await contacts.update(held) }
        #expect(gone?.code == .rowAbsent)
        let saved = await #expect(throws: SyncError.self) { try await contacts.save(held) }
        #expect(saved?.code == .staleItem)
        let byDifference = await #expect(throws: SyncError.self) { try await contacts.update(held, from: held) }
        #expect(byDifference?.code == .rowAbsent)
        let byClosure = await #expect(throws: SyncError.self) { try await contacts.update(id: "a") { $0.name = "x" } }
        #expect(byClosure?.code == .rowAbsent)
        #expect(try await pair.database.pending().isEmpty)
    }

    @Test func `a model can't become another row, and an error of the app leaves no change`() async throws {
        struct Own: Error {}
        let (pair, contacts, held) = try await Self.story(.zumo2)
        let other = await #expect(throws: SyncError.self) { try await contacts.update(id: "a") { $0.id = "b" } }
        #expect(other?.code == .invalidID)
        await #expect(throws: Own.self) {
            try await contacts.update(id: "a") {
                $0.name = "x"
                throw Own()
            }
        }
        #expect(try await contacts.update(held, from: held).phone == "2", "nothing differs, and nothing is stored")
        #expect(try await pair.database.pending().isEmpty)
    }

    @Test func `a whole model does not set columns that already have the same value`() async throws {
        struct Visit: SyncModel {
            var id: String
            var at: Date
            var text: String
        }
        let pair = try await SyncPair(rows: [.item("a", ["at": "2026-01-01T00:00:00.1234567Z", "text": "x"])])
        try await pair.pull()
        let visits = try pair.database.table(Visit.self, named: "t")
        var visit = try #require(try await visits.get(id: "a"))
        visit.text = "y"
        try await visits.overwrite(visit)
        let operation = try #require(try await pair.database.pending().first)
        #expect(try await pair.database.fields(of: operation) == ["text"], "the date keeps its digits")
    }
}
