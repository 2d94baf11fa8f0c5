// Random histories of an app and processes that follow its store. SYNCLINE_SEED=n repeats one, SYNCLINE_SEEDS=n runs more.

import Foundation
import Testing

@Suite struct SharingSimulationTests {
    private static var seeds: ClosedRange<UInt64> {
        let environment = ProcessInfo.processInfo.environment
        if let seed = environment["SYNCLINE_SEED"].flatMap(UInt64.init) { return seed...seed }
        return 1...(environment["SYNCLINE_SEEDS"].flatMap(UInt64.init) ?? 60)
    }

    @Test func `changes of followers are made once, in order, even if any process is killed`() async throws {
        for seed in Self.seeds {
            var world = SharedWorld(seed: seed)
            try await world.run()
        }
    }
}
