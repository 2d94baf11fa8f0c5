// Models made of rows: each key finds its column whatever the order of the columns, and whatever the model asks for.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct RowDecodingTests {
    struct Note: SyncModel, Hashable {
        static let table = "note"
        var id: String
        var text: String
        var count: Int?
        var done: Bool
        var size: Double?
    }

    /// Asks for each key twice and backwards, for one that no row has, and for all names.
    struct Odd: SyncModel, Hashable {
        static let table = "note"
        var id: String
        var names: Set<String>
        var text: String
        var done: Bool
        var count: Int?

        struct Name: CodingKey {
            var stringValue: String
            var intValue: Int? { nil }
            init(_ name: String) { stringValue = name }
            init(stringValue: String) { self.init(stringValue) }
            init?(intValue: Int) { nil }
        }

        init(from decoder: any Decoder) throws {
            let values = try decoder.container(keyedBy: Name.self)
            count = values.contains(Name("count")) ? try values.decode(Int?.self, forKey: Name("count")) : nil
            done = try values.decode(Bool.self, forKey: Name("done"))
            text = try values.decode(String.self, forKey: Name("text"))
            id = try values.decode(String.self, forKey: Name("id"))
            guard try values.decode(String.self, forKey: Name("text")) == text, !values.contains(Name("none")),
                try values.decodeNil(forKey: Name("none")),
                try values.decodeIfPresent(Int.self, forKey: Name("count")) == count
            else { throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "not the same")) }
            names = Set(values.allKeys.map(\.stringValue))
        }

        func encode(to encoder: any Encoder) throws {}
    }

    /// A step that follows others. It counts how often one is made of a row.
    struct Step: SyncModel {
        static let first = Relation(\Step.firstID, to: Step.self)
        static let previous = Relation(\Step.previousID, to: Step.self)
        static let made = Atomic(0)

        var id: String
        var firstID: String
        var previousID: String?

        init(_ number: Int) {
            (id, firstID, previousID) = ("\(number)", "\(number % 2)", number < 4 ? nil : "\(number - 4)")
        }

        init(from decoder: any Decoder) throws {
            Self.made.add(1, ordering: .relaxed)
            let values = try decoder.container(keyedBy: CodingKeys.self)
            id = try values.decode(String.self, forKey: .id)
            firstID = try values.decodeIfPresent(String.self, forKey: .firstID) ?? "0"
            previousID = try values.decodeIfPresent(String.self, forKey: .previousID)
        }
    }

    @Test func `each row is made a model once, also if several relations are followed`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let steps = try database.table(Step.self)
        try await database.transaction { transaction in
            for number in 0..<10 { try transaction.insert(Step(number), in: steps) }
        }
        let query = steps.where { $0.id > "4" }.order(by: \.id).with(Step.first).with(Step.previous).with(
            all: Step.previous)
        let before = Step.made.load(ordering: .relaxed)
        let page = try await query.page()
        // Five rows, the two that are first, five previous ones, and one that follows.
        #expect(Step.made.load(ordering: .relaxed) - before == 5 + 2 + 5 + 1)
        #expect(
            page.elements.map { step, related in
                "\(step.id) \(related.0.0?.id ?? "-") \(related.0.1?.id ?? "-") \(related.1.map(\.id))"
            } == [#"5 1 1 ["9"]"#, "6 0 2 []", "7 1 3 []", "8 0 4 []", "9 1 5 []"])
    }

    @Test func `a reference that a model makes up is followed`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        let steps = try database.table(Step.self)
        try await steps.insert(Step(0))
        try await steps.untyped.insert(["id": "x"])
        #expect(try await steps.where { $0.id == "x" }.with(Step.first).get().map { $0.related?.id } == ["0"])
    }

    @Test func `a model reads its columns in rows of any shape`() throws {
        let values: [Value.Member] = [
            .init("text", .string("milk")), .init("count", .integer(3)), .init("done", .bool(true)),
            .init("size", .double(0.5)), .init("other", .array([.integer(1)])),
        ]
        var chance = Chance(seed: 1)
        var (decoder, oddDecoder) = (RowDecoder(), RowDecoder())
        for number in 0..<300 {
            var members = values.shuffled(using: &chance)
            if chance.once(in: 3) { members.removeAll { $0.name == "count" } }
            if chance.once(in: 3) { members.removeAll { $0.name == "size" } }
            if chance.once(in: 3), let place = members.firstIndex(where: { $0.name == "count" }) {
                members[place].value = .null
            }
            let count = members[member: "count"].flatMap { $0 == .null ? nil : 3 }
            let row = StoredRow(id: "n\(number)", columns: Row(members))
            let note = try ModelCoding<Note>.decode(row, table: "note", with: &decoder)
            #expect(
                note
                    == Note(
                        id: row.id, text: "milk", count: count, done: true,
                        size: members[member: "size"] == nil ? nil : 0.5))
            let odd = try ModelCoding<Odd>.decode(row, table: "note", with: &oddDecoder)
            #expect(odd.names == Set(members.map(\.name) + ["id"]) && odd.text == "milk" && odd.done)
            #expect(odd.id == row.id && odd.count == count)
        }
    }

    /// Keeps its decoder.
    private struct Keeper: SyncModel {
        struct Kept: @unchecked Sendable { let decoder: any Decoder }

        static let decoders = Mutex<[Kept]>([])
        var id: String

        enum CodingKeys: CodingKey { case id }

        init(from decoder: any Decoder) throws {
            id = try decoder.container(keyedBy: CodingKeys.self).decode(String.self, forKey: .id)
            Keeper.decoders.withLock { $0.append(Kept(decoder: decoder)) }
        }
    }

    @Test func `a model may keep the decoder of its row`() throws {
        var decoder = RowDecoder()
        for id in ["a", "b", "c"] {
            _ = try ModelCoding<Keeper>.decode(StoredRow(id: id, columns: .empty), table: "keeper", with: &decoder)
        }
        let ids = try Keeper.decoders.withLock { $0 }.map {
            try $0.decoder.container(keyedBy: Keeper.CodingKeys.self).decode(String.self, forKey: .id)
        }
        #expect(ids == ["a", "b", "c"])
    }

    @Test func `an error names the property and the row`() {
        let row = StoredRow(id: "a", columns: Row([.init("text", .integer(1)), .init("done", .bool(true))]))
        #expect(throws: SyncError.self) { try ModelCoding<Note>.decode(row, table: "note") }
        do throws(SyncError) {
            _ = try ModelCoding<Note>.decode(row, table: "note")
        } catch {
            #expect(error.code == .invalidItem && error.address == "note/a" && error.message.hasPrefix("text: "))
        }
        let short = StoredRow(id: "a", columns: Row([.init("text", .string("milk"))]))
        do throws(SyncError) {
            _ = try ModelCoding<Note>.decode(short, table: "note")
        } catch {
            #expect(error.message == "done: the row does not have this column")
        }
    }
}
