// Differences between the results of a live typed query: they add up to the models, and few models are decoded.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import Testing

@testable import Syncline

private struct Entry: SyncModel, Equatable {
    static let table = "t"

    var id: String
    var rank: Int
    var note: String?
}

/// A model that counts how often it is decoded.
private struct Counted: SyncModel {
    static let table = "t"
    static let decoded = Mutex<[String]>([])

    var id: String
    var rank: Int

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(String.self, forKey: .id)
        rank = try container.decode(Int.self, forKey: .rank)
        Counted.decoded.withLock { $0.append(id) }
    }

    /// The ids of the models that were decoded since the last call.
    static func takeDecoded() -> [String] {
        decoded.withLock { ids in
            defer { ids = [] }
            return ids
        }
    }
}

@Suite(.timeLimit(.minutes(10))) struct ModelDifferenceTests {
    private func database(_ count: Int = 0) async throws -> SyncDatabase {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        for number in 0..<count {
            try await database.rows(of: "t").insert(.item("\(number)", ["rank": .integer(Int64(number))]))
        }
        return database
    }

    @Test(arguments: UInt64(1)...20)
    func `differences add up to the models after every commit`(_ seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let database = try await database()
        // Models that can't be decoded come and go, too.
        let entries = try database.table(Entry.self).skippingUndecodable { _ in }
        let query = entries.where { $0.rank > 1 }
            .order(by: \.note, seed % 2 == 0 ? .ascending : .descending).limit(3 + chance.below(4))
        var changes = try query.observe().differences.makeAsyncIterator()
        var models = try #require(try await changes.next()).result
        var shown = try await entries.untyped.query(query.rowQuery())
        for _ in 0..<60 {
            let id = "\(chance.below(10))"
            switch chance.below(6) {
            case 0: _ = try? await entries.delete(id: id)
            case 1: _ = try? await database.undo()
            default:
                let note: Value = chance.once(in: 5) ? .integer(1) : .string("\(chance.below(4))")
                _ = try? await entries.untyped.update(
                    .item(id, ["rank": .integer(Int64(chance.below(6))), "note": note]))
            }
            let found = try await entries.untyped.query(query.rowQuery())
            guard found != shown else { continue }
            shown = found
            let change = try #require(try await changes.next())
            change.difference.apply(to: &models)
            let expected = try await query.get()
            #expect(change.result == expected && models == expected)
        }
    }

    @Test func `only models whose rows are new or changed are decoded`() async throws {
        let database = try await database(20)
        let table = database.rows(of: "t")
        var changes = try database.table(Counted.self).order(by: \.rank).observe().differences.makeAsyncIterator()
        _ = Counted.takeDecoded()
        #expect(try await changes.next()?.difference.inserted.count == 20)
        #expect(Counted.takeDecoded().count == 20)
        try await table.update(.item("7", ["note": "new"]))
        let updated = try #require(try await changes.next())
        #expect(updated.difference.updated.map(\.row.id) == ["7"] && updated.result.count == 20)
        #expect(Counted.takeDecoded() == ["7"])
        try await table.delete(id: "3")
        try await table.insert(.item("new", ["rank": -1]))
        var rest = try #require(try await changes.next())
        while rest.result.first?.id != "new" { rest = try #require(try await changes.next()) }
        #expect(rest.result.count == 20)
        #expect(Counted.takeDecoded() == ["new"])
    }

    @Test func `a model that can't be decoded is an error, and the next difference includes what came meanwhile`()
        async throws
    {
        let database = try await database(2)
        let table = database.rows(of: "t")
        var changes = try database.table(Entry.self).observe().differences.makeAsyncIterator()
        var models = try #require(try await changes.next()).result
        // From a server that knows no types.
        let row = Row([.init("rank", .string("odd")), .init("version", .string("1"))])
        try await database.pull(PulledPage(table: "t", queryID: nil, rows: [.init(id: "2", row: row)], cursor: nil))
        let error = await #expect(throws: SyncError.self) { _ = try await changes.next() }
        #expect(error?.address == "t/2")
        try await table.update(.item("2", ["rank": 5]))
        let change = try #require(try await changes.next())
        change.difference.apply(to: &models)
        #expect(models.map(\.rank) == [0, 1, 5] && change.difference.inserted.map(\.index) == [2])
    }
}
