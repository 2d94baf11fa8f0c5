// A store that is suspended and resumed while one of its requests is on its way.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct SuspendedSyncTests {
    private let disk = MemoryStorage(granularity: .sector)
    private let server = SimulatedServer(.zumo2)

    private func configuration(_ name: String, _ network: SimulatedNetwork) -> SyncConfiguration {
        var configuration = SyncConfiguration.process(name)
        configuration.connect(to: network)
        return configuration
    }

    /// Opens a store whose first request is delayed until `work` has ended.
    private func open(
        delayingBy work: @escaping @Sendable (SyncDatabase) async throws -> Void
    ) async throws -> SyncDatabase {
        let opened = Mutex<SyncDatabase?>(nil)
        let network = SimulatedNetwork(server) { _ in
            guard let app = opened.withLock({ $0 }) else { return }
            do { try await work(app) } catch { Issue.record(error) }
        }
        network.script([.delay])
        let app = try await SyncDatabase.open(disk, configuration("app", network))
        opened.withLock { $0 = app }
        return app
    }

    /// Lets another process use the store meanwhile.
    private func elsewhere(_ work: @escaping @Sendable (SyncDatabase) async throws -> Void) async throws {
        let other = try await SyncDatabase.open(disk, configuration("other", SimulatedNetwork(server)))
        try await work(other)
        try await other.close()
    }

    @Test func `a push that another process finished meanwhile ends, and the next one agrees`() async throws {
        server.setTable("t", rows: [])
        let app = try await open { app in
            try await app.suspend()
            try await elsewhere { other in
                #expect(try await other.push().outcome == .complete)
                try await other.rows(of: "t").update(.item("a", ["n": 2]))
            }
            try await app.resume()
        }
        try await app.rows(of: "t").insert(.item("a", ["n": 1]))
        let report = try await app.push()
        guard case .stopped(let reason) = report.outcome else { throw reportFailure(report) }
        #expect(reason.code == .suspended)
        #expect(try await app.push().outcome == .complete)
        #expect(try await app.rows(of: "t").get(id: "a")?.columns["n"] == 2)
        #expect(try await app.pending().isEmpty)
    }

    @Test func `a pull that another process passed meanwhile stores nothing old`() async throws {
        server.setTable("t", rows: [.item("a", ["n": 1])])
        let app = try await open { app in
            try await app.suspend()
            try await elsewhere { other in
                _ = try await other.pull("t", queryID: "all")
            }
            try await app.resume()
        }
        let error = await #expect(throws: SyncError.self) { _ = try await app.pull("t", queryID: "all") }
        #expect(error?.code == .suspended)
        #expect(try await app.pull("t", queryID: "all").reason == nil)
        #expect(try await app.rows(of: "t").get(id: "a")?.columns["n"] == 1)
    }

    @Test func `a push continues if no other process wrote while the store was suspended`() async throws {
        server.setTable("t", rows: [])
        let app = try await open { app in
            try await app.suspend()
            try await app.resume()
        }
        try await app.rows(of: "t").insert(.item("a", ["n": 1]))
        #expect(try await app.push().outcome == .complete)
        #expect(server.rows(of: "t").count == 1)
    }

    private func reportFailure(_ report: PushReport) -> SyncError {
        SyncError(.internalError, "the push ended otherwise: \(report)")
    }
}

extension SyncDatabase {
    fileprivate func pull(_ table: String, queryID: String) async throws(SyncError) -> PullReport {
        var settings = PullSettings()
        settings.queryID = queryID
        return try await pull(table, settings)
    }
}
