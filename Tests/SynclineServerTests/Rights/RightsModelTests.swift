// Random changes of rows and of memberships, read by clients of every kind: each ends with exactly the rows that its user
// may see, and no answer has anything of another row.

import Foundation
import SynclineCore
import SynclineTables
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct RightsModelTests {
    static let seeds = Seeds.some(2)

    @Test(arguments: TestBackend.stores)
    func `each client ends with the rows that its user may see`(_ backend: TestBackend) throws {
        for seed in Self.seeds { try RightsHistory(seed).run(backend) }
    }
}

/// A random history, and what must be right of it.
struct RightsHistory {
    private let seed: UInt64

    init(_ seed: UInt64) { self.seed = seed }

    private static func clients() -> [RightsClient] {
        RightsClient.Kind.allCases.flatMap { kind in
            RightsWorld.users.prefix(3).flatMap { user in
                ["note", "entry"].flatMap { table in
                    [nil, 4].map { RightsClient(kind, user, table, most: $0) }
                }
            }
        }
    }

    func run(_ backend: TestBackend) throws {
        var world = try RightsWorld(backend, seed: seed)
        var clients = Self.clients()
        var listeners = RightsListeners()
        for step in 1...160 {
            try world.step()
            try listeners.hear(world)
            for place in clients.indices where world.chance.once(in: 12) { _ = try clients[place].read(&world) }
            guard step % 40 == 0 else { continue }
            for place in clients.indices {
                try clients[place].finish(&world)
                clients[place].compare(world, seed)
            }
            for user in RightsWorld.users { try world.compareReads(user) }
            let user = world.chance.pick(RightsWorld.users)
            try world.compareHidden(user, world.requests(user))
            try world.compareReceipts(user)
        }
        #expect(backend == .memory || listeners.told > 20)
    }
}
