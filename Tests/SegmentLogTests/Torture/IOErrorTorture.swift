// Fails every call of a scenario in turn, each with every fault, once and permanently. Every failure is reported
// with the log's own errors, and the log opens on a healthy disk, after the end of the process and after a power
// failure, with everything acknowledged (invariants 1 to 4, 6, 7, 20, 32, 33).

import LogTesting
import SegmentLog

struct IOErrorTorture {
    /// The counts of a run.
    struct Count {
        var calls = 0
        var faults = 0
        var refusals = 0
        var states = 0
    }

    private static let changes: Set<CallKind> = [.open, .write, .resize, .rename, .remove, .createDirectory]
    private static let syncs: Set<CallKind> = [.sync, .syncDirectory]

    /// Every way a call can fail; the number of the call is filled in later.
    static let plans: [FaultPlan] = [false, true].flatMap { persists in
        [
            FaultPlan(call: 1, fault: .error(.inputOutput), persists: persists),
            FaultPlan(call: 1, of: changes, fault: .error(.diskFull), persists: persists),
            FaultPlan(call: 1, fault: .shortRead(7), persists: persists),
            FaultPlan(call: 1, fault: .shortWrite(9), persists: persists),
            FaultPlan(call: 1, fault: .partialWrite(13, .diskFull), persists: persists),
            FaultPlan(call: 1, fault: .partialWrite(1100, .diskFull), persists: persists),
            FaultPlan(call: 1, fault: .partialWrite(600, .inputOutput), persists: persists),
        ] + FaultPlan.SyncFailure.allCases.map { FaultPlan(call: 1, of: syncs, syncFailure: $0, persists: persists) }
    }

    /// Fails each call of a scenario, or each `stride`th, with each plan.
    static func everyCall(
        _ scenario: IOErrorScenario, plans: [FaultPlan] = plans, stride: Int = 1, seed: UInt64 = 1
    ) throws -> Count {
        var count = Count()
        var numbers = Chance(seed: seed)
        var failures: [String] = []
        for plan in plans {
            var call = 1
            while true {
                var plan = plan
                plan.call = call
                let play = try scenario.prepare()
                play.disk.resetCounts()
                play.disk.isTracing = plan.kinds == syncs
                play.disk.arm(plan)
                do {
                    try scenario.body(play)
                    if play.disk.counts.faults == 0 { break }
                    count.faults += play.disk.counts.faults
                    count.refusals += play.errors.count
                    try checkFailedSyncs(play, plan)
                    play.disk.disarm()
                    try checkLeft(play, scenario, &numbers, &count)
                } catch {
                    failures.append("call \(call), \(plan.words): \(error)")
                }
                count.calls += 1
                call += stride
            }
        }
        if !failures.isEmpty {
            throw TortureFailure(
                "\(scenario.name): \(failures.count) failures in \(count.calls) calls:\n"
                    + failures.prefix(10).joined(separator: "\n"))
        }
        return count
    }

    /// The disk works again: after the end of the process, after power failures, and after both.
    private static func checkLeft(
        _ play: IOErrorPlay, _ scenario: IOErrorScenario, _ numbers: inout Chance, _ count: inout Count
    ) throws {
        play.letGo()
        count.states += 5
        let lost = play.disk.crash { _ in false }
        try checked("power lost, nothing written") { try scenario.check(play, lost) }
        for _ in 0..<2 {
            let seed = numbers.next()
            var chance = Chance(seed: seed)
            let crashed = play.disk.crash(using: &chance)
            try checked("crash seed \(seed)") { try scenario.check(play, crashed) }
        }
        let killed = play.disk.processKill()
        try checked("process ended") { try scenario.check(play, killed) }
        let lostAfterwards = killed.crash { _ in false }
        try checked("process ended, then power lost") { try scenario.check(play, lostAfterwards) }
    }

    private static func checked(_ what: String, _ body: () throws -> Void) throws {
        do { try body() } catch { throw TortureFailure("\(what): \(error)") }
    }

    /// Invariant 7: between a failed sync of a file and the next opening, nothing is written to it, and it is not
    /// synced.
    private static func checkFailedSyncs(_ play: IOErrorPlay, _ plan: FaultPlan) throws {
        guard plan.kinds == syncs, !plan.persists else { return }
        var seen = 0
        var failed: String?
        for line in play.disk.trace {
            let words = line.split(separator: " ", maxSplits: 2).map(String.init)
            if words[0] == "sync" || words[0] == "syncDirectory" {
                seen += 1
                if seen == plan.call { failed = words[0] == "sync" ? words[1] : nil; continue }
            }
            if words[0] == "lock" { failed = nil }
            guard let failed, words[1] == failed, ["write", "sync", "resize"].contains(words[0]) else { continue }
            // A new file that never got its name is written again, from its beginning.
            if failed.hasSuffix(FileName.temporarySuffix) { continue }
            throw TortureFailure("invariant 7: \(line) after its sync failed")
        }
    }
}

extension FaultPlan {
    fileprivate var words: String {
        let what =
            switch fault {
            case .error(let kind): kinds.count == 2 ? "sync, \(syncFailure)" : "\(kind)"
            case .shortRead(let length): "short read of \(length)"
            case .shortWrite(let length): "short write of \(length)"
            case .partialWrite(let length, let kind): "\(kind) after \(length) bytes"
            }
        return what + (persists ? ", for good" : ", once")
    }
}
