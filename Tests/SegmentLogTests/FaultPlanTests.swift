// How a simulated disk fails on request, runs full, loses bits and counts calls.

import LogTesting
import SegmentLog
import Testing

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

@Suite struct `A planned failure` {
    @Test func `hits the call it counts to`() throws {
        let disk = MemoryStorage(granularity: .sector)
        disk.arm(FaultPlan(call: 3))
        let file = try disk.openForWriting("a", create: true)
        try file.put([1])
        #expect(refusal { try file.sync(.durable) } == .inputOutput)
        try file.sync(.durable)
        #expect(disk.counts.faults == 1)
        #expect(disk.counts.total == 4)
    }

    @Test func `can continue failing from the call that it counts to`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.put([1], in: "a")
        disk.arm(FaultPlan(call: 2, of: [.write, .resize], fault: .error(.diskFull), persists: true))
        try file.put([2])
        for _ in 0..<3 {
            #expect(refusal { try file.put([3]) } == .diskFull)
            #expect(refusal { try file.resize(to: 0) } == .diskFull)
        }
        try file.sync(.durable)
        #expect(try file.allBytes() == [2])
        disk.disarm()
        try file.put([4])
        #expect(disk.counts.faults == 6)
    }

    @Test func `counts only the kinds and names it is for`() throws {
        let disk = MemoryStorage(granularity: .sector)
        disk.arm(FaultPlan(call: 1, of: [.sync], suffix: ".seg"))
        try disk.putDurably([1], in: "HEAD")
        let file = try disk.put([1], in: "1.seg")
        #expect(refusal { try file.sync(.durable) } == .inputOutput)
    }

    @Test(arguments: CallKind.allCases)
    func `can hit every kind of call without any effect`(kind: CallKind) throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably([1, 2], in: "a")
        try file.put([3])
        let lock = try #require(try disk.lock("a"))
        disk.arm(FaultPlan(call: 1, of: [kind], fault: .error(.readOnly)))
        let calls: [CallKind: () throws -> Void] = [
            .open: { _ = try disk.openForWriting("new", create: true) }, .size: { _ = try file.size() },
            .read: { _ = try file.read(1, at: 0) }, .write: { try file.put([9]) },
            .sync: { try file.sync(.durable) }, .syncDirectory: { try disk.syncDirectory("") },
            .resize: { try file.resize(to: 0) }, .rename: { try disk.rename("a", to: "b") },
            .remove: { try disk.remove("a") }, .list: { _ = try disk.names(in: "") },
            .lock: { _ = try disk.lock("new") }, .createDirectory: { try disk.createDirectory("new") },
            .stat: { _ = try lock.isInPlace() },
        ]
        let call = try #require(calls[kind])
        let pending = disk.pendingItemCount
        #expect {
            try call()
        } throws: { error in
            guard let error = error as? StorageError else { return false }
            return error.kind == .readOnly && error.number == EROFS && error.operation == "\(kind)"
        }
        #expect(disk.pendingItemCount == pending)
        #expect(disk.contents(of: "a") == [3, 2])
        #expect(try disk.list() == ["a"])
        try call()
        #expect(disk.counts.faults == 1)
    }

    @Test func `can stop every call of a story in turn until none is left`() throws {
        func story(on disk: MemoryStorage) throws {
            let file = try disk.openForWriting("a.tmp", create: true)
            try file.put([1])
            try file.sync(.durable)
            try disk.rename("a.tmp", to: "a")
            try disk.syncDirectory("")
        }
        var call = 0
        var hits = 0
        repeat {
            call += 1
            let disk = MemoryStorage(granularity: .sector)
            disk.arm(FaultPlan(call: call, persists: true))
            hits = refusal { try story(on: disk) } == nil ? 0 : disk.counts.faults
            // Before the rename is durable there is no file "a"; it never has half of its content.
            let states = disk.afterEveryCrash { $0.contents(of: "a") }
            #expect(states.isSubset(of: [nil, [1]]), "call \(call)")
        } while hits > 0
        #expect(call == 6)
    }

    @Test func `can shorten a read or a write`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.put([], in: "a")
        disk.arm(FaultPlan(call: 1, fault: .shortWrite(2)))
        disk.arm(FaultPlan(call: 2, fault: .shortWrite(0)))
        disk.arm(FaultPlan(call: 1, fault: .shortRead(3)))
        #expect(try [1, 2, 3, 4].withUnsafeBytes { try file.write($0, at: 0) } == 2)
        #expect(try [UInt8]([3, 4]).withUnsafeBytes { try file.write($0, at: 2) } == 1)
        try file.put([4], at: 3)
        #expect(try file.read(4, at: 0).count == 3)
        #expect(try file.read(4, at: 0).count == 4)
        #expect(disk.counts.faults == 3)
        #expect(disk.counts.bytesWritten == 4)
        #expect(disk.counts.bytesRead == 7)
    }

    @Test func `can let a part of a failed write through`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably(sectors(1, 1), in: "a")
        disk.arm(FaultPlan(call: 1, of: [.write], fault: .partialWrite(600, .inputOutput)))
        #expect(refusal { try file.put(sectors(2, 2)) } == .inputOutput)
        #expect(disk.contents(of: "a") == [UInt8](repeating: 2, count: 600) + [UInt8](repeating: 1, count: 424))
        #expect(disk.pendingItemCount == 2)
        #expect(disk.counts.bytesWritten == 600 + 1024)
    }

    @Test func `of a sync can leave the bytes to be written`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably([1], in: "a")
        try file.put([2])
        disk.arm(FaultPlan(call: 1, of: [.sync]))
        #expect(refusal { try file.sync(.durable) } == .inputOutput)
        #expect(disk.durableContents(of: "a") == [1])
        #expect(disk.pendingItemCount == 1)
        try file.sync(.durable)
        #expect(disk.durableContents(of: "a") == [2])
    }

    @Test func `of a sync can forget the bytes while they stay visible`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably(sectors(1), in: "a")
        try file.put(sectors(2, 2))
        disk.arm(FaultPlan(call: 1, of: [.sync], syncFailure: .pagesMarkedClean))
        #expect(refusal { try file.sync(.durable) } == .inputOutput)
        #expect(disk.contents(of: "a") == sectors(2, 2))
        // The next sync succeeds, and makes only the length durable.
        try file.sync(.durable)
        #expect(disk.pendingItemCount == 0)
        #expect(disk.contents(of: "a") == sectors(2, 2))
        #expect(disk.durableContents(of: "a") == sectors(1, 0))
        // After a restart, the process still sees bytes that are not on the disk.
        let killed = disk.processKill()
        let again = try killed.openForWriting("a", create: false)
        #expect(try again.allBytes() == sectors(2, 2))
        try again.sync(.durable)
        #expect(killed.durableContents(of: "a") == sectors(1, 0))
        // Only writing them again makes them durable.
        try again.put(try again.allBytes())
        try again.sync(.durable)
        #expect(killed.crash { _ in false }.contents(of: "a") == sectors(2, 2))
    }

    @Test func `of a sync can restore the old content`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably(sectors(1), in: "a")
        try disk.put([7], in: "b")
        try file.put(sectors(2, 2))
        disk.arm(FaultPlan(call: 1, of: [.sync], syncFailure: .contentReverted))
        #expect(refusal { try file.sync(.durable) } == .inputOutput)
        #expect(try file.allBytes() == sectors(1))
        try file.sync(.durable)
        #expect(disk.durableContents(of: "a") == sectors(1))
        #expect(disk.contents(of: "b") == [7])
        #expect(disk.pendingItemCount == 3)
    }
}

@Suite struct `A simulated disk` {
    @Test func `can be full`() throws {
        let disk = MemoryStorage(granularity: .sector, capacity: 1000)
        let file = try disk.put([UInt8](repeating: 1, count: 600), in: "a")
        let other = try disk.put([UInt8](repeating: 2, count: 300), in: "b")
        // What fits is written, then nothing.
        #expect(try [UInt8](repeating: 3, count: 200).withUnsafeBytes { try file.write($0, at: 600) } == 100)
        #expect(refusal { try file.put([3], at: 700) } == .diskFull)
        #expect(refusal { try other.resize(to: 301) } == .diskFull)
        #expect(refusal { try other.put([1], at: 5000) } == .diskFull)
        #expect(try file.size() == 700)
        #expect(try other.size() == 300)
        // Overwriting needs no space, and removing or truncating frees some.
        try file.put([4], at: 0)
        try disk.remove("b")
        try file.put([UInt8](repeating: 5, count: 300), at: 700)
        try file.resize(to: 10)
        try file.resize(to: 1000)
        disk.capacity = nil
        try file.resize(to: 5000)
        #expect(disk.crash { _ in true }.capacity == nil)
    }

    @Test func `rots where it is told to`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably([0, 0, 0, 0], in: "a")
        try file.put([8], at: 3)
        try disk.flipBit(in: "a", at: 1, bit: 0)
        try disk.flipBit(in: "a", at: 3, bit: 7)
        #expect(disk.contents(of: "a") == [0, 1, 0, 136])
        #expect(disk.durableContents(of: "a") == [0, 1, 0, 128])
        #expect(disk.crash { _ in true }.contents(of: "a") == [0, 1, 0, 136])
        try disk.overwrite("a", at: 0, with: [7, 7])
        #expect(disk.contents(of: "a") == [7, 7, 0, 136])
        #expect(disk.crash { _ in true }.contents(of: "a") == [7, 7, 0, 136])
        #expect(disk.crash { _ in false }.contents(of: "a") == [7, 7, 0, 128])
        #expect(refusal { try disk.flipBit(in: "a", at: 4, bit: 0) } == .other)
        #expect(refusal { try disk.overwrite("a", at: 3, with: [1, 2]) } == .other)
        #expect(refusal { try disk.flipBit(in: "none", at: 0, bit: 0) } == .notFound)
    }

    @Test func `counts what it is asked`() throws {
        let disk = MemoryStorage(granularity: .sector)
        disk.isTracing = true
        let file = try disk.put([1, 2, 3], in: "a")
        try file.sync(.durable)
        _ = try file.read(8, at: 1)
        disk.isTracing = false
        try file.sync(.ordered)
        try disk.syncDirectory("")
        try disk.rename("a", to: "b")
        let counts = disk.counts
        #expect(counts[.open] == 1 && counts[.write] == 1 && counts[.read] == 1 && counts[.rename] == 1)
        #expect(counts.syncs == 2 && counts[.syncDirectory] == 1)
        #expect(counts.bytesWritten == 3 && counts.bytesRead == 2)
        #expect(counts.total == 7 && counts.faults == 0)
        #expect(disk.trace == ["open a", "write a 3 bytes at 0", "sync a", "read a 8 bytes at 1"])
        disk.resetCounts()
        #expect(disk.counts == CallCounts())
    }

    @Test func `counts nothing that a test does without it`() throws {
        let disk = MemoryStorage(granularity: .sector)
        try disk.putDurably([1], in: "a")
        disk.resetCounts()
        _ = (disk.contents(of: "a"), disk.durableContents(of: "a"), disk.copy(), disk.pendingItemCount)
        try disk.flipBit(in: "a", at: 0, bit: 1)
        #expect(disk.counts == CallCounts())
        #expect(disk.contents(of: "none") == nil)
        #expect(disk.durableContents(of: "none") == nil)
    }

    @Test func `starts from a tree in memory and gives one back`() throws {
        let tree = MemoryStorage()
        tree.setContents([1, 2], of: "d/e/a")
        tree.setContents([3], of: "b")
        try tree.createDirectory("empty")
        let disk = MemoryStorage(tree, granularity: .sector)
        #expect(disk.pendingItemCount == 0)
        let crashed = disk.crash { _ in false }
        #expect(crashed.contents(of: "d/e/a") == [1, 2])
        let copy = crashed.copy()
        #expect(copy.allNames() == tree.allNames())
        #expect(copy.contents(of: "b") == [3])
        try crashed.put([4], in: "b")
        #expect(copy.contents(of: "b") == [3])
        #expect(tree.contents(of: "b") == [3])
    }

    @Test func `works with many threads`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    for round in 0..<50 {
                        let file = try disk.put([UInt8](repeating: UInt8(worker), count: 600), in: "f\(worker)")
                        try file.sync(.durable)
                        try disk.syncDirectory("")
                        try disk.rename("f\(worker)", to: "g\(worker)-\(round)")
                    }
                }
            }
            try await group.waitForAll()
        }
        try disk.syncDirectory("")
        #expect(disk.pendingItemCount == 0)
        #expect(try disk.crash { _ in false }.list().count == 200)
    }
}
