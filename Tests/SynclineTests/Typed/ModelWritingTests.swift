// Writing models: several at once, as a whole, and by a query.

import LogTesting
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

private struct Chore: VersionedModel {
    var id: String
    var text = ""
    var list = 0
    var isDone = false
    var version: String?
}

private struct Plain: SyncModel {
    var id: String
    var text: String
}

@Suite struct ModelWritingTests {
    private func database() async throws -> SyncDatabase { try await SyncDatabase.open(MemoryStorage(), .test()) }

    private func code(_ body: () async throws -> Void) async -> SyncError.Code? {
        do { try await body() } catch { return (error as? SyncError)?.code }
        return nil
    }

    @Test func `several models are inserted together, or none`() async throws {
        let database = try await database()
        let chores = try database.table(Chore.self)
        let start = database.lastEvent
        let stored = try await chores.insert((0..<5).map { Chore(id: "\($0)", text: "t\($0)") })
        #expect(stored.map(\.text) == ["t0", "t1", "t2", "t3", "t4"] && database.lastEvent == start + 1)
        let again = await code { try await chores.insert([Chore(id: "5"), Chore(id: "0"), Chore(id: "6")]) }
        #expect(again == .rowExists)
        #expect(try await chores.count() == 5)
        #expect(try await chores.insert([]).isEmpty && database.lastEvent == start + 1)
        #expect(try await database.undo() == start + 1)
        #expect(try await chores.count() == 0)
    }

    @Test func `a row that is not there is neither changed nor deleted`() async throws {
        let database = try await database()
        let chores = try database.table(Chore.self)
        try await chores.insert(Chore(id: "a"))
        let absent = Chore(id: "x")
        #expect(await code { try await chores.update(absent) } == .rowAbsent)
        #expect(await code { try await chores.update(id: "x") { $0.list = 1 } } == .rowAbsent)
        #expect(await code { try await chores.update(absent, from: absent) } == .rowAbsent)
        #expect(await code { try await chores.delete(absent) } == .rowAbsent)
        #expect(await code { try await chores.delete(ids: ["a", "x"]) } == .rowAbsent)
        #expect(await code { try await database.rows(of: "chore").update(id: "x") { _ in } } == .rowAbsent)
        #expect(try await chores.all().map(\.id) == ["a"], "nothing of it is stored")
        // The table without a model creates the row, as a server does.
        try await database.rows(of: "chore").update(["id": "x", "text": "", "list": 0, "isDone": false])
        try await chores.delete(ids: ["a", "x"])
        #expect(try await chores.count() == 0)
    }

    @Test func `a saved model is inserted, or stored over the version that it was read from`() async throws {
        let pair = try await SyncPair(rows: [.item("a", ["text": "one", "list": 1, "isDone": false])])
        try await pair.pull()
        let chores = try pair.database.table(Chore.self, named: "t")
        var held = try #require(try await chores.get(id: "a"))
        held.text = "mine"
        #expect(try await chores.save(held).text == "mine")
        let before = pair.database.lastEvent
        _ = try await chores.save(held)
        #expect(pair.database.lastEvent == before, "nothing differs")
        #expect(try await chores.save(Chore(id: "new", text: "first")).text == "first")
        #expect(try await chores.save(Chore(id: "new", text: "second")).text == "second")
        #expect(try await pair.push().outcome == .complete)
        let older = held
        #expect(await code { _ = try await chores.save(older) } == .staleItem, "the server has answered since")

        try await chores.delete(id: "a")
        #expect(await code { _ = try await chores.save(older) } == .rowDeleted)
        #expect(await code { _ = try await chores.update(older) } == .rowDeleted)
        #expect(try await pair.push().outcome == .complete)
        #expect(await code { _ = try await chores.save(older) } == .staleItem, "the row is gone")
        #expect(try await chores.overwrite(older).text == "mine", "which inserts it again")
    }

    @Test func `a model is stored over whatever is there`() async throws {
        let database = try await database()
        let plain = try database.table(Plain.self)
        #expect(try await plain.overwrite(Plain(id: "a", text: "1")).text == "1")
        try await database.rows(of: "plain").update(["id": "a", "other": true])
        #expect(try await plain.overwrite(Plain(id: "a", text: "2")).text == "2")
        #expect(try await database.rows(of: "plain").get(id: "a")?.columns["other"] == .bool(true))
        #expect(try await database.pending().map(\.kind) == [.insert])
    }

    @Test func `a query changes the rows that it shows, in one transaction`() async throws {
        let database = try await database()
        let chores = try database.table(Chore.self)
        try await chores.insert((0..<9).map { Chore(id: "\($0)", text: "t\($0)", list: $0 % 3) })
        let start = database.lastEvent
        #expect(try await chores.where { $0.list == 1 }.update { $0.isDone = true } == 3)
        #expect(database.lastEvent == start + 1)
        #expect(try await chores.where { $0.list == 1 }.update { $0.isDone = true } == 0)
        #expect(database.lastEvent == start + 1, "nothing differs")
        let window = chores.order(by: \.text, .descending).offset(1).limit(3)
        #expect(try await window.count() == 3)
        #expect(try await chores.query.offset(7).count() == 2)
        #expect(try await chores.query.offset(20).count() == 0)
        #expect(try await window.update { $0.list += 10 } == 3)
        #expect(try await chores.where { $0.list >= 10 }.get().map(\.id) == ["5", "6", "7"])
        #expect(try await window.delete() == 3)
        #expect(try await chores.all().map(\.id) == ["0", "1", "2", "3", "4", "8"])
        try await database.undo()
        #expect(try await chores.count() == 9)

        struct Own: Error {}
        await #expect(throws: Own.self) {
            try await chores.query.update { chore in
                chore.text = "x"
                if chore.id == "4" { throw Own() }
            }
        }
        #expect(await code { try await chores.query.update { $0.id += "x" } } == .invalidID)
        #expect(try await chores.where { $0.text == "x" }.count() == 0)
    }

    @Test func `rows that the model can't decode are refused, skipped or deleted`() async throws {
        let database = try await database()
        try await database.rows(of: "chore").insert(["id": "b", "text": 5])
        let chores = try database.table(Plain.self, named: "chore")
        try await chores.insert(Plain(id: "a", text: "a"))
        #expect(await code { try await chores.query.update { $0.text = "x" } } == .invalidItem)
        let some = chores.skippingUndecodable { #expect($0.address == "chore/b") }
        #expect(try await some.query.update { $0.text = "x" } == 1)
        #expect(try await some.query.delete() == 2)
        #expect(try await chores.count() == 0)
    }

    @Test func `observers see the changes of a query once`() async throws {
        let database = try await database()
        let chores = try database.table(Chore.self)
        try await chores.insert((0..<4).map { Chore(id: "\($0)") })
        var live = try chores.where { !$0.isDone }.observe().makeAsyncIterator()
        #expect(try await live.next()?.count == 4)
        try await chores.query.limit(3).update { $0.isDone = true }
        #expect(try await live.next()?.map(\.id) == ["3"])
        try await chores.query.delete()
        #expect(try await live.next()?.isEmpty == true)
    }

    @Test(arguments: 1...8)
    func `queries change what a dictionary says`(_ seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let database = try await database()
        let chores = try database.table(Chore.self)
        var model: [String: Chore] = [:]
        for _ in 0..<40 {
            let list = chance.below(4)
            var shown = model.values.filter { $0.list == list }.sorted { $0.id < $1.id }
            var query = chores.where { $0.list == list }
            if chance.once(in: 2) {
                let (offset, limit) = (chance.below(3), chance.below(5))
                query = query.offset(offset).limit(limit)
                shown = Array(shown.dropFirst(offset).prefix(limit))
            }
            #expect(try await query.count() == shown.count)
            switch chance.below(4) {
            case 0, 1:
                let new = (0..<chance.below(6)).map { _ in
                    Chore(id: "\(chance.below(1000))", text: "\(chance.below(3))", list: chance.below(4))
                }
                let ids = Set(new.map(\.id))
                if ids.count == new.count, ids.isDisjoint(with: model.keys) {
                    try await chores.insert(new)
                    for chore in new { model[chore.id] = chore }
                } else {
                    #expect(await code { try await chores.insert(new) } == .rowExists)
                }
            case 2:
                let text = "\(chance.below(3))"
                #expect(try await query.update { $0.text = text } == shown.count { $0.text != text })
                for chore in shown { model[chore.id]?.text = text }
            default:
                #expect(try await query.delete() == shown.count)
                for chore in shown { model[chore.id] = nil }
            }
        }
        let found = try await chores.all()
        #expect(Set(found.map { "\($0)" }) == Set(model.values.map { "\($0)" }))
    }
}
