// Stores, a server, a network and disks in one process, from one seed. A failing history is shortened as long as it
// still fails.

import Foundation
import SynclineTesting
import Testing

@Suite struct SyncSimulationTests {
    private static let seeds = Seeds.some(60, optimized: 200, night: 20_000)

    private static func failure(of plan: SyncPlan) async -> (reason: String, trace: [String])? {
        let world = SyncWorld(plan)
        do {
            try await world.run()
            return nil
        } catch {
            return ("\(error)", await world.trace)
        }
    }

    /// Leaves out steps, first many at once, while the history still fails.
    private static func shrunk(_ plan: SyncPlan) async -> SyncPlan {
        var plan = plan
        var size = plan.steps.count / 2
        while size > 0 {
            var start = 0
            while start < plan.steps.count {
                var shorter = plan
                shorter.steps.removeSubrange(start..<min(start + size, plan.steps.count))
                if await failure(of: shorter) != nil { plan = shorter } else { start += size }
            }
            size /= 2
        }
        return plan
    }

    private static func run(_ seed: UInt64) async {
        let plan = SyncPlan(seed: seed)
        guard let first = await failure(of: plan) else { return }
        let shorter = await shrunk(plan)
        guard let (reason, trace) = await failure(of: shorter) else {
            // With concurrency, a seed does not decide everything.
            Issue.record("seed \(seed) failed once: \(first.reason)\n\(first.trace.joined(separator: "\n"))")
            return
        }
        Issue.record(
            """
            seed \(seed): \(reason)
            \(shorter.server), \(shorter.options), \(shorter.precision), pages of \(shorter.pageLimit)
            \(shorter.queries), \(shorter.hasLocalColumn ? "with" : "without") a local column
            \(trace.joined(separator: "\n"))
            """)
    }

    @Test(arguments: 0..<UInt64(4))
    func `stores and their server agree once it is quiet`(part: UInt64) async {
        for seed in Self.seeds where seed % 4 == part { await Self.run(seed) }
    }

    @Test func `a seed gives the same history each time`() async throws {
        for seed in UInt64(1)...20 where !SyncPlan(seed: seed).isConcurrent {
            var traces: [[String]] = []
            for _ in 0..<2 {
                let world = SyncWorld(SyncPlan(seed: seed))
                try? await world.run()
                traces.append(await world.trace)
            }
            let isSame = traces[0] == traces[1]
            let place = zip(traces[0], traces[1]).enumerated().first { $1.0 != $1.1 }
            #expect(isSame, "seed \(seed), at \(place.map { "\($0)" } ?? "the end")")
        }
    }
}
