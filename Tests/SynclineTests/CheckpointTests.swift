// Checkpoints are derived: whatever happens to one costs time, never data.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct CheckpointTests {
    /// A closed store whose state is in several checkpoints, and its rows.
    private func store(checkpoints: Int = 4) async throws -> (FaultyStorage, [String: [String: Value]]) {
        let disk = FaultyStorage()
        let database = try await SyncDatabase.open(disk, .test())
        var chance = Chance(seed: 5)
        for round in 0..<checkpoints {
            let rows = round == 0 ? 300 : 20
            let items = (0..<rows).map { number -> Value in
                .item(
                    "\(round)-\(number)",
                    ["text": .bytes((0..<3000).map { _ in UInt8(truncatingIfNeeded: chance.next()) })])
            }
            try await database.transaction { transaction in
                for item in items { try transaction.insert("t", item) }
            }
            try await database.checkpoint()
        }
        try await database.table("t").delete(id: "0-7")
        let rows = try await database.allRows()
        try await database.close()
        return (disk, rows)
    }

    private func checkpointFiles(_ disk: FaultyStorage) throws -> [String] {
        try disk.names(in: "").filter { disk.contents(of: $0)?.starts(with: [0x89, 0x43, 0x4b, 0x50]) ?? false }
            .sorted()
    }

    @Test func `a checkpoint agrees with the log, and a store opens with it`() async throws {
        let (disk, rows) = try await store()
        _ = try StateImage.check(disk, "closed")
        #expect(try checkpointFiles(disk).count >= 2)
        let projector = try StateLoader(disk).load()
        #expect(projector.store.layers.runs.count > 1)
        let database = try await SyncDatabase.open(disk, .test())
        #expect(try await database.allRows() == rows)
        #expect(try await database.table("t").get(id: "0-7") == nil)
    }

    @Test func `a missing checkpoint costs no data`() async throws {
        let (disk, rows) = try await store()
        for name in try checkpointFiles(disk) {
            let copy = FaultyStorage(disk.snapshot())
            try copy.remove(name)
            let database = try await SyncDatabase.open(copy, .test())
            #expect(try await database.allRows() == rows, "without \(name)")
        }
    }

    @Test func `a damaged checkpoint is found, and is gone when the store is opened again`() async throws {
        let (disk, rows) = try await store()
        for name in try checkpointFiles(disk) {
            let size = disk.contents(of: name)?.count ?? 0
            for offset in stride(from: 3, to: size, by: max(1, size / 8)) {
                let copy = FaultyStorage(disk.snapshot())
                try copy.flipBit(in: name, at: UInt64(offset), bit: offset % 8)
                var found: [String: [String: Value]]?
                for _ in 0..<4 where found == nil {
                    guard let database = try? await SyncDatabase.open(copy, .test()) else { continue }
                    found = try? await database.allRows()
                    if found == nil { try? await database.close() }
                }
                #expect(found == rows, "\(name) at \(offset)")
            }
        }
    }

    @Test func `a checkpoint that can't be written is an error, and the next one is whole`() async throws {
        let (disk, _) = try await store()
        let database = try await SyncDatabase.open(disk, .test())
        disk.arm(FaultPlan(call: 1, of: [.rename], fault: .error(.diskFull), persists: true))
        try await database.table("t").insert(.item("new", ["a": .integer(1)]))
        let error = await #expect(throws: SyncError.self) { try await database.checkpoint() }
        #expect(error?.code == .diskFull)
        try await database.table("t").insert(.item("newer", ["a": .integer(2)]))
        disk.disarm()
        try await database.checkpoint()
        try await database.checkpoint()
        let rows = try await database.allRows()
        #expect(rows["t/newer"] == ["a": .integer(2)])
        try await database.close()
        let image = try StateImage.check(disk, "after failures")
        #expect(image.through == database.lastEvent.rawValue)
    }

    @Test func `checkpoints that fail in the background do not block writers`() async throws {
        let disk = FaultyStorage()
        let database = try await SyncDatabase.open(disk, .test(memory: 1))
        disk.arm(FaultPlan(call: 1, of: [.rename], fault: .error(.diskFull), persists: true))
        for number in 0..<50 { try await database.table("t").insert(.item("\(number)", ["a": .integer(1)])) }
        disk.disarm()
        for number in 50..<60 { try await database.table("t").insert(.item("\(number)", ["a": .integer(1)])) }
        try await database.checkpoint()
        #expect(try await database.table("t").count() == 60)
        try await database.close()
        #expect(try StateImage.check(disk, "in the background").totals.made == 60)
    }

    @Test func `a row larger than a frame goes into a checkpoint and comes back`() async throws {
        let disk = FaultyStorage()
        var chance = Chance(seed: 9)
        let large = Value.bytes((0..<3_000_000).map { _ in UInt8(truncatingIfNeeded: chance.next()) })
        let database = try await SyncDatabase.open(disk, .test())
        try await database.table("t").insert(.item("large", ["a": large]))
        try await database.checkpoint()
        try await database.close()
        let again = try await SyncDatabase.open(disk, .test())
        #expect(try await again.table("t").get(id: "large")?.columns["a"] == large)
        #expect(try !StateLoader(disk).load().store.layers.runs.isEmpty)
    }
}
