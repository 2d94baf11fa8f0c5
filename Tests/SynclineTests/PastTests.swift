// The past at a proportionate cost: a row is made from the events that concern it, a difference from the events
// between, and older checkpoints are kept to begin with. Each must equal what the whole states show.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct PastTests {
    /// A store of a few rows with a checkpoint in the middle of its history.
    private func store(_ seed: UInt64) async throws -> MemoryStorage {
        let storage = MemoryStorage()
        let store = try await SyncDatabase.open(storage, .test())
        var chance = Chance(seed: seed)
        let table = store.rows(of: "t")
        for step in 0..<60 {
            let id = "\(chance.below(6))"
            if step == 30 { try await store.checkpoint() }
            switch chance.below(4) {
            case 0: try? await table.delete(id: id)
            case 1: _ = try? await store.undo()
            default:
                let item = Value.item(id, ["n": .integer(Int64(step))])
                do { try await table.insert(item) } catch { try await table.update(item) }
            }
        }
        try await store.close()
        return storage
    }

    @Test(arguments: 0..<8)
    func `a row folded alone is the same as in the whole state`(seed: UInt64) async throws {
        let storage = try await store(seed)
        let last = try EventWalk(storage).last
        for event in 1...last {
            let whole = try StateLoader(storage).load(through: event)
            for id in (0..<6).map(String.init) {
                let alone = try StateLoader(storage).load(through: event, onlyTo: RowFocus(table: "t", id: id))
                #expect(alone.through == event)
                let (found, expected) = (alone.reader(of: alone.store.snapshot), whole.reader(of: whole.store.snapshot))
                #expect(try found.row("t", id)?.columns == expected.row("t", id)?.columns, "\(id) at @\(event)")
            }
        }
    }

    @Test(arguments: 0..<4)
    func `the rows changed by events are those that differ between the states`(seed: UInt64) async throws {
        let storage = try await store(seed)
        let last = try EventWalk(storage).last
        let loader = StateLoader(storage)
        for first in stride(from: 1, through: last, by: 5) {
            for other in stride(from: 1, through: last, by: 7) {
                let (before, after) = (try loader.load(through: first), try loader.load(through: other))
                var expected: [RowDifference] = []
                try before.reader(of: before.store.snapshot).differences(to: after.reader(of: after.store.snapshot)) {
                    expected.append($0)
                }
                #expect(try loader.differences(from: first, to: other) == expected, "@\(first) @\(other)")
            }
        }
    }

    @Test func `older checkpoints stay where many events lie between them`() async throws {
        let storage = MemoryStorage()
        var configuration = SyncConfiguration.test()
        configuration.creation = .never
        for round in 0..<4 {
            let log = try LogWriter.open(storage, creating: .ifMissing)
            var batch = RecordBatch()
            batch.append(Event(time: 0, .configured(name: "round", value: .integer(Int64(round)))).bytes)
            for _ in 1..<40_000 { batch.append(Event(time: 0, .cursorReset(table: "t", queryID: "q")).bytes) }
            try log.append(batch)
            try log.close()
            let store = try await SyncDatabase.open(storage, configuration)
            try await store.checkpoint()
            try await store.close()
        }
        #expect(try Checkpoint.list(storage).map(\.rawValue) == [160_000, 120_000, 80_000, 40_000])
        let past = try StateLoader(storage).load(through: 100_000)
        #expect(past.through == 100_000)
        #expect(try past.reader(of: past.store.snapshot).setting("round") == .integer(2))
    }
}
