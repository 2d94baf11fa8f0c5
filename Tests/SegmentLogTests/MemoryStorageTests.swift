// What the simulated disk may keep and lose at a crash and at the end of the process: every subset of the pending
// changes if there are few, and random ones otherwise. The rest of the suite depends on this.

import LogTesting
import SegmentLog
import Testing

@Suite struct `A crash of the simulated disk` {
    @Test func `keeps a synced write in every case`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably(sectors(1, 2), in: "a")
        try file.put(sectors(3), at: 1024)
        try disk.put([1], in: "other")
        try disk.rename("other", to: "again")
        #expect(disk.pendingItemCount == 6)
        let heads = disk.afterEveryCrash { $0.contents(of: "a")?.prefix(1024) }
        #expect(heads == [sectors(1, 2)[...]])
    }

    @Test func `keeps nothing pending after everything was synced`() throws {
        let disk = MemoryStorage(granularity: .sector)
        try disk.createDirectory("d")
        try disk.putDurably(sectors(1), in: "d/a")
        try disk.putDurably(sectors(1, 2), in: "b")
        try disk.rename("b", to: "d/b")
        try disk.syncDirectory("d")
        try disk.syncDirectory("")
        #expect(disk.pendingItemCount == 0)
        let crashed = disk.crash { _ in false }
        #expect(try crashed.list() == ["d"])
        #expect(crashed.contents(of: "d/a") == sectors(1))
        #expect(crashed.contents(of: "d/b") == sectors(1, 2))
    }

    @Test func `keeps any subset of the sectors of an overwrite`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably(sectors(1, 1, 1), in: "a")
        try file.put(sectors(2, 2, 2))
        #expect(disk.pendingItemCount == 3)
        let states = disk.afterEveryCrash { firsts($0.contents(of: "a")) }
        let expected = (0..<8).map { subset in (0..<3).map { UInt8(1 + (subset >> $0 & 1)) } }
        #expect(states == Set(expected))
    }

    @Test func `tears a write at the bounds of sectors and nowhere else`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably(sectors(1, 1), in: "a")
        try file.put([UInt8](repeating: 2, count: 100), at: 500)
        #expect(disk.pendingItemCount == 2)
        let states = disk.afterEveryCrash { $0.contents(of: "a")?[500..<600].map { $0 } }
        let (old, new) = ([UInt8](repeating: 1, count: 88), [UInt8](repeating: 2, count: 88))
        #expect(
            states
                == Set(
                    [[1], [2]].flatMap { first in
                        [old, new].map { [UInt8](repeating: first[0], count: 12) + $0 }
                    }))
    }

    @Test func `writes whole pages if the disk does`() throws {
        let disk = MemoryStorage(granularity: .page)
        let file = try disk.putDurably([UInt8](repeating: 1, count: 9000), in: "a")
        try file.put([UInt8](repeating: 2, count: 600), at: 4000)
        #expect(disk.pendingItemCount == 2)
        let states = disk.afterEveryCrash { $0.contents(of: "a")?.map { $0 } }
        #expect(states.count == 4)
        #expect(states.allSatisfy { $0?.count == 9000 })
        let first = try #require(disk.crash { $0 == 0 }.contents(of: "a"))
        #expect(
            first == [UInt8](repeating: 1, count: 4000) + [UInt8](repeating: 2, count: 96)
                + [UInt8](repeating: 1, count: 4904))
    }

    @Test func `may keep a later write of a sector without an earlier one`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably(sectors(1), in: "a")
        try file.put([2], at: 0)
        try file.put([3], at: 1)
        // A sector is written as a whole, so the later write includes the earlier byte.
        let states = disk.afterEveryCrash { $0.contents(of: "a")?.prefix(3).map { $0 } }
        #expect(states == [[1, 1, 1], [2, 1, 1], [2, 3, 1]])
        #expect(disk.crash { $0 == 1 }.contents(of: "a")?.prefix(3) == [2, 3, 1])
    }

    @Test func `keeps the length of a growing file apart from its content`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably(sectors(1), in: "a")
        try file.put(sectors(2, 3), at: 512)
        #expect(disk.pendingItemCount == 3)
        let states = disk.afterEveryCrash { firsts($0.contents(of: "a")) }
        #expect(states == [[1], [1, 0, 0], [1, 2, 0], [1, 0, 3], [1, 2, 3]])
    }

    @Test func `shows content that was kept before a length that was not by a later length`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably([], in: "a")
        try file.put(sectors(1))
        try file.put(sectors(2), at: 512)
        #expect(disk.pendingItemCount == 4)
        #expect(firsts(disk.crash { $0 == 1 || $0 == 2 }.contents(of: "a")) == [1, 0])
        let states = disk.afterEveryCrash { firsts($0.contents(of: "a")) }
        #expect(states == [[], [0], [1], [0, 0], [1, 0], [0, 2], [1, 2]])
    }

    @Test func `never restores what was cut off when the cut was kept`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably(sectors(1, 1), in: "a")
        try file.resize(to: 100)
        try file.resize(to: 1024)
        #expect(disk.pendingItemCount == 2)
        let zeroed = [UInt8](repeating: 1, count: 100) + [UInt8](repeating: 0, count: 924)
        #expect(disk.contents(of: "a") == zeroed)
        #expect(disk.crash { _ in true }.contents(of: "a") == zeroed)
        #expect(disk.crash { $0 == 0 }.contents(of: "a") == Array(zeroed.prefix(100)))
        #expect(disk.crash { _ in false }.contents(of: "a") == sectors(1, 1))
    }

    @Test func `never restores what was written after a cut that was kept`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably(sectors(1, 1), in: "a")
        try file.put(sectors(2, 2), at: 1024)
        try file.resize(to: 1024)
        try file.resize(to: 2048)
        #expect(disk.pendingItemCount == 5)
        // Also if the growth that made room for it was lost.
        #expect(firsts(disk.crash { $0 != 0 }.contents(of: "a")) == [1, 1, 0, 0])
        #expect(firsts(disk.crash { $0 != 3 }.contents(of: "a")) == [1, 1, 2, 2])
    }

    @Test func `makes content and length durable with a sync whatever was pending`() throws {
        for seed in 0..<50 as Range<UInt64> {
            var numbers = Chance(seed: seed)
            let disk = MemoryStorage(granularity: .sector)
            let file = try disk.putDurably(sectors(1, 2, 3), in: "a")
            for _ in 0..<20 {
                let size = UInt64.random(in: 0..<3000, using: &numbers)
                if Bool.random(using: &numbers) {
                    try file.put([UInt8](repeating: UInt8(size & 255), count: Int(size) / 2), at: size)
                } else {
                    try file.resize(to: size)
                }
                if numbers.next() % 4 == 0 { try file.sync(.ordered) }
            }
            let content = try file.allBytes()
            #expect(disk.crash { _ in true }.contents(of: "a") == content, "seed \(seed)")
            let killed = disk.processKill()
            try killed.openForWriting("a", create: false).sync(.durable)
            #expect(killed.durableContents(of: "a") == content, "seed \(seed)")
            #expect(killed.crash { _ in false }.contents(of: "a") == content, "seed \(seed)")
        }
    }

    @Test func `may lose a file whose name was not synced although its content was`() throws {
        let disk = MemoryStorage(granularity: .sector)
        try disk.put([1], in: "a").sync(.durable)
        #expect(disk.pendingItemCount == 1)
        #expect(disk.durableContents(of: "a") == nil)
        #expect(disk.afterEveryCrash { $0.contents(of: "a") } == [nil, [1]])
    }

    @Test func `may keep the name of a file without its content`() throws {
        let disk = MemoryStorage(granularity: .sector)
        try disk.put([1, 2], in: "a")
        try disk.syncDirectory("")
        #expect(disk.afterEveryCrash { $0.contents(of: "a") } == [[], [0, 0], [1, 2]])
    }

    @Test func `replaces a file by a rename as a whole or not at all`() throws {
        let disk = MemoryStorage(granularity: .sector)
        try disk.putDurably([1], in: "a")
        try disk.putDurably([2], in: "a.tmp")
        try disk.rename("a.tmp", to: "a")
        #expect(disk.pendingItemCount == 1)
        let states = disk.afterEveryCrash { [$0.contents(of: "a"), $0.contents(of: "a.tmp")] }
        #expect(states == [[[1], [2]], [[2], nil]])
    }

    @Test func `may keep a rename of a file whose content is lost`() throws {
        let disk = MemoryStorage(granularity: .sector)
        try disk.putDurably([1], in: "a")
        try disk.put([2], in: "a.tmp")
        try disk.rename("a.tmp", to: "a")
        // The name of the new file, its length, its sector, the rename.
        #expect(disk.pendingItemCount == 4)
        #expect(disk.crash { $0 == 3 }.contents(of: "a") == [])
        #expect(disk.crash { $0 == 3 }.contents(of: "a.tmp") == nil)
        #expect(disk.crash { $0 < 3 }.contents(of: "a") == [1])
        #expect(disk.crash { $0 < 3 }.contents(of: "a.tmp") == [2])
        #expect(disk.afterEveryCrash { $0.contents(of: "a") } == [[1], [], [0], [2]])
    }

    @Test func `may lose a removal`() throws {
        let disk = MemoryStorage(granularity: .sector)
        try disk.putDurably([1], in: "a")
        try disk.putDurably([2], in: "b")
        try disk.remove("a")
        try disk.remove("b")
        #expect(try disk.afterEveryCrash { try $0.list() } == [["a", "b"], ["a"], ["b"], []])
        #expect(disk.crash { $0 == 0 }.contents(of: "b") == [2])
        let killed = disk.processKill()
        try killed.syncDirectory("")
        #expect(try killed.afterEveryCrash { try $0.list() } == [[]])
    }

    @Test func `loses what is in a directory whose own name is lost`() throws {
        let disk = MemoryStorage(granularity: .sector)
        try disk.createDirectory("d")
        try disk.putDurably([1], in: "d/a")
        #expect(disk.pendingItemCount == 1)
        #expect(try disk.crash { _ in false }.list() == [])
        #expect(disk.crash { _ in true }.contents(of: "d/a") == [1])
    }

    @Test func `moves a file between directories as a whole until one of them is synced`() throws {
        func moved() throws -> MemoryStorage {
            let disk = MemoryStorage(granularity: .sector)
            try disk.createDirectory("d")
            try disk.putDurably([1], in: "a")
            try disk.rename("a", to: "d/a")
            return disk
        }
        func places(_ disk: MemoryStorage) -> [Bool] {
            [disk.contents(of: "a") != nil, disk.contents(of: "d/a") != nil]
        }
        #expect(try moved().afterEveryCrash(places) == [[true, false], [false, true]])
        // In the right order it is in two places for a while; in the wrong one it may be in none.
        let right = try moved()
        try right.syncDirectory("d")
        #expect(right.afterEveryCrash(places) == [[true, true], [false, true]])
        let wrong = try moved()
        try wrong.syncDirectory("")
        #expect(wrong.afterEveryCrash(places) == [[false, false], [false, true]])
        for disk in [try moved(), try moved()] {
            try disk.syncDirectory("d")
            try disk.syncDirectory("")
            #expect(disk.afterEveryCrash(places) == [[false, true]])
        }
    }

    @Test func `leaves a disk with nothing pending that can crash again`() throws {
        let disk = MemoryStorage(granularity: .sector)
        try disk.put(sectors(1, 2), in: "a")
        for crashed in disk.allCrashes() {
            #expect(crashed.pendingItemCount == 0)
            #expect(crashed.copy().contents(of: "a") == crashed.contents(of: "a"))
            let again = crashed.crash { _ in false }
            #expect(again.contents(of: "a") == crashed.contents(of: "a"))
        }
    }

    @Test func `reaches every state by chance and no other`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably(sectors(1, 1), in: "a")
        try file.put(sectors(2, 2, 2))
        try disk.put([1], in: "b")
        try disk.rename("b", to: "c")
        func state(_ disk: MemoryStorage) throws -> [[UInt8]?] {
            [disk.contents(of: "a"), disk.contents(of: "b"), disk.contents(of: "c")]
        }
        let all = try disk.afterEveryCrash(state)
        var numbers = Chance(seed: 1)
        var reached: Set<[[UInt8]?]> = []
        for _ in 0..<5000 { reached.insert(try state(disk.crash(using: &numbers))) }
        #expect(reached == all)
    }

    @Test func `is the same for the same seed`() throws {
        let disk = MemoryStorage(granularity: .sector)
        try disk.putDurably(sectors(1), in: "a").put([UInt8](repeating: 7, count: 20_000))
        for seed in 0..<20 as Range<UInt64> {
            var (one, two) = (Chance(seed: seed), Chance(seed: seed))
            #expect(disk.crash(using: &one).contents(of: "a") == disk.crash(using: &two).contents(of: "a"))
        }
    }

    @Test func `ends the disk and all that is open on it`() throws {
        for end in [{ $0.crash { _ in true } }, { $0.processKill() }] as [(MemoryStorage) -> MemoryStorage] {
            let disk = MemoryStorage(granularity: .sector)
            let file = try disk.putDurably([1], in: "a")
            let lock = try #require(try disk.lock("LOCK"))
            try disk.syncDirectory("")
            #expect(!disk.isEnded)
            let next = end(disk)
            #expect(disk.isEnded)
            let calls: [() throws -> Void] = [
                { try file.put([2]) }, { _ = try file.read(1, at: 0) }, { _ = try file.size() },
                { try file.resize(to: 0) }, { try file.sync(.durable) }, { _ = try disk.openForReading("a") },
                { try disk.put([1], in: "b") }, { try disk.rename("a", to: "b") }, { try disk.remove("a") },
                { _ = try disk.names(in: "") }, { try disk.syncDirectory("") }, { try disk.createDirectory("d") },
                { _ = try disk.lock("OTHER") },
            ]
            for call in calls { #expect(refusal(of: call) == .other) }
            #expect(!lock.isOwned)
            lock.note("other")
            lock.release()
            file.close()
            #expect(next.contents(of: "a") == [1])
            #expect(next.contents(of: "LOCK") == [])
            #expect(try next.lock("LOCK") != nil)
            #expect(next.counts[.open] == 0)
        }
    }
}

@Suite struct `A killed process` {
    @Test func `leaves what is visible visible and what is pending pending`() throws {
        let disk = MemoryStorage(granularity: .sector, capacity: 10_000)
        try disk.putDurably(sectors(1), in: "a").put(sectors(2))
        try disk.put([3], in: "b")
        disk.arm(FaultPlan(call: 1, persists: true))
        let killed = disk.processKill()
        #expect(killed.contents(of: "a") == sectors(2))
        #expect(killed.contents(of: "b") == [3])
        #expect(killed.pendingItemCount == disk.pendingItemCount)
        #expect(killed.capacity == 10_000)
        #expect(try killed.list() == ["a", "b"])
        #expect(killed.afterEveryCrash { $0.contents(of: "a") } == [sectors(1), sectors(2)])
    }

    @Test func `forgets files that only it had open`() throws {
        let disk = MemoryStorage(granularity: .sector)
        let file = try disk.putDurably([1], in: "a")
        try disk.remove("a")
        try disk.syncDirectory("")
        try file.put([2])
        #expect(disk.pendingItemCount == 1)
        #expect(disk.processKill().pendingItemCount == 0)
    }
}
