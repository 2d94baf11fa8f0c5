// Checkpoints are derived: whatever happens to one costs time, never data.

import SegmentLog
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineCore

@Suite struct CheckpointTests {
    /// A closed store whose state is in several checkpoints, and its rows.
    private func store(checkpoints: Int = 4) async throws -> (MemoryStorage, [String: [String: Value]]) {
        let disk = MemoryStorage(granularity: .sector)
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
        try await database.rows(of: "t").delete(id: "0-7")
        let rows = try await database.allRows()
        try await database.close()
        return (disk, rows)
    }

    private func checkpointFiles(_ disk: MemoryStorage) throws -> [String] {
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
        #expect(try await database.rows(of: "t").get(id: "0-7") == nil)
    }

    @Test func `a missing checkpoint costs no data`() async throws {
        let (disk, rows) = try await store()
        for name in try checkpointFiles(disk) {
            let copy = MemoryStorage(disk.copy(), granularity: .sector)
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
                let copy = MemoryStorage(disk.copy(), granularity: .sector)
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
        try await database.rows(of: "t").insert(.item("new", ["a": .integer(1)]))
        let error = await #expect(throws: SyncError.self) { try await database.checkpoint() }
        #expect(error?.code == .diskFull)
        try await database.rows(of: "t").insert(.item("newer", ["a": .integer(2)]))
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
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test(memory: 1))
        disk.arm(FaultPlan(call: 1, of: [.rename], fault: .error(.diskFull), persists: true))
        for number in 0..<50 { try await database.rows(of: "t").insert(.item("\(number)", ["a": .integer(1)])) }
        disk.disarm()
        for number in 50..<60 { try await database.rows(of: "t").insert(.item("\(number)", ["a": .integer(1)])) }
        try await database.checkpoint()
        #expect(try await database.rows(of: "t").count() == 60)
        try await database.close()
        #expect(try StateImage.check(disk, "in the background").totals.made == 60)
    }

    @Test func `a row larger than a frame goes into a checkpoint and comes back`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        var chance = Chance(seed: 9)
        let large = Value.bytes((0..<3_000_000).map { _ in UInt8(truncatingIfNeeded: chance.next()) })
        let database = try await SyncDatabase.open(disk, .test())
        try await database.rows(of: "t").insert(.item("large", ["a": large]))
        try await database.checkpoint()
        try await database.close()
        let again = try await SyncDatabase.open(disk, .test())
        #expect(try await again.rows(of: "t").get(id: "large")?.columns["a"] == large.asStored)
        #expect(try !StateLoader(disk).load().store.layers.runs.isEmpty)
    }

    @Test(arguments: [ByteCount.bytes(0), .mebibytes(32), ByteCount(rawValue: .max)])
    func `what was read of a checkpoint is kept up to the size of the cache`(size: ByteCount) async throws {
        let (disk, rows) = try await store()
        var configuration = SyncConfiguration.test()
        configuration.cacheSize = size
        let database = try await SyncDatabase.open(disk, configuration)
        for _ in 0..<2 { #expect(try await database.allRows() == rows) }
        #expect(try await database.rows(of: "t").get(id: "0-8") != nil)
        let cached = try database.reader.snapshot.layers.cache.size
        #expect(size.rawValue == 0 ? cached == 0 : cached > 100_000)
        try await database.close()
        let follower = try await SyncDatabase.follow(disk, configuration)
        #expect(try await follower.allRows() == rows)
        #expect(try (follower.reader.snapshot.layers.cache.size > 0) == (size.rawValue > 0))
        try await follower.close()
    }

    @Test func `blocks read ahead are those read one by one, with values of all sizes`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        var chance = Chance(seed: 11)
        let database = try await SyncDatabase.open(disk, .test())
        let items = (0..<400).map { number -> Value in
            let size = number % 90 == 7 ? 1_500_000 : number % 40 == 3 ? 300_000 : chance.below(2000)
            return .item(
                "\(1000 + number)", ["a": .bytes((0..<size).map { _ in UInt8(truncatingIfNeeded: chance.next()) })])
        }
        try await database.transaction { transaction in
            for item in items { try transaction.insert("t", item) }
        }
        try await database.checkpoint()
        let rows = try await database.allRows()
        try await database.close()
        let again = try await SyncDatabase.open(disk, .test())
        #expect(try await again.allRows() == rows)
        for id in ["1007", "1008", "1043", "1399"] {
            #expect(try await again.rows(of: "t").get(id: id)?.columns["a"] == rows["t/\(id)"]?["a"])
        }
        let backward = RowQuery(table: "t", order: [.init("id", descending: true)])
        let ids = try await again.rows(of: "t").query(backward).rows.map { $0.id }
        #expect(ids.map { "t/\($0)" } == rows.keys.sorted().reversed())
    }

    @Test func `damage in a block that was read ahead is reported when that block is wanted`() async throws {
        let (disk, _) = try await store(checkpoints: 1)
        let name = try #require(try checkpointFiles(disk).first)
        let identity = try LogReader.open(disk, showing: .written).identity
        let through = try #require(try Checkpoint.list(disk).first)
        let addresses = try Checkpoint.open(disk, through: through, identity: identity).blocks()
        let damaged = Int(addresses[12].rawValue) + 100
        let file = try disk.openForWriting(name, create: false)
        try [UInt8](repeating: 0xee, count: 8).withUnsafeBytes { _ = try file.write($0, at: UInt64(damaged)) }
        file.close()
        let source = try CheckpointBlocks(disk, through, identity, removesDamaged: false)
        let wanted = addresses[0..<20].map(\.rawValue)
        let length = Int(addresses[20].rawValue - addresses[0].rawValue)
        #expect(try source.blocks(at: wanted[...], length: length).count == 12)
        #expect(throws: SyncError.self) { try source.blocks(at: wanted[12...], length: nil) }
        #expect(throws: SyncError.self) { try source.blocks(at: wanted[12...], length: length) }
        #expect(try source.blocks(at: wanted[13...], length: length).count == 7)
        // A piece that ends early.
        #expect(try source.blocks(at: wanted[...], length: 10_000).count < 12)
    }
}
