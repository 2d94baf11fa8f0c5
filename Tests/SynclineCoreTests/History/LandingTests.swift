// The result of landing a branch, whatever happened in its store meanwhile.

import Testing

@testable import SynclineCore

@Suite struct LandingTests {
    private func state(_ rows: [String: [String: Value]]) throws -> StateReader {
        let projector = try Projector()
        let pulled = rows.sorted { $0.key < $1.key }.map { id, columns in
            PulledRow(id: id, row: Row(columns.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }))
        }
        try projector.apply(
            Event(time: 0, .page(PulledPage(table: "t", queryID: nil, rows: pulled, cursor: nil))), number: 1)
        return projector.reader(of: projector.store.endCommit())
    }

    private func landing(
        _ base: [String: [String: Value]], _ branch: [String: [String: Value]], _ store: [String: [String: Value]]
    ) throws -> [Landing.Change] {
        try Landing(from: state(base), to: state(branch), onto: state(store)).changes
    }

    @Test func `only what the branch changed is landed, on top of what the store changed`() throws {
        let base: [String: [String: Value]] = ["a": ["x": 1, "y": 1], "b": ["x": 1]]
        let store: [String: [String: Value]] = ["a": ["x": 1, "y": 5], "b": ["x": 9]]
        let changes = try landing(base, ["a": ["x": 2, "y": 1], "b": ["x": 1]], store)
        #expect(changes.map(\.id) == ["a"])
        #expect(changes[0].kind == .update && changes[0].hasMoved)
        #expect(changes[0].columns == Row([.init("x", 2)]))
    }

    @Test func `changes that the store already has are not landed again`() throws {
        #expect(try landing(["a": ["x": 1]], ["a": ["x": 2]], ["a": ["x": 2]]).isEmpty)
        #expect(try landing(["a": ["x": 1]], [:], [:]).isEmpty)
        #expect(try landing([:], ["a": ["x": 1]], ["a": ["x": 1]]).isEmpty)
    }

    @Test func `the kind of a change depends on the store's row`() throws {
        let gone = try landing(["a": ["x": 1, "y": 1]], ["a": ["x": 2, "y": 1]], [:])
        #expect(gone.map(\.kind) == [.insert] && gone[0].hasMoved)
        #expect(gone[0].columns == Row([.init("x", 2), .init("y", 1)]))
        let both = try landing([:], ["a": ["x": 1]], ["a": ["x": 7]])
        #expect(both.map(\.kind) == [.update] && both[0].hasMoved)
        let deleted = try landing(["a": ["x": 1]], [:], ["a": ["x": 1]])
        #expect(deleted.map(\.kind) == [.delete] && !deleted[0].hasMoved && deleted[0].columns.isEmpty)
        let fresh = try landing([:], ["a": ["x": 1]], [:])
        #expect(fresh.map(\.kind) == [.insert] && !fresh[0].hasMoved)
        let cleared = try landing(["a": ["x": 1, "y": 1]], ["a": ["x": 1]], ["a": ["x": 1, "y": 1]])
        #expect(cleared.map(\.columns) == [Row([.init("y", .null)])])
    }
}
