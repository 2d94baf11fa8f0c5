// Shows that the suite catches every seeded bug: each is turned on, and the batteries are run until one of them fails.
// Only in builds made with SYNCLINE_SEEDED_BUGS set. Prints which battery caught which bug. At run time the variable may
// name one bug; SYNCLINE_BATTERY keeps to the batteries whose name begins with it.

#if SEEDED_BUGS
    import Foundation
    import SegmentLog
    import Testing

    /// Something that throws where the log is wrong.
    struct Battery: Sendable {
        let name: String
        let run: @Sendable () throws -> Void

        /// The cheap ones first.
        static var all: [Battery] {
            let scenarios = Scenario.all.map { Battery(name: "scenario: \($0.name)", run: $0.run) }
            let others = [
                Battery(name: "crash torture") { _ = try CrashTorture.run(seed: 1, histories: 6, states: 4000) },
                Battery(name: "simulation") { try simulate(1...4000) },
            ]
            let wanted = ProcessInfo.processInfo.environment["SYNCLINE_BATTERY"] ?? ""
            return (scenarios + others).filter { $0.name.hasPrefix(wanted) }
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
            for bug in bugs {
                let catcher = SeededBug.$active.withValue(bug) { Battery.all.first { self.fails($0) } }
                print(bug.rawValue.padding(toLength: 28, withPad: " ", startingAt: 0), catcher?.name ?? "NOT CAUGHT")
                if catcher == nil { Issue.record("\(bug) is not caught") }
            }
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
