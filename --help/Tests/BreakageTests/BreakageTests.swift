// Shows that the suite catches every breakage: each one is turned on, and the batteries run until one of them fails.
// This file is part of the copy that `tools/breakages` makes; it prints which battery caught what. SYNCLINE_BREAKAGE
// selects one breakage; SYNCLINE_BATTERY limits the batteries to those whose name begins with it.

import Foundation
import SegmentLog
import Synchronization
import Testing

/// A check that throws if the log is wrong.
struct Battery: Sendable {
    let name: String
    let run: @Sendable () throws -> Void

    /// The cheap ones first.
    static var all: [Battery] {
        let scenarios = Scenario.all.map { Battery(name: "scenario: \($0.name)", run: $0.run) }
        let others = [
            Battery(name: "simulation") { try simulate(1...4000) },
            Battery(name: "crash torture") { _ = try CrashTorture.run(seed: 1, histories: 6, states: 4000) },
            Battery(name: "sweeps", run: sweep),
            Battery(name: "I/O errors") {
                for scenario in IOErrorScenario.all {
                    _ = try IOErrorTorture.everyCall(scenario, stride: 7)
                }
            },
        ]
        let wanted = ProcessInfo.processInfo.environment["SYNCLINE_BATTERY"] ?? ""
        return (scenarios + others).filter { $0.name.hasPrefix(wanted) }
    }

    @Sendable private static func sweep() throws {
        _ = try SweepTorture.truncations(.closed, stride: 97)
        for ending in SweepCorpus.Ending.allCases {
            _ = try SweepTorture.sectorZeroing(ending)
            _ = try SweepTorture.frameShuffles(ending)
            _ = try SweepTorture.fileLosses(ending)
            _ = try SweepTorture.staleBytes(ending)
        }
    }

    private static func simulate(_ seeds: ClosedRange<UInt64>) throws {
        for seed in seeds { try Simulation(SimulationPlan(seed: seed)).run() }
    }
}

@Suite(.serialized) struct BreakageTests {
    @Test func `no battery fails if nothing is broken`() throws {
        try #require(!Battery.all.isEmpty)
        for battery in Battery.all { try battery.run() }
    }

    @Test func `every breakage is caught`() throws {
        try #require(!Breakage.allCases.isEmpty, "there is no breakage to catch")
        let wanted = ProcessInfo.processInfo.environment["SYNCLINE_BREAKAGE"] ?? ""
        let breakages = wanted.isEmpty ? Breakage.allCases : Breakage(rawValue: wanted).map { [$0] } ?? []
        // The one that is wanted may be of another module.
        if breakages.isEmpty { return }
        let batteries = Battery.all
        let uncaught = Mutex<[Breakage]>([])
        DispatchQueue.concurrentPerform(iterations: breakages.count) { index in
            let breakage = breakages[index]
            let catcher = Breakage.$active.withValue(breakage) { batteries.first { self.fails($0) } }
            let name = breakage.rawValue.padding(toLength: 28, withPad: " ", startingAt: 0)
            print(name, catcher?.name ?? "NOT CAUGHT")
            if catcher == nil { uncaught.withLock { $0.append(breakage) } }
        }
        #expect(uncaught.withLock { $0 }.isEmpty)
    }

    private func fails(_ battery: Battery) -> Bool {
        do {
            try battery.run()
            return false
        } catch {
            return true
        }
    }
}
