// Carried changes: they match the outbox in every state, and folding them changes nothing.

import Testing

@testable import SynclineCore

@Suite struct CarriedTests {
    @Test(arguments: UInt64(1)...40)
    func `carried changes are those of the outbox, and folding them changes nothing`(_ seed: UInt64) throws {
        var history = try RandomHistory(seed: seed)
        for _ in 0..<60 { try history.step() }
        let reader = history.reader
        let rows = try reader.carriedRows(through: history.next)
        var positions: [Position] = []
        try reader.forEachChange { position, _ throws(SyncError) in
            positions.append(position)
            return true
        }
        #expect(rows.flatMap { $0.changes.map(\.position) }.sorted() == positions)
        #expect(try rows.compactMap(\.frozen).count == PushPlan(reader).operations.count { $0.isFrozen })
        let before = (history.projector.store.digest, history.projector.totals)
        // Encoded and decoded, as from the log.
        let event = try Event(time: 1, .carried(through: history.next, rows)).bytes.withUnsafeBytes { try Event($0) }
        try history.record(event.body)
        #expect(history.projector.store.digest == before.0 && history.projector.totals == before.1)
    }

    @Test func `only rows with a change of the events that go are carried, each whole`() throws {
        let projector = try Projector()
        func insert(_ id: String, _ number: UInt64) throws {
            let change = LocalChange(kind: .insert, table: "t", id: id, columns: Row([.init("a", .integer(1))]))
            try projector.apply(Event(time: 0, .local(LocalTransaction([change], isGrouped: false))), number: number)
        }
        try insert("x", 1)
        try insert("y", 2)
        let update = LocalChange(kind: .update, table: "t", id: "x", columns: Row([.init("a", .integer(2))]))
        try projector.apply(Event(time: 0, .local(LocalTransaction([update], isGrouped: false))), number: 3)
        let reader = projector.reader(of: projector.store.snapshot)
        #expect(try reader.carriedRows(through: 0).isEmpty)
        let rows = try reader.carriedRows(through: 1)
        #expect(rows.map(\.id) == ["x"] && rows[0].changes.map(\.position.event) == [1, 3])
    }

    @Test func `carried changes that are not those of the outbox are refused`() throws {
        let projector = try Projector()
        let change = LocalChange(kind: .insert, table: "t", id: "x", columns: Row([.init("a", .integer(1))]))
        try projector.apply(Event(time: 0, .local(LocalTransaction([change], isGrouped: false))), number: 1)
        var rows = try projector.reader(of: projector.store.snapshot).carriedRows(through: 1)
        rows[0].changes[0].columns = Row([.init("a", .integer(2))])
        #expect(throws: SyncError.self) {
            try projector.apply(Event(time: 0, .carried(through: 1, rows)), number: 2)
        }
        rows[0].id = "y"
        #expect(throws: SyncError.self) {
            try projector.apply(Event(time: 0, .carried(through: 1, rows)), number: 2)
        }
    }

    @Test func `changes that follow each other in a circle are damage`() throws {
        let projector = try Projector()
        func make(_ change: LocalChange, _ number: UInt64) throws {
            try projector.apply(Event(time: 0, .local(LocalTransaction([change], isGrouped: false))), number: number)
        }
        try make(LocalChange(kind: .insert, table: "t", id: "x", columns: Row([.init("a", .integer(1))])), 1)
        try make(LocalChange(kind: .update, table: "t", id: "x", columns: Row([.init("a", .integer(2))])), 2)
        let first = Position(event: 1, index: 0)
        let (change, old) = try projector.state.journal(first)
        var circular = change
        circular.previous = Position(event: 2, index: 0)
        projector.state.write(circular, at: first, old: old)
        let reader = projector.reader(of: projector.store.snapshot)
        let damage = SyncError.malformed("the order of a row's changes")
        #expect(throws: damage) { try reader.carriedRows(through: 2) }
        let pending = try #require(try reader.entry(key: change.rowKey)?.pending)
        #expect(throws: damage) { try projector.state.chain(of: pending) }
    }
}
