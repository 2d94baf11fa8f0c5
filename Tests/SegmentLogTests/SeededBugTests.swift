// Shows that the suite catches every seeded bug: each is turned on, and the batteries are run until one of them fails.
// Only in builds made with SYNCLINE_SEEDED_BUGS set. Prints which battery caught which bug. At run time the variable may
// name one bug; SYNCLINE_BATTERY keeps to the batteries whose name begins with it.

#if SEEDED_BUGS
    import Foundation
    import SegmentLog
    import Synchronization
    import Testing

    /// Something that throws where the log is wrong.
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

    @Suite(.serialized) struct SeededBugTests {
        @Test func `no battery fails where no bug is active`() throws {
            for battery in Battery.all { try battery.run() }
        }

        @Test func `every seeded bug is caught`() {
            let wanted = ProcessInfo.processInfo.environment["SYNCLINE_SEEDED_BUGS"] ?? ""
            let bugs = SeededBug(rawValue: wanted).map { [$0] } ?? SeededBug.allCases
            let batteries = Battery.all
            let uncaught = Mutex<[SeededBug]>([])
            DispatchQueue.concurrentPerform(iterations: bugs.count) { index in
                let bug = bugs[index]
                let catcher = SeededBug.$active.withValue(bug) { batteries.first { self.fails($0) } }
                print(bug.rawValue.padding(toLength: 28, withPad: " ", startingAt: 0), catcher?.name ?? "NOT CAUGHT")
                if catcher == nil { uncaught.withLock { $0.append(bug) } }
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
#endif
