// Others use the log at the same time: a reader takes a lease during a collection, reads while segments come and go,
// a forked child holds the writer, a checkpoint is damaged before it is announced. Every interleaving is tried.

import LogTesting
import SegmentLog

extension Scenario {
    static let neighbours: [Scenario] = [
        Scenario("a lease is taken at any moment of a collection") {
            var call = 0
            while true {
                let storage = InterleavingStorage(try collectable().tree)
                let writer = try StoryLog.open(storage)
                var lease: LogLease?
                var wasAsked = false
                storage.interrupt(after: call) {
                    wasAsked = true
                    lease = try? LogReader.open(storage.base).lease(from: .first)
                }
                _ = try writer.collect(keepingFrom: writer.lastSequence)
                let first = try LogCatalog(storage.base).segments.first?.first
                if lease != nil {
                    try must(
                        first == .first,
                        "a lease from @1 was given at call \(call), and the log begins with \(first ?? .none)")
                }
                lease?.release()
                if !wasAsked { break }
                call += 1
            }
        },
        Scenario("the power goes at any moment of a collection, and any of its changes is lost") {
            var call = 1
            while true {
                let disk = MemoryStorage(try collectable().tree, granularity: .sector)
                let writer = try StoryLog.open(disk)
                disk.arm(FaultPlan(call: call, persists: true))
                _ = try? writer.collect(keepingFrom: writer.lastSequence)
                let items = min(disk.pendingItemCount, 10)
                for subset in 0..<1 << items {
                    let image = disk.crash { $0 >= 10 || subset >> $0 & 1 == 1 }
                    let numbers = try StoryLog.records(image).keys.sorted()
                    let what = "power was lost at call \(call), and changes \(String(subset, radix: 2)) were kept"
                    try must(numbers == Array((numbers.first ?? 0)...7), "\(what): records \(numbers) are left")
                    do { _ = try StoryLog.open(image) } catch { throw ScenarioFailure("\(what): \(error)") }
                }
                if disk.counts.faults == 0 { break }
                call += 1
            }
        },
        Scenario("the directory is replaced under its writer") {
            let disk = MemoryStorage(granularity: .sector)
            let writer = try StoryLog.open(disk)
            try writer.append(StoryLog.batch("one"))
            disk.replaceDirectory()
            try mustRefuse(writer, disk, untouched: disk.copy())
        },
        Scenario("the lock is removed, and another writer let in") {
            let disk = MemoryStorage(granularity: .sector)
            let writer = try StoryLog.open(disk)
            try writer.append(StoryLog.batch("one"), durability: .buffered)
            try disk.remove(FileName.lock)
            let other = try StoryLog.open(disk)
            try other.append(StoryLog.batch("two"))
            try mustRefuse(writer, disk, untouched: disk.copy())
            try other.append(StoryLog.batch("three"))
            let records = try StoryLog.records(disk)
            try must(records == [1: "one", 2: "two", 3: "three"], "the log has \(records)")
        },
        Scenario("whether the directory is still there can't be told for a moment") {
            let disk = MemoryStorage(granularity: .sector)
            let writer = try StoryLog.open(disk)
            disk.arm(FaultPlan(call: 1, of: [.stat]))
            try mustThrow(.ioError, "a commit") { () throws(LogError) in try writer.append(StoryLog.batch("one")) }
            try writer.append(StoryLog.batch("two"))
            try writer.close()
            let records = try StoryLog.records(disk)
            try must(records == [1: "two"], "the log has \(records)")
        },
        Scenario("a claim on what is gone is refused") {
            let tree = try collectable().tree
            let writer = try StoryLog.open(tree)
            _ = try writer.collect(keepingFrom: writer.lastSequence)
            try mustThrow(.collected, "a lease on what is gone") { () throws(LogError) in
                _ = try LogReader.open(tree).lease(from: .first)
            }
        },
        Scenario("the writer rolls and collects at any moment of a reader's look") {
            var call = 0
            while true {
                let storage = InterleavingStorage(try collectable().tree)
                let writer = try StoryLog.open(storage.base)
                var wasDone = false
                var failure: (any Error)?
                storage.interrupt(after: call) {
                    wasDone = true
                    do {
                        try writer.append(StoryLog.batch("meanwhile"))
                        try writer.roll()
                        _ = try writer.collect(keepingFrom: writer.lastSequence)
                    } catch { failure = error }
                }
                var records: [UInt64: String] = [:]
                do {
                    records = try StoryLog.records(storage, showing: .durable)
                } catch let error as LogError where error.code == .collected {
                    records = try StoryLog.records(storage, showing: .durable)
                }
                if let failure { throw failure }
                let numbers = records.keys.sorted()
                let first = numbers.first ?? 0
                try must(
                    numbers == Array(first..<first + UInt64(numbers.count)),
                    "interrupted at call \(call), a reader was shown \(numbers)")
                try must(
                    wasDone ? numbers.last ?? 0 >= 7 : numbers.last == 7,
                    "interrupted at call \(call), a reader was shown \(numbers)")
                if !wasDone { break }
                call += 1
            }
        },
        Scenario("a checkpoint rots before it was read back") {
            var rotted = 0
            for call in 0..<12 {
                let storage = InterleavingStorage(try collectable().tree)
                guard let tree = storage.base as? MemoryStorage else { throw ScenarioFailure("not in memory") }
                let writer = try StoryLog.open(storage)
                let through = writer.lastSequence
                var checkpoint = try CheckpointWriter.begin(for: writer, through: through, clock: SimulationClock())
                _ = try noise(900, seed: 4).wire.withUnsafeBytes { bytes throws(LogError) in
                    try checkpoint.append(bytes)
                }
                var hasRotted = false
                let readings = storage.readings
                storage.interrupt(after: call) {
                    guard storage.readings == readings else { return }
                    let name = FileName.checkpoint(through: through) + ".tmp"
                    guard var bytes = tree.contents(of: name), bytes.count > 600 else { return }
                    bytes[570] ^= 4
                    tree.setContents(bytes, of: name)
                    hasRotted = true
                }
                let error: LogError?
                do throws(LogError) {
                    try checkpoint.finish(note: [])
                    error = nil
                } catch let failure { error = failure }
                guard hasRotted else { continue }
                rotted += 1
                try must(
                    error?.code == .storeCorrupt,
                    "a rotten checkpoint was finished: \(error.map { "\($0)" } ?? "no error")")
                // The one it was to replace is still intact.
                try Checkpoint.open(tree, through: through, identity: writer.identity).verify()
            }
            try must(rotted > 0, "nothing rotted")
        },
        Scenario("a forked child has the writer") {
            let storage = InterleavingStorage(MemoryStorage())
            let writer = try StoryLog.open(storage)
            try writer.append(StoryLog.batch("of the parent"))
            storage.isOwner = false
            try mustThrow(.closed, "a child appends") { () throws(LogError) in
                _ = try writer.append(StoryLog.batch("of the child"))
            }
            try mustThrow(.closed, "a child rolls") { () throws(LogError) in try writer.roll() }
            try mustThrow(.closed, "a child collects") { () throws(LogError) in
                _ = try writer.collect(keepingFrom: .first)
            }
            storage.isOwner = true
            try writer.append(StoryLog.batch("of the parent again"))
            try must(
                try StoryLog.records(storage.base) == [1: "of the parent", 2: "of the parent again"], "the child wrote")
        },
        Scenario("another writer has the log open") {
            let tree = MemoryStorage()
            let writer = try StoryLog.open(tree)
            try mustThrow(.storeLocked, "a second writer") { () throws(LogError) in _ = try StoryLog.open(tree) }
            try writer.close()
            _ = try StoryLog.open(tree)
        },
    ]

    /// Three sealed segments of two records each, one more record, and a checkpoint of it all.
    private static func collectable() throws -> StoryLog {
        let log = try threeSegments()
        let writer = try StoryLog.open(log.tree)
        let checkpoint = try CheckpointWriter.begin(for: writer, through: writer.lastSequence, clock: SimulationClock())
        try checkpoint.finish(note: [])
        return log
    }
}

/// A writer whose files now belong to another must refuse everything, and change nothing.
private func mustRefuse(_ writer: LogWriter, _ disk: MemoryStorage, untouched: MemoryStorage) throws {
    let code = LogError.Code.storeReplaced
    try mustThrow(code, "a commit") { () throws(LogError) in try writer.append(StoryLog.batch("late")) }
    try mustThrow(code, "a sync") { () throws(LogError) in try writer.flush() }
    try mustThrow(code, "a roll") { () throws(LogError) in try writer.roll() }
    try mustThrow(code, "a word in HEAD") { () throws(LogError) in try writer.attest() }
    try mustThrow(code, "a checkpoint") { () throws(LogError) in
        _ = try CheckpointWriter.begin(for: writer, through: .first, clock: SimulationClock())
    }
    try mustThrow(code, "a collection") { () throws(LogError) in _ = try writer.collect(keepingFrom: .first) }
    try mustThrow(code, "closing") { () throws(LogError) in try writer.close() }
    let left = disk.copy()
    try must(left.allNames() == untouched.allNames(), "files came or went: \(left.allNames())")
    for name in left.allNames().files {
        try must(left.contents(of: name) == untouched.contents(of: name), "\(name) was changed")
    }
}
