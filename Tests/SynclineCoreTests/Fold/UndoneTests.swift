// What the state keeps of undone transactions.

import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct UndoneTests {
    private let projector: Projector

    init() throws { projector = try Projector() }

    private func apply(_ body: Event.Body) throws {
        try projector.apply(Event(time: 0, body), number: projector.through + 1)
    }

    private func insert(_ id: String, _ heading: TransactionHeading = TransactionHeading(isGrouped: false)) throws {
        try apply(.local(LocalTransaction([LocalChange(kind: .insert, table: "t", id: id)], heading)))
    }

    private var undone: [UndoneTransaction] {
        get throws { try StateReader(projector.store.snapshot, projector.shapes).undone }
    }

    @Test func `a change that is taken back ends no redo, and the same change ends it`() throws {
        try insert("a")
        try apply(.undone(event: 1))
        let mark = projector.state.mark
        projector.store.beginChanges()
        try insert("b")
        #expect(try undone.isEmpty)
        try projector.store.takeBack(to: 0)
        projector.state.takeBack(to: mark)
        projector.store.endChanges()
        #expect(try undone == [UndoneTransaction(undo: 2, event: 1)])
        try insert("b")
        #expect(try undone.isEmpty)
    }

    @Test func `a redo ends that of its undo only, also if it changes nothing`() throws {
        for id in ["a", "b"] { try insert(id) }
        for event in [2, 1] { try apply(.undone(event: UInt64(event))) }
        #expect(try undone == [UndoneTransaction(undo: 4, event: 1), UndoneTransaction(undo: 3, event: 2)])
        try insert("a", TransactionHeading(redoing: 4, name: nil))
        #expect(try undone == [UndoneTransaction(undo: 3, event: 2)])
        try apply(.local(LocalTransaction([], isGrouped: true)))
        #expect(try undone.count == 1)
        try apply(.local(LocalTransaction([], TransactionHeading(redoing: 3, name: "b"))))
        #expect(try undone.isEmpty)
    }
}
