// What remains of a pull after the end of the process and after a power failure, at each page and after the last.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct PullDurabilityTests {
    private let disk = MemoryStorage(granularity: .sector)
    private let server = SimulatedServer(.zumo2)

    /// A server with six rows, two in a page, which begins with the last row of the page before; `before` is called
    /// with the number of a request, from 1, and may return why it fails.
    private func open(
        rows: [Value] = Value.rows(6), _ before: @escaping @Sendable (Int) -> NetworkFailure? = { _ in nil }
    ) async throws -> SyncDatabase {
        let server = server
        server.setTable("t", rows: rows, pageLimit: 2)
        let count = Mutex(0)
        var configuration = SyncConfiguration.test()
        configuration.transport = PlayedLine { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if let failure = before(number) { return .failure(failure) }
            return .success(server.handle(request))
        }
        return try await SyncDatabase.open(disk, configuration)
    }

    private static func pull(_ database: SyncDatabase) async throws -> PullReport {
        var settings = PullSettings()
        settings.queryID = "q"
        return try await database.pull("t", settings)
    }

    private static func rows(in storage: any LogStorage) async throws -> Int {
        let database = try await SyncDatabase.open(storage, .test())
        return try await database.rows(of: "t").query(RowQuery(table: "t")).rows.count
    }

    @Test func `when a page is asked for, those before it survive the process`() async throws {
        let disk = disk
        let left = Mutex<[MemoryStorage]>([])
        let database = try await open { _ in
            left.withLock { $0.append(disk.copy()) }
            return nil
        }
        #expect(try await Self.pull(database).changed == 6)
        var counts: [Int] = []
        for storage in left.withLock({ $0 }) { counts.append(try await Self.rows(in: storage)) }
        #expect(counts == [0, 2, 3, 4, 5])
    }

    @Test(arguments: [nil, 2, 4] as [Int?])
    func `rows of a finished pull survive a power loss`(lost: Int?) async throws {
        let database = try await open { $0 == lost ? .offline("the line is cut") : nil }
        let report = try await Self.pull(database)
        #expect(report.reason?.code == (lost == nil ? nil : .offline))
        #expect(report.changed > 0)
        #expect(try await Self.rows(in: disk.crash { _ in false }) == report.changed)
    }

    @Test func `if the disk is full at the third page, earlier pages are kept, even after a power loss`() async throws {
        let disk = disk
        let database = try await open { number in
            if number == 3 { disk.arm(FaultPlan(call: 1, of: [.write], fault: .error(.diskFull), persists: true)) }
            return nil
        }
        let error = await #expect(throws: SyncError.self) { try await Self.pull(database) }
        #expect(error?.code == .diskFull)
        disk.disarm()
        #expect(try await Self.rows(in: disk.crash { _ in false }) == 3)
    }

    @Test func `a pull that can't read its store keeps the pages before, through power loss, too`() async throws {
        let disk = disk
        // Rows that take a block each.
        let long = Value.string(String(repeating: "x", count: 9000))
        let database = try await open(rows: (0..<6).map { .item("r\($0)", ["text": long]) }) { number in
            if number == 7 { disk.arm(FaultPlan(call: 1, of: [.read], persists: true)) }
            return nil
        }
        #expect(try await Self.pull(database).requests == 5)
        try await database.checkpoint()
        // The first page of the second pull has what is new, and the second a row that is read for it.
        for row in ["n0", "n1", "r5"] { server.upsert([.item(row, [:])], in: "t") }
        let error = await #expect(throws: SyncError.self) { try await Self.pull(database) }
        #expect(error?.code == .ioError)
        disk.disarm()
        #expect(try await Self.rows(in: disk.crash { _ in false }) == 8)
    }

    @Test func `the pages of a pull share one sync`() async throws {
        let database = try await open()
        disk.resetCounts()
        #expect(try await Self.pull(database).requests == 5)
        #expect(disk.counts[.sync] == 1)
        // Nothing new, nothing to sync.
        disk.resetCounts()
        #expect(try await Self.pull(database).reason == nil)
        #expect(disk.counts[.sync] == 0)
    }

    @Test func `a pull whose sync fails for good says so`() async throws {
        let database = try await open()
        disk.arm(FaultPlan(call: 1, of: [.sync], persists: true))
        await #expect(throws: SyncError.self) { try await Self.pull(database) }
    }
}
