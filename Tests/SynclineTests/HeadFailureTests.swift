// One write of HEAD fails, at each point in the life of a store: only that one call fails. The next checkpoint and
// the next compaction succeed, and nothing that was acknowledged is lost.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct HeadFailureTests {
    /// Inserts, checkpoints and compactions; the rows that were acknowledged.
    private func live(_ database: SyncDatabase, _ ids: Range<Int>) async -> Set<String> {
        var known: Set<String> = []
        for number in ids {
            let row = Row([.init("text", .string(String(repeating: "\(number)", count: 3000)))])
            let page = PulledPage(table: "t", queryID: nil, rows: [.init(id: "\(number)", row: row)], cursor: nil)
            if (try? await database.pull(page)) != nil { known.insert("t/\(number)") }
            if number % 2 == 1 { try? await database.checkpoint() }
            if number % 4 == 3 { _ = try? await database.compact() }
        }
        return known
    }

    @Test(arguments: [StorageError.Kind.diskFull, .inputOutput], [CallKind.write, .sync])
    func `a refused write of HEAD costs one call`(error: StorageError.Kind, kind: CallKind) async throws {
        var call = 1
        while true {
            let disk = MemoryStorage(granularity: .sector)
            var configuration = SyncConfiguration.test()
            configuration.log.segmentSize = .kibibytes(4)
            let first = try await SyncDatabase.open(disk, configuration)
            try await first.set(retention: .events(2))
            try await first.close()
            let database = try await SyncDatabase.open(disk, configuration)
            disk.arm(FaultPlan(call: call, of: [kind], suffix: "HEAD", fault: .error(error)))
            var known = await live(database, 0..<8)
            let isOver = disk.counts.faults == 0
            disk.disarm()
            known.formUnion(await live(database, 8..<12))
            #expect(known.isSuperset(of: (8..<12).map { "t/\($0)" }), "call \(call)")
            try await database.checkpoint()
            let report = try await database.compact()
            #expect(report.firstEvent > 8, "call \(call)")
            #expect(Set(try await database.allRows().keys) == known, "call \(call)")
            let lost = try StateImage.check(disk.crash { _ in false }, "call \(call)")
            #expect(lost.through == database.lastEvent.rawValue, "call \(call)")
            if isOver { break }
            call += 1
        }
        #expect(call > 3)
    }

    @Test(arguments: [StorageError.Kind.diskFull, .inputOutput], [CallKind.write, .sync])
    func `a store that can't note that it was closed has its changes`(
        error: StorageError.Kind, kind: CallKind
    ) async throws {
        let disk = MemoryStorage(granularity: .sector)
        try await SyncDatabase.open(disk, .test()).close()
        let database = try await SyncDatabase.open(disk, .test())
        try await database.rows(of: "t").insert(id: "a", columns: .empty)
        disk.arm(FaultPlan(call: 1, of: [kind], suffix: FileName.head, fault: .error(error)))
        #expect(try await database.closeAfterChanges()?.code == (error == .diskFull ? .diskFull : .ioError))
        let again = try await SyncDatabase.open(disk.crash { _ in false }, .test())
        #expect(try await again.rows(of: "t").get(id: "a") != nil)
        try await again.close()
    }

    @Test func `a store that can't make its changes durable when it is closed says so`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        try await database.rows(of: "t").insert(id: "a", columns: .empty, durability: .buffered)
        disk.arm(FaultPlan(call: 1, of: [.sync, .write], fault: .error(.inputOutput), persists: true))
        await #expect(throws: SyncError.self) { try await database.closeAfterChanges() }
    }

    @Test func `a disk that was full while HEAD was written blocks no writer once there is room`() async throws {
        for call in 1..<12 {
            let disk = MemoryStorage(granularity: .sector)
            try await SyncDatabase.open(disk, .test()).close()
            let database = try await SyncDatabase.open(disk, .test())
            // A commit is refused, and so is the update of HEAD about it, and everything until there is space.
            disk.arm(FaultPlan(call: call, of: [.write, .open], fault: .error(.diskFull), persists: true))
            for number in 0..<3 {
                _ = try? await database.rows(of: "t").insert(.item("early \(number)", ["a": .integer(1)]))
            }
            disk.disarm()
            try await database.rows(of: "t").insert(.item("late", ["a": .integer(1)]))
            try await database.checkpoint()
            _ = try await database.compact()
            #expect(try await database.rows(of: "t").get(id: "late") != nil, "call \(call)")
            _ = try StateImage.check(disk.crash { _ in false }, "call \(call)")
        }
    }
}
