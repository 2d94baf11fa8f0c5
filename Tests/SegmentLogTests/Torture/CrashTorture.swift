// The crash model: histories of a log, interrupted at every call that changes the disk, each followed by every
// subset (or a seeded sample of the subsets) of what was not yet durable. The result must open, have what was
// acknowledged, be a prefix of what was submitted in whole transactions, and stay so through further crashes
// (invariants 1 to 4, 6, 16, 17, 19, 22, 26, 33).

import LogTesting
import SegmentLog

struct CrashTorture {
    /// The counts of a run.
    struct Count {
        var histories = 0
        var points = 0
        var states = 0
    }

    private(set) var count = Count()
    private let budget: Int
    private var numbers: Chance
    private var place = ""

    /// Explores histories from `seed` on until `histories` of them, or `states` crash states, are done.
    static func run(seed: UInt64, histories: Int, states: Int = .max) throws -> Count {
        var torture = CrashTorture(budget: states, numbers: Chance(seed: seed))
        while torture.count.histories < histories && torture.count.states < states {
            let index = UInt64(torture.count.histories)
            try torture.explore(CrashHistory(seed: seed &+ index, large: index % 16 == 15))
        }
        return torture.count
    }

    private init(budget: Int, numbers: Chance) {
        self.budget = budget
        self.numbers = numbers
    }

    private mutating func explore(_ history: CrashHistory) throws {
        count.histories += 1
        let whole = CrashPlay(history)
        _ = try whole.run(dyingAtCall: nil)
        let calls = CrashPlay.changes.reduce(0) { $0 + whole.disk.counts[$1] }
        for call in 1...calls + 1 {
            let play = CrashPlay(history)
            _ = try play.run(dyingAtCall: call)
            place = "seed \(history.seed), dying at call \(call) of \(calls)"
            try crash(play)
            if count.states >= budget { return }
        }
    }

    /// Every subset of few pending items, a sample of many.
    private mutating func crash(_ play: CrashPlay) throws {
        count.points += 1
        let items = play.disk.pendingItemCount
        if items <= 5 || (items <= 12 && numbers.next() % 24 == 0) {
            for subset in 0..<1 << items {
                try check(play.oracle, "subset \(subset) of \(items)") {
                    play.disk.crash { subset >> $0 & 1 == 1 }
                }
            }
        } else {
            for _ in 0..<24 {
                let seed = numbers.next()
                try check(play.oracle, "crash seed \(seed)") {
                    var numbers = Chance(seed: seed)
                    return play.disk.crash(using: &numbers)
                }
            }
        }
    }

    // MARK: One state

    private mutating func check(_ oracle: CrashOracle, _ what: String, _ state: () -> MemoryStorage) throws {
        do {
            let disk = state()
            let before = count.states % 4 == 0 ? Segments(disk) : nil
            let recovered = try open(disk, oracle)
            count.states += 1
            try before?.checkWhatWasCut(on: disk)
            if count.states % 8 == 0 { try checkAfterwards(disk, oracle, recovered) }
            if count.states % 16 == 0 { try dieRecovering(oracle, state) }
        } catch {
            throw TortureFailure("\(place), \(what): \(error)")
        }
    }

    /// Recovers the log and compares it with the oracle; returns the last record.
    private func open(_ disk: MemoryStorage, _ oracle: CrashOracle, least: UInt64? = nil) throws -> UInt64 {
        let writer = try LogWriter.open(disk, configuration: .small(), clock: TestClock(seed: 99))
        let last = writer.lastSequence.rawValue
        try require(
            last >= least ?? oracle.acknowledged,
            "invariant 1: @\(oracle.acknowledged) was acknowledged, the log ends at @\(last)")
        try require(
            last <= UInt64(oracle.records.count), "invariant 2: the log ends at @\(last), which was never written")
        try require(oracle.boundaries.contains(last), "invariant 3: the log ends at @\(last), inside a transaction")
        try require(
            writer.durableThrough.rawValue == last,
            "invariant 33: recovered through @\(last), durable through \(writer.durableThrough)")
        try compare(disk, oracle, last)
        return last
    }

    private func compare(_ disk: MemoryStorage, _ oracle: CrashOracle, _ last: UInt64) throws {
        var next: UInt64?
        try TortureReader.forEach(disk) { number, record in
            if next == nil {
                try require(number <= oracle.latestFloor, "invariant 26: the log begins with @\(number)")
            } else {
                try require(number == next, "invariant 4: @\(number) follows @\((next ?? 0) - 1)")
            }
            try require(number <= last, "the reader shows @\(number) of a log that ends at @\(last)")
            try require(
                oracle.records[Int(number) - 1].elementsEqual(record), "invariant 2: @\(number) is not what was written"
            )
            next = number + 1
        }
        // A log that begins after its last record may have no records, but only after a collection.
        try require(
            next == last + 1 || next == nil && (last == 0 || oracle.latestFloor >= last),
            "invariant 1: the reader ends before @\(next ?? 0) of @\(last)")
    }

    /// What recovery made durable survives losing everything pending; a second recovery changes no byte; the log
    /// continues; and what was truncated does not return.
    private mutating func checkAfterwards(_ disk: MemoryStorage, _ oracle: CrashOracle, _ recovered: UInt64) throws {
        let first = disk.crash { _ in false }
        let once = Segments(first)
        guard try open(first, oracle, least: recovered) == recovered else {
            throw TortureFailure("invariant 16: a second recovery ends elsewhere than @\(recovered)")
        }
        try require(Segments(first) == once, "invariant 16: a second recovery changed a segment")
        var oracle = oracle
        oracle.records.removeLast(oracle.records.count - Int(recovered))
        oracle.boundaries = oracle.boundaries.filter { $0 <= recovered }
        for (index, durability) in [Durability.durable, .buffered].enumerated() {
            oracle.submit([Array("after the crash \(index)".utf8), [UInt8](repeating: UInt8(index), count: 700)])
            oracle.acknowledged = UInt64(oracle.records.count) - (durability == .buffered ? 2 : 0)
            let writer = try LogWriter.open(first, configuration: .small(), clock: TestClock(seed: 98))
            try writer.append(RecordBatch(records: Array(oracle.records.suffix(2))), durability: durability)
        }
        for _ in 0..<2 {
            let second = first.crash(using: &numbers)
            count.states += 1
            _ = try open(second, oracle)
        }
    }

    /// Recovery itself fails at some call, and what it leaves is crashed, too.
    private mutating func dieRecovering(_ oracle: CrashOracle, _ state: () -> MemoryStorage) throws {
        let whole = state()
        whole.resetCounts()
        _ = try open(whole, oracle)
        let calls = CrashPlay.changes.reduce(0) { $0 + whole.counts[$1] }
        for call in 1...max(1, calls) {
            let disk = state()
            disk.arm(FaultPlan(call: call, of: CrashPlay.changes, persists: true))
            _ = try? LogWriter.open(disk, configuration: .small(), clock: TestClock(seed: 97))
            for attempt in 0..<2 {
                let again = attempt == 0 ? disk.crash(using: &numbers) : disk.crash { _ in true }
                count.states += 1
                do { _ = try open(again, oracle) } catch {
                    throw TortureFailure("invariant 16: recovery died at call \(call) of \(calls): \(error)")
                }
            }
        }
    }
}

/// The segments of a disk, byte for byte.
struct Segments: Equatable {
    private var files: [String: [UInt8]] = [:]

    init(_ disk: MemoryStorage) {
        for name in (try? disk.names(in: "")) ?? [] where name.hasSuffix(".seg") {
            files[name] = disk.contents(of: name)
        }
    }

    /// Bytes that are missing or changed are durable in quarantine (invariant 17); only zeros may be missing there.
    func checkWhatWasCut(on disk: MemoryStorage) throws {
        for (name, before) in files {
            guard let after = disk.contents(of: name) else { throw TortureFailure("recovery removed \(name)") }
            let common = zip(before, after).enumerated().first { $0.element.0 != $0.element.1 && $0.element.0 != 0 }?
                .offset
            let start = common ?? min(before.count, after.count)
            guard before[start...].contains(where: { $0 != 0 }), let segment = FileName.parseSegment(name)?.ordinal
            else { continue }
            let kept = try disk.names(in: FileName.quarantine).contains { tail in
                guard tail.hasPrefix("s\(segment)-"), let offset = Int(tail.split(separator: "-")[1]), offset <= start,
                    let copy = disk.durableContents(of: "\(FileName.quarantine)/\(tail)")
                else { return false }
                return copy.elementsEqual(before[offset...].prefix(copy.count))
                    && before[(offset + copy.count)...].allSatisfy { $0 == 0 }
            }
            try require(kept, "invariant 17: \(name) lost bytes from \(start) on that are not in quarantine")
        }
    }
}
