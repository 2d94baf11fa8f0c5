// A device that changes its user: after the recipe of the guide nothing of the former's is left on the disk, and nothing that
// waits is lost silently or sent with the next user's token, whenever the process dies.

import Foundation
import LogTesting
import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct UserChangeTests {
    private let server: SimulatedServer
    private let network: SimulatedNetwork
    /// Strings that only Ann's rows have.
    private static let secrets = ["9wQz4-base-Kp7", "9wQz4-mine-Kp7", "9wQz4-new-Kp7", "9wQz4-draft-Kp7"]

    init() {
        server = SimulatedServer(.zumo2)
        server.setTable("t", rows: [.item("a", ["text": .string(UserChangeTests.secrets[0])])])
        server.setTable("other", rows: [])
        network = SimulatedNetwork(server)
    }

    private func open(_ storage: any LogStorage, as user: String) async throws -> SyncDatabase {
        try await SyncDatabase.open(storage, configuration(user))
    }

    private func configuration(_ user: String) -> SyncConfiguration {
        var configuration = SyncConfiguration.test()
        configuration.credentials = Login(AccessToken("token of \(user)", user: user))
        configuration.transport = network
        return configuration
    }

    /// A row of Ann's in a checkpoint, her edit of it, and a row that waits to be inserted.
    private func fill(_ disk: MemoryStorage) async throws {
        let store = try await open(disk, as: "ann")
        #expect(try await store.pull("t").reason == nil)
        try await store.checkpoint()
        try await store.rows(of: "t").update(.item("a", ["text": .string(UserChangeTests.secrets[1])]))
        try await store.rows(of: "t").insert(.item("b", ["text": .string(UserChangeTests.secrets[2])]))
        try await store.close()
    }

    /// The strings of Ann that a file has.
    private func found(_ disk: any LogStorage) throws -> Set<String> {
        var found: Set<String> = []
        func look(_ path: String) throws {
            for name in try disk.names(in: path) {
                let inner = path.isEmpty ? name : "\(path)/\(name)"
                if (try? disk.names(in: inner)) != nil {
                    try look(inner)
                } else if let bytes = try disk.read(file: inner) {
                    let text = String(decoding: bytes, as: UTF8.self)
                    found.formUnion(UserChangeTests.secrets.filter(text.contains))
                }
            }
        }
        try look("")
        return found
    }

    @Test func `nothing of the former user is left on the disk, whenever the process dies`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        try await fill(disk)
        let before = try found(disk)
        #expect(before == Set(UserChangeTests.secrets.prefix(3)))
        let sent = network.requests.count
        var chance = Chance(seed: 11)
        var (kept, gone) = (0, 0)
        for call in 1...40 {
            let copy = MemoryStorage(disk.copy(), granularity: .sector)
            copy.arm(
                FaultPlan(call: call, of: [.remove, .rename, .write, .sync, .syncDirectory, .open], persists: true))
            try? await SyncDatabase.erase(copy, force: true)
            copy.disarm()
            let left = copy.crash(using: &chance)
            let store = try await open(left, as: "bob")
            let report = try await store.sync(["t", "other"])
            if report.reason?.code == .otherUser {
                kept += 1
                // All of it is still there, for its user.
                #expect(try await store.pending().map(\.id) == ["a", "b"], "call \(call)")
                #expect(try found(left) == before, "call \(call)")
            } else {
                gone += 1
                #expect(report.reason == nil && report.push.operations.isEmpty, "call \(call)")
                #expect(try found(left).isSubset(of: [UserChangeTests.secrets[0]]), "call \(call)")
                #expect(try await store.pending().isEmpty)
            }
            try await store.close()
        }
        #expect(kept > 0 && gone > 5, "\(kept) \(gone)")
        // What the server has is Bob's to read; nothing that waited was sent with his token.
        #expect(network.requests.dropFirst(sent).allSatisfy { $0.method == "GET" })
    }

    @Test func `what waits is given up only with force, and is sent by its own user`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        try await fill(disk)
        let bob = try await open(disk, as: "bob")
        #expect(try await bob.sync(["t"]).reason?.code == .otherUser)
        await #expect { try await bob.erase() } throws: { ($0 as? SyncError)?.code == .pendingChanges }
        #expect(try await bob.pending().count == 2)
        try await bob.close()

        let ann = try await open(disk, as: "ann")
        #expect(try await ann.push().outcome == .complete)
        try await ann.erase()
        #expect(try found(disk).isEmpty)
        #expect(server.rows(of: "t").count == 2)
        let next = try await open(disk, as: "bob")
        #expect(try await next.sync(["other"]).reason == nil)
        #expect(try await next.rows(of: "t").count() == 0)
        #expect(try found(disk).isEmpty)
        try await next.close()
    }

    @Test func `two processes with two users can't both have a store`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        try await fill(disk)
        let first = ProcessStorage(disk)
        let ann = try await open(first, as: "ann")
        await #expect { _ = try await open(ProcessStorage(disk), as: "bob") } throws: {
            ($0 as? SyncError)?.code == .storeLocked
        }
        await #expect { try await SyncDatabase.erase(ProcessStorage(disk), force: true) } throws: {
            ($0 as? SyncError)?.code == .storeLocked
        }
        // A widget of Ann's follows it. What it has acknowledged keeps the store from being erased.
        let widget = try await SyncDatabase.follow(ProcessStorage(disk), configuration("ann"))
        #expect(try await ann.push().outcome == .complete)
        try await widget.rows(of: "t").insert(.item("c", ["text": .string(UserChangeTests.secrets[3])]))
        await #expect { try await ann.erase() } throws: { ($0 as? SyncError)?.code == .pendingChanges }
        try await ann.erase(force: true)
        let bob = try await open(disk, as: "bob")
        // It neither reads nor writes another user's store.
        for _ in 0..<2 {
            await #expect { try await widget.rows(of: "t").insert(.item("d", [:])) } throws: {
                ($0 as? SyncError)?.code == .storeReplaced
            }
            await #expect { try await widget.refresh() } throws: { ($0 as? SyncError)?.code == .storeReplaced }
        }
        #expect(try await bob.sync(["other"]).reason == nil)
        #expect(try await [bob.pending().count, bob.issues().count] == [0, 0])
        #expect(try found(disk).isEmpty)
        try await bob.close()
    }
}
