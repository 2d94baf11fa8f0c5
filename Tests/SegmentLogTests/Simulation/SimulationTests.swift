// Runs histories from seeds. A history that fails is printed in its smallest form.

import Foundation
import LogTesting
import Testing

@Suite struct SimulationTests {
    @Test func `every history from a seed agrees with the model`() async throws {
        let failing = await SimulationSeeds.run(Seeds.some(250, optimized: 10_000))
        for plan in failing { Issue.record("\(plan.report)") }
    }

    @Test func `the same seed gives the same history`() {
        for seed in UInt64(1)...20 {
            #expect("\(SimulationPlan(seed: seed).operations)" == "\(SimulationPlan(seed: seed).operations)")
        }
    }
}

enum SimulationSeeds {
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
