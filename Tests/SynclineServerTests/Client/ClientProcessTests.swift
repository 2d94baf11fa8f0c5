// Stores that pull by changes through several processes over one database, while others write through all of them.

import Foundation
import Syncline
import SynclineCore
import SynclineGround
import SynclineWire
import Testing

@testable import SynclineServer

/// Stores at several servers, and how many of them still write.
private final class Crowd: Sendable {
    private let folder: TemporaryFolder
    private let ports: [UInt16]
    private let writersLeft: Atomic<Int>

    init(_ ports: [UInt16]) throws {
        folder = try TemporaryFolder()
        self.ports = ports
        writersLeft = Atomic(ports.count)
    }

    private func open(_ name: String, _ server: Int) async throws -> SyncDatabase {
        var configuration = SyncConfiguration()
        configuration.backend = "http://127.0.0.1:\(ports[server])"
        return try await SyncDatabase.open(at: folder.path + "/" + name, configuration)
    }

    func write(_ number: Int) async throws {
        defer { writersLeft.subtract(1, ordering: .acquiringAndReleasing) }
        let store = try await open("writer\(number)", number)
        for round in 0..<6 {
            for row in 0..<8 {
                if round == 0 {
                    try await store.insert("w\(number)-\(row)", "0")
                } else if row % 2 == round % 2, row < 7 {
                    try await store.update("w\(number)-\(row)", "\(round)")
                }
            }
            if round == 4 { try await store.rows(of: "todoitem").delete(id: "w\(number)-7") }
            #expect(try await store.push().outcome == .complete)
        }
        try await store.close()
    }

    /// The versions in a store that pulled all the time, and once more at the end.
    func read(_ number: Int) async throws -> [String: Value] {
        let store = try await open("reader\(number)", number)
        while true {
            let isLast = writersLeft.load(ordering: .acquiring) == 0
            let report = try await store.pullAll { $0.pageSize = 3 }
            #expect(report.reason == nil && report.conflicts == 0)
            if isLast { break }
        }
        let rows = try await store.column("version")
        try await store.close()
        return rows
    }
}

@Suite struct ClientProcessTests {
    @Test(arguments: TestBackend.available)
    func `N6, T6: no row is missed while several processes write`(_ backend: TestBackend) async throws {
        let (store, keeper) = try backend.storeAlone()
        defer { withExtendedLifetime(keeper) {} }
        let words = ["--store", store, "--listen", "127.0.0.1:0", "--table", "todoitem", "--log", "none"]
        let servers = try [ServerProcess(words), ServerProcess(words), ServerProcess(words)]
        defer { withExtendedLifetime(servers) {} }
        let crowd = try Crowd(servers.map(\.port))
        let seen = try await withThrowingTaskGroup(of: [String: Value]?.self) { group in
            for number in 0..<3 {
                group.addTask {
                    try await crowd.write(number)
                    return nil
                }
                group.addTask { try await crowd.read(number) }
            }
            var seen: [[String: Value]] = []
            for try await rows in group { if let rows { seen.append(rows) } }
            return seen
        }
        let client = KeptConnection(port: servers[1].port)
        var truth: [String: Value] = [:]
        for id in (0..<3).flatMap({ number in (0..<7).map { "w\(number)-\($0)" } }) {
            truth[id] = client.ask("GET", "/tables/todoitem/\(id)")?.json["version"]
        }
        #expect(truth.count == 21 && seen.count == 3)
        for rows in seen { #expect(rows == truth) }
    }
}
