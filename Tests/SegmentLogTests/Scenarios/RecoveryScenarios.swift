// Writes that did not reach the disk completely. What was never acknowledged is removed, whole transactions at a
// time, and nothing is truncated before a copy of it is safe.

import LogTesting
import SegmentLog

extension Scenario {
    static let recovery: [Scenario] = [
        Scenario("a file ends inside a transaction of several frames") {
            let log = try StoryLog { writer in
                try writer.append(StoryLog.batch("before"))
                var large = RecordBatch()
                for seed in 1...9 { large.append(Array(noise(15_000, seed: UInt64(seed)).wire)) }
                try writer.append(large, durability: .buffered)
            }
            let frames = try log.dataFrames()
            try must(frames.count > 3, "\(frames.count) frames")
            for frame in frames.dropFirst(2) {
                for end in [frame.range.lowerBound, frame.range.lowerBound + 3, frame.range.upperBound - 9] {
                    let torn = log.copy()
                    torn.bytes.removeSubrange(end...)
                    try must(try StoryLog.records(torn.tree) == [1: "before"], "a reader was shown half of it")
                    let last = try StoryLog.open(torn.tree).lastSequence
                    try must(last == .first, "cut at \(end), it was opened with \(last)")
                    try must(try StoryLog.records(torn.tree) == [1: "before"], "half of it stayed")
                }
            }
        },
        Scenario("a torn tail is kept in quarantine, whenever the power goes") {
            for torn in try tornDisks() {
                let before = torn.copy().contents(of: StoryLog.segment1) ?? []
                var call = 1
                while true {
                    let disk = MemoryStorage(torn.copy(), granularity: .sector)
                    disk.arm(FaultPlan(call: call, persists: true))
                    _ = try? StoryLog.open(disk)
                    let isOver = disk.counts.faults == 0
                    let tree = disk.crash { _ in false }.copy()
                    let after = tree.contents(of: StoryLog.segment1) ?? []
                    let kept = tree.allNames().files.filter { $0.hasSuffix(".tail") }.compactMap {
                        tree.contents(of: $0)
                    }
                    let whole = before.prefix(1 + (before.lastIndex { $0 != 0 } ?? 0))
                    let isThere =
                        after.starts(with: whole)
                        || kept.contains {
                            $0 == Array(whole.suffix($0.count)) && whole.count - $0.count <= after.count && !$0.isEmpty
                        }
                    try must(isThere, "power was lost at call \(call) of recovery, and bytes are gone")
                    try must(!isOver || !kept.isEmpty, "nothing was kept of a tail that was cut")
                    if isOver { break }
                    call += 1
                }
            }
        },
        Scenario("a write stops in the middle of a sector, wherever that is") {
            let log = try StoryLog { writer in
                try writer.append(StoryLog.batch("before"))
                try writer.append(noise(700, seed: 4))
            }
            let frame = try log.dataFrames()[1].range
            let bytes = log.bytes
            for length in 1...frame.count - 5 {
                let end = frame.lowerBound + length
                for (what, rest) in [("zeros", bytes.count - end + 4096), ("the end", 0)] {
                    let torn = log.copy()
                    torn.bytes = Array(bytes[..<end]) + [UInt8](repeating: 0, count: rest)
                    do {
                        let last = try StoryLog.open(torn.tree).lastSequence
                        try must(last == .first, "opened with \(last)")
                    } catch {
                        throw ScenarioFailure("\(length) bytes of it, then \(what): \(error)")
                    }
                }
            }
        },
        Scenario("what a full disk refused does not come back to a log that was closed") {
            let disk = MemoryStorage(granularity: .sector)
            let writer = try StoryLog.open(disk)
            try writer.append(StoryLog.batch("before"))
            disk.arm(FaultPlan(call: 1, of: [.write], fault: .partialWrite(20, .diskFull)))
            try mustThrow(.diskFull, "a full disk") { () throws(LogError) in
                try writer.append(StoryLog.batch("refused"), durability: .buffered)
            }
            disk.disarm()
            try writer.close()
            try must(disk.pendingItemCount < 12, "\(disk.pendingItemCount) changes are pending")
            for subset in 0..<1 << disk.pendingItemCount {
                let image = disk.crash { subset >> $0 & 1 == 1 }
                do {
                    try must(try StoryLog.open(image).lastSequence == .first, "another end")
                } catch {
                    throw ScenarioFailure("changes \(String(subset, radix: 2)) were kept: \(error)")
                }
            }
        },
        Scenario("what a full disk refused does not come back beneath what was written next") {
            for refused in ["a batch", "a seal"] {
                let disk = MemoryStorage(granularity: .sector)
                let writer = try StoryLog.open(disk, compresses: false)
                try writer.append(StoryLog.batch("before"))
                disk.arm(FaultPlan(call: 1, of: [.write], fault: .partialWrite(1536, .diskFull)))
                try mustThrow(.diskFull, "a full disk") { () throws(LogError) in
                    if refused == "a seal" { return try writer.roll() }
                    _ = try writer.append(StoryLog.batch("refused"), durability: .buffered)
                }
                disk.disarm()
                let next = String(repeating: "next ", count: 250)
                try writer.append(StoryLog.batch(next), durability: .buffered)
                try must(disk.pendingItemCount < 14, "\(disk.pendingItemCount) changes are pending")
                for subset in 0..<1 << disk.pendingItemCount {
                    let image = disk.crash { subset >> $0 & 1 == 1 }
                    do {
                        _ = try StoryLog.open(image)
                        let records = try StoryLog.records(image)
                        try must(records == [1: "before"] || records == [1: "before", 2: next], "it holds \(records)")
                    } catch {
                        throw ScenarioFailure("\(refused), \(String(subset, radix: 2)) was kept: \(error)")
                    }
                }
            }
        },
        Scenario("what a full disk refused does not go along when the cut can't be synced") {
            for failure in FaultPlan.SyncFailure.allCases {
                let disk = MemoryStorage(granularity: .sector)
                let storage = InterleavingStorage(disk)
                let writer = try StoryLog.open(storage, compresses: false)
                try writer.append(StoryLog.batch("before"))
                try writer.append(StoryLog.batch("kept"), durability: .buffered)
                storage.trim = .init(call: 0, sectors: 0, error: .diskFull)
                disk.arm(FaultPlan(call: 1, of: [.sync], syncFailure: failure))
                try mustThrow(.diskFull, "a full disk") { () throws(LogError) in
                    let large = String(repeating: "refused ", count: 200)
                    _ = try writer.append(StoryLog.batch(large), durability: .buffered)
                }
                disk.disarm()
                try writer.append(StoryLog.batch("next"))
                let records = try StoryLog.records(disk)
                try must(records == [1: "before", 2: "kept", 3: "next"], "\(failure): \(records)")
            }
        },
        Scenario("a reader that has passed a seal that is taken back continues before it") {
            for (calls, visibility) in (0..<6).flatMap({ [($0, LogReader.Visibility.written), ($0, .durable)] }) {
                let disk = MemoryStorage(granularity: .sector)
                let storage = InterleavingStorage(disk)
                let writer = try StoryLog.open(storage)
                try writer.append(StoryLog.batch("one"))
                try writer.attest()
                let follower = Follower(try LogReader.open(disk, showing: visibility).cursor())
                disk.arm(FaultPlan(call: 1, of: [.write], fault: .partialWrite(1536, .diskFull)))
                storage.interrupt(after: calls) { try? follower.read() }
                try mustThrow(.diskFull, "a full disk") { () throws(LogError) in try writer.roll() }
                disk.disarm()
                storage.letBe()
                try follower.read()
                try writer.append(StoryLog.batch("two"))
                try writer.attest()
                try follower.read()
                try must(follower.seen == ["one", "two"], "\(visibility), \(calls): it was shown \(follower.seen)")
            }
        },
        Scenario("what was cut off is not read again after something new") {
            for torn in try tornDisks() {
                let disk = MemoryStorage(torn.copy(), granularity: .sector)
                try StoryLog.open(disk).append(StoryLog.batch("new"), durability: .buffered)
                let records = try StoryLog.records(disk)
                try must(records == [1: "before", 2: "new"], "\(records.keys.sorted())")
                try must(try StoryLog.open(disk).lastSequence.rawValue == 2, "it was opened with something else")
                try must(try LogVerification(disk).run().isHealthy, "it is damaged")
            }
        },
        Scenario("records that a writer found are durable once it says so, though an earlier sync of them failed") {
            for failure in FaultPlan.SyncFailure.allCases where failure != .contentReverted {
                let disk = MemoryStorage(granularity: .sector)
                let writer = try StoryLog.open(disk)
                try writer.append(StoryLog.batch("before"))
                disk.arm(
                    FaultPlan(call: 1, of: [.sync, .open, .rename, .resize], syncFailure: failure, persists: true))
                try mustThrow(.storageFailed, "a sync failed") { () throws(LogError) in
                    _ = try writer.append(StoryLog.batch("after"))
                }
                let killed = disk.processKill()
                let found = try StoryLog.open(killed).durableThrough
                let records = try StoryLog.records(killed.crash { _ in false })
                try must(
                    UInt64(records.count) >= found.rawValue,
                    "durable through \(found), and a power loss left \(records)")
            }
        },
    ]

    /// Disks after a power failure in which some piece of the newest frame was lost.
    private static func tornDisks() throws -> [MemoryStorage] {
        let disk = MemoryStorage(granularity: .sector)
        let writer = try StoryLog.open(disk)
        try writer.append(StoryLog.batch("before"))
        try writer.append(noise(1400, seed: 5), durability: .buffered)
        let count = disk.pendingItemCount
        let torn = (0..<count).map { lost in disk.crash { $0 != lost } }
        return try torn.filter { image in
            let catalog = try LogCatalog(image)
            guard let header = catalog.segments.first?.header else { return false }
            let window = FileWindow(try image.reading(StoryLog.segment1), name: StoryLog.segment1)
            return try TailScan(window, header, head: catalog.head).verdict == .torn
        }
    }
}

/// A reader that is asked repeatedly.
private final class Follower {
    private var cursor: LogCursor
    private(set) var seen: [String] = []

    init(_ cursor: consuming LogCursor) { self.cursor = cursor }

    func read() throws {
        while try cursor.nextFrame() {
            cursor.forEachRecord { _, bytes in
                seen.append(bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) })
            }
        }
    }
}
