// Reading a store while each disk call fails once: the result is right, or the error is the disk's, with the file
// and the position. A checkpoint that can't be read for a moment is not lost.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct ReadErrorTests {
    /// A store with several checkpoints; `isCollected` removes its beginning.
    private func store(isCollected: Bool) async throws -> (MemoryStorage, [String: [String: Value]]) {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        for round in 0..<4 {
            for number in 0..<40 {
                // From the server, so that nothing is pending and all of the history may be removed.
                let row = Row([.init("a", .integer(Int64(number))), .init("b", .string("\(round)"))])
                try await database.pull(
                    PulledPage(table: "t", queryID: nil, rows: [.init(id: "\(round)-\(number)", row: row)], cursor: nil)
                )
            }
            try await database.checkpoint()
        }
        if isCollected {
            try await database.set(retention: .events(1))
            for number in 0..<3 {
                _ = try await database.compact()
                try await database.set("x", .integer(Int64(number)))
            }
            _ = try await database.compact()
            // Only the newest has all of the state now.
            for through in try Checkpoint.list(disk).dropFirst() {
                try disk.remove(FileName.checkpoint(through: through))
            }
        }
        let rows = try await database.allRows()
        try await database.close()
        if isCollected { #expect(try LogReader.open(disk).floor > .first) }
        return (MemoryStorage(disk.copy(), granularity: .sector), rows)
    }

    /// What `query` does.
    private func query(_ storage: any LogStorage) throws -> Int {
        let projector = try StateLoader(storage).load()
        return try StateImage.contents(projector.store.snapshot).count
    }

    @Test(arguments: [false, true])
    func `a read that fails once is an error of the disk with its place, or costs nothing`(isCollected: Bool)
        async throws
    {
        let (disk, _) = try await store(isCollected: isCollected)
        let expected = try query(disk)
        var errors = 0
        for kinds in [Set([CallKind.read]), [.open], [.size], [.list]] {
            var call = 1
            while true {
                disk.disarm()
                disk.resetCounts()
                disk.arm(FaultPlan(call: call, of: kinds))
                do {
                    #expect(try query(disk) == expected, "\(kinds), call \(call)")
                    if disk.counts.faults == 0 { break }
                } catch {
                    let error = try #require(error as? SyncError)
                    #expect(error.code == .ioError, "\(kinds), call \(call): \(error)")
                    #expect(error.message.contains("failed: "), "\(kinds), call \(call): \(error)")
                    if kinds != [.list] { #expect(error.address != nil, "\(kinds), call \(call): \(error)") }
                    let isPlaced = error.address?.first == "s" || error.message.contains(" at byte ")
                    if kinds == [.read] { #expect(isPlaced, "call \(call): \(error)") }
                    errors += 1
                }
                call += 1
            }
        }
        #expect(errors > 20)
    }

    @Test func `a checkpoint that can't be read is an error of the disk, never damage`() async throws {
        let (disk, _) = try await store(isCollected: false)
        var errors = 0
        for kinds in [Set([CallKind.read]), [.open]] {
            var call = 1
            while true {
                disk.disarm()
                disk.resetCounts()
                disk.arm(FaultPlan(call: call, of: kinds))
                do throws(LogError) {
                    #expect(try LogVerification(disk).run().isHealthy, "\(kinds), call \(call)")
                    if disk.counts.faults == 0 { break }
                } catch {
                    #expect(error.code == .ioError && error.file != nil, "\(kinds), call \(call): \(error)")
                    errors += 1
                }
                call += 1
            }
        }
        #expect(errors > 10)
    }

    @Test(arguments: [false, true])
    func `a read that falls short costs nothing`(isCollected: Bool) async throws {
        let (disk, rows) = try await store(isCollected: isCollected)
        var call = 1
        while true {
            let copy = MemoryStorage(disk.copy(), granularity: .sector)
            copy.arm(FaultPlan(call: call, fault: .shortRead(5)))
            let database = try await SyncDatabase.open(copy, .test())
            #expect(try await database.allRows() == rows, "call \(call)")
            if copy.counts.faults == 0 { break }
            call += 1
        }
        #expect(call > 20)
    }
}
