// A server, a network and a clock for the app, all in this process and under the test's control.

import Foundation
import Observation
import Syncline
import SynclineTesting

@testable import FieldApp

/// The world of one device.
struct World {
    let server: SimulatedServer
    let network: SimulatedNetwork
    let clock = ManualEnvironment()
    let folder = FileManager.default.temporaryDirectory.appending(path: "field-\(SyncID.make())").path

    /// A device; with a server, another device of the same server.
    init(server: SimulatedServer? = nil) {
        let known = server
        self.server = known ?? SimulatedServer()
        network = SimulatedNetwork(self.server)
        if known == nil {
            for table in FieldStore.tables { self.server.setTable(table, rows: []) }
        }
    }

    var configuration: SyncConfiguration {
        var configuration = SyncConfiguration(environment: clock)
        configuration.connect(to: network)
        return configuration
    }

    /// A store in memory, without automatic sync.
    func store() async throws -> FieldStore {
        var configuration = configuration
        configuration.schema = FieldStore.schema
        return try await FieldStore(SyncDatabase.open(MemoryStorage(), configuration))
    }

    /// A user's session, with a store on the disk.
    func session(
        of user: String = "ada", token: String? = "token",
        renew: @escaping @Sendable () async throws -> String? = { nil }
    ) async throws -> Session {
        try await Session.begin(Account(user: user, token: token, renew: renew), in: folder, configuration)
    }

    /// What the server has in a column of a table, in the order of the ids.
    func column(_ name: String, of table: String) -> [Value?] {
        server.rows(of: table).map { row in
            if case .object(let members) = row { members.first { $0.name == name }?.value } else { nil }
        }
    }
}

/// Waits for a state without sleeping: the condition is read again after each change of what it reads.
@MainActor
func wait(until holds: () -> Bool) async {
    while true {
        let (changes, continuation) = AsyncStream.makeStream(of: Void.self)
        if withObservationTracking(holds, onChange: { continuation.yield() }) { return }
        for await _ in changes { break }
    }
}
