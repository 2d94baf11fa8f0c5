// Random histories of an app and processes that follow its store.

import Foundation
import SynclineTesting
import Testing

@Suite struct SharingSimulationTests {
    @Test func `changes of followers are made once, in order, even if any process is killed`() async throws {
        for seed in Seeds.some(60) {
            var world = SharedWorld(seed: seed)
            try await world.run()
        }
    }
}
