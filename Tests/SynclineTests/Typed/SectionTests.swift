// Lists in sections: their order, counts and windows, now and after each change.

import LogTesting
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

private struct Chore: SyncModel {
    var id: String
    var text = ""
    var room: String?
}

@Suite(.timeLimit(.minutes(10))) struct SectionTests {
    private func chores() async throws -> SyncTable<Chore> {
        try await SyncDatabase.open(MemoryStorage(), .test()).table(Chore.self)
    }

    private func text(_ sections: [SectionedQuery<Chore, String?>.Section]) -> [String] {
        sections.map { "\($0.key ?? "-") \($0.count): \($0.models.map(\.text).joined(separator: " "))" }
    }

    @Test func `sections come in the order of their keys, with all counts`() async throws {
        let chores = try await chores()
        let rooms: [String?] = ["kitchen", nil, "hall", "kitchen", "hall", "kitchen"]
        try await chores.insert(rooms.enumerated().map { Chore(id: "\($0)", text: "t\($0)", room: $1) })
        let list = chores.order(by: \.text, .descending)
        #expect(try await text(list.sections(by: \.room).get()) == ["- 1: t1", "hall 2: t4 t2", "kitchen 3: t5 t3 t0"])
        let newest = list.limit(4).sections(by: \.room, .descending)
        #expect(try await text(newest.get()) == ["kitchen 3: t5 t3 t0", "hall 2: t4"])
        #expect(try await text(list.offset(5).sections(by: \.room).get()) == ["kitchen 3: t0"])
        let some = chores.where { $0.text != "t5" && $0.room != nil }.sections(by: \.room)
        #expect(try await text(some.get()) == ["hall 2: t2 t4", "kitchen 2: t0 t3"])
        #expect(try await chores.where { $0.text == "none" }.sections(by: \.room).get().isEmpty)
    }

    @Test func `live sections follow rows that move between them, and rows beyond the limit`() async throws {
        let chores = try await chores()
        try await chores.insert((0..<4).map { Chore(id: "\($0)", text: "t\($0)", room: $0 < 2 ? "a" : "b") })
        var live = try chores.order(by: \.text).limit(3).sections(by: \.room).observe().makeAsyncIterator()
        #expect(try await text(#require(live.next())) == ["a 2: t0 t1", "b 2: t2"])
        try await chores.update(id: "3") { $0.text = "t9" }
        try await chores.update(id: "0") { $0.room = "b" }
        var shown = try await text(#require(live.next()))
        if shown.first != "a 1: t1" { shown = try await text(#require(live.next())) }
        #expect(shown == ["a 1: t1", "b 3: t0 t2"])
        try await chores.delete(id: "3")
        #expect(try await text(#require(live.next())) == ["a 1: t1", "b 2: t0 t2"], "only a count changes")
    }

    @Test func `a row that the model can't decode is an error, or only counted`() async throws {
        let chores = try await chores()
        try await chores.insert(Chore(id: "a", text: "x", room: "hall"))
        try await chores.untyped.insert(["id": "b", "room": "hall"])
        await #expect(throws: SyncError.self) { _ = try await chores.sections(by: \.room).get() }
        let some = chores.skippingUndecodable { #expect($0.address == "chore/b") }
        #expect(try await text(some.sections(by: \.room).get()) == ["hall 2: x"])
    }

    // MARK: By a computed value

    @Test func `sections by an expression come in the order of the query, with all counts`() async throws {
        let chores = try await chores()
        try await chores.insert(["Bike", "apples", "Beer", "ants"].map { Chore(id: $0, text: $0, room: "x") })
        let sections = chores.order(by: \.text).sections(by: { $0.text.count })
        func text<Key>(_ sections: [SectionedQuery<Chore, Key>.Section]) -> [String] {
            sections.map { "\($0.key) \($0.count): \($0.models.map(\.text).joined(separator: " "))" }
        }
        #expect(try await text(sections.get()) == ["4 3: Beer Bike ants", "6 1: apples"])
        let some = chores.order(by: \.text, .descending).limit(2).sections(by: { $0.text.count })
        #expect(try await text(some.get()) == ["6 1: apples", "4 3: ants"])
        let long = chores.sections(by: { $0.text.count > 4 && $0.id != "x" })
        #expect(try await text(long.get()) == ["false 3: Beer Bike ants", "true 1: apples"])
    }

    @Test func `a row without a value for its section is an error, or only not shown`() async throws {
        let chores = try await chores()
        try await chores.insert([Chore(id: "a", text: "a", room: "hall"), Chore(id: "b", text: "b")])
        let error = await #expect(throws: SyncError.self) {
            try await chores.sections(by: { $0.room.lowercased() }).get()
        }
        #expect(error?.code == .invalidItem && error?.address == "chore/b")
        let some = chores.skippingUndecodable { #expect($0.address == "chore/b") }
        #expect(try await some.sections(by: { $0.room.lowercased() }).get().map(\.key) == ["hall"])
        #expect(try await chores.where { $0.room != nil }.sections(by: { $0.room.lowercased() }).get().count == 1)
    }

    @Test(arguments: 1...12)
    func `live sections by an expression are those of the models`(_ seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let chores = try await chores()
        var list = chores.where { $0.text != "3" }.order(by: \.text, chance.once(in: 2) ? .ascending : .descending)
        if chance.once(in: 2) { list = list.limit(chance.below(8)).offset(chance.below(3)) }
        let query = list.sections(by: { $0.text.count })
        var live = try query.observe().makeAsyncIterator()
        func lines(_ sections: [SectionedQuery<Chore, Int>.Section]) -> [String] {
            sections.map { "\($0.key) \($0.count): \($0.models.map(\.id))" }
        }
        var shown = lines(try #require(try await live.next()))
        for _ in 0..<40 {
            let id = "\(chance.below(12))"
            let text = String(repeating: "\(chance.below(4))", count: 1 + chance.below(3))
            if chance.once(in: 4) {
                if try await chores.get(id: id) != nil { try await chores.delete(id: id) }
            } else {
                try await chores.overwrite(Chore(id: id, text: text))
            }
            // Computed from the models, without the store's sections.
            let all = try await list.limit(.max).offset(0).get()
            var expected: [String] = []
            var seen: Set<Int> = []
            let page = try await list.get()
            for key in page.map(\.text.count) where seen.insert(key).inserted {
                let ids = page.filter { $0.text.count == key }.map(\.id)
                expected.append("\(key) \(all.count { $0.text.count == key }): \(ids)")
            }
            #expect(lines(try await query.get()) == expected)
            while shown != expected { shown = lines(try #require(try await live.next())) }
        }
    }

    @Test(arguments: 1...12)
    func `after each change live sections are those of the query run again`(_ seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let chores = try await chores()
        var list = chores.where { $0.text != "3" }.order(by: \.text, chance.once(in: 2) ? .ascending : .descending)
        if chance.once(in: 2) { list = list.limit(chance.below(8)).offset(chance.below(3)) }
        let query = list.sections(by: \.room, chance.once(in: 2) ? .ascending : .descending)
        var live = try query.observe().makeAsyncIterator()
        var shown = text(try #require(try await live.next()))
        for _ in 0..<40 {
            let id = "\(chance.below(12))"
            let chore = Chore(id: id, text: "\(chance.below(6))", room: chance.pick([nil, "a", "b", "c"]))
            let isThere = try await chores.get(id: id) != nil
            if isThere, chance.once(in: 3) {
                try await chores.delete(id: id)
            } else {
                try await chores.overwrite(chore)
            }
            let models = try await list.limit(.max).offset(0).get()
            let expected = text(try await query.get())
            for section in try await query.get() {
                #expect(section.count == models.count { $0.room == section.key })
            }
            while shown != expected { shown = text(try #require(try await live.next())) }
        }
    }
}
