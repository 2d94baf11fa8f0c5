// Runs histories from seeds: 10,000 in an optimized build, some in a debug build, as many as SYNCLINE_SEEDS says, from
// SYNCLINE_FIRST_SEED on, or the one that SYNCLINE_SEED names. A history that fails is printed in its smallest form.

import Foundation
import Testing

@Suite struct SimulationTests {
    @Test func `every history from a seed agrees with the model`() async throws {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["SYNCLINE_SEED"].flatMap({ UInt64($0) }) {
            let plan = SimulationPlan(seed: seed)
            if plan.failure() != nil { Issue.record("\(plan.report)") }
            return
        }
        let count = environment["SYNCLINE_SEEDS"].flatMap { UInt64($0) } ?? SimulationSeeds.usual
        let first = environment["SYNCLINE_FIRST_SEED"].flatMap { UInt64($0) } ?? 1
        let failing = await SimulationSeeds.run(first...first + count - 1)
        for plan in failing { Issue.record("\(plan.report)") }
    }

    @Test func `the same seed gives the same history`() {
        for seed in UInt64(1)...20 {
            #expect("\(SimulationPlan(seed: seed).operations)" == "\(SimulationPlan(seed: seed).operations)")
        }
    }
}

enum SimulationSeeds {
    #if DEBUG
        static let usual: UInt64 = 250
    #else
        static let usual: UInt64 = 10_000
    #endif
    /// More failures than this are not worth shrinking.
    private static let enough = 3

    /// Runs the seeds' histories on all cores; returns the first plans that failed.
    static func run(_ seeds: ClosedRange<UInt64>) async -> [SimulationPlan] {
        let lanes = UInt64(max(1, ProcessInfo.processInfo.activeProcessorCount))
        return await withTaskGroup(of: [SimulationPlan].self) { group in
            for lane in 0..<lanes {
                group.addTask {
                    var failing: [SimulationPlan] = []
                    for seed in seeds where seed % lanes == lane && failing.count < enough {
                        let plan = SimulationPlan(seed: seed)
                        if plan.failure() != nil { failing.append(plan) }
                    }
                    return failing
                }
            }
            return await group.reduce(into: []) { $0 += $1 }
        }
    }
}
