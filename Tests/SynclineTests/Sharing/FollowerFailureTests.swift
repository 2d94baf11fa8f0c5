// A process that follows a store when its calls fail, when the power is cut, or when the store is erased meanwhile.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct FollowerFailureTests {
    private let disk = MemoryStorage(granularity: .sector)

    private func rows(_ database: SyncDatabase) async throws -> [String: Value] {
        var rows: [String: Value] = [:]
        for row in try await database.rows(of: "t").query(RowQuery(table: "t")).rows {
            rows[row.id] = row.columns["n"]
        }
        return rows
    }

    private func refusal(_ body: () async throws(SyncError) -> Void) async -> SyncError? {
        do throws(SyncError) {
            try await body()
            return nil
        } catch {
            return error
        }
    }

    @Test func `a change is durable also if the sync of the new folder failed when the store was opened`() async throws
    {
        let app = try await SyncDatabase.open(disk, .process("app"))
        try await app.close()
        disk.arm(FaultPlan(call: 1, of: [.syncDirectory]))
        let widget = try await SyncDatabase.follow(disk, .process("widget"))
        #expect(disk.counts.faults == 1)
        try await widget.rows(of: "t").insert(.item("a", ["n": 1]))
        let rest = disk.crash { _ in false }
        #expect(try await rows(try await SyncDatabase.open(rest, .process("later"))) == ["a": 1])
    }

    @Test func `after reads that failed in the middle of a refresh, the next one misses nothing`() async throws {
        var wasReached = true
        var call = 0
        while wasReached {
            call += 1
            let disk = MemoryStorage(granularity: .sector)
            let app = try await SyncDatabase.open(disk, .process("app"))
            for number in 0..<5 { try await app.rows(of: "t").insert(.item("row\(number)", ["n": 0])) }
            try await app.checkpoint()
            let widget = try await SyncDatabase.follow(disk, .process("widget"))
            try await app.transaction { transaction in
                for number in 0..<5 { try transaction.update("t", .item("row\(number)", ["n": 1])) }
            }
            disk.resetCounts()
            disk.arm(FaultPlan(call: call, of: [.open, .read, .size, .list], persists: true))
            _ = try? await widget.refresh()
            wasReached = disk.counts.faults > 0
            disk.disarm()
            try await app.rows(of: "t").insert(.item("new", ["n": 1]))
            try await widget.refresh()
            #expect(try await rows(widget) == rows(app), "call \(call)")
        }
        #expect(call > 10)
    }

    @Test func `a change that is stored while the store is erased is kept, or is refused`() async throws {
        var kept = 0
        var refused = 0
        for calls in 0..<60 {
            let disk = MemoryStorage(granularity: .sector)
            try await SyncDatabase.open(disk, .process("app")).close()
            let widget = try await SyncDatabase.follow(disk, .process("widget"))
            let isStored = Mutex(false)
            let storage = ProcessStorage(disk)
            let countdown = Countdown(calls)
            storage.beforeEachCall {
                guard countdown.isZeroNow else { return }
                let change = try? widget.writer.performNow(.durable) { engine in
                    try engine.local(TransactionHeading(isGrouped: false)) { transaction throws(SyncError) in
                        try transaction.insert("t", id: "a", columns: Row([.init("n", .integer(1))]))
                    }
                }
                isStored.withLock { $0 = change != nil }
            }
            let error = await refusal { () throws(SyncError) in try await SyncDatabase.erase(storage) }
            storage.beforeEachCall(nil)
            let app = try await SyncDatabase.open(disk, .process("later"))
            if isStored.withLock({ $0 }) {
                kept += 1
                #expect(error?.code == .pendingChanges, "call \(calls)")
                #expect(try await rows(app) == ["a": 1], "call \(calls)")
            } else {
                refused += 1
            }
        }
        #expect(kept > 0 && refused > 0)
    }

    @Test func `the highest number in the name of a file makes later changes fail, until the file is taken in`()
        async throws
    {
        let app = try await SyncDatabase.open(disk, .process("app"))
        let widget = try await SyncDatabase.follow(disk, .process("widget"))
        let file = TributaryFile(identity: try LogReader.open(disk).identity, read: 0, schema: 0, events: [])
        try WholeFile(TributaryName(number: .max, process: 1).path, in: disk).replace(with: file.bytes)
        try await widget.refresh()
        let error = await #expect(throws: SyncError.self) {
            try await widget.rows(of: "t").insert(.item("a", ["n": 1]))
        }
        #expect(error?.code == .ioError)
        try await app.refresh()
        let next = try await SyncDatabase.follow(disk, .process("next"))
        try await next.rows(of: "t").insert(.item("a", ["n": 1]))
        try await app.refresh()
        #expect(try await rows(app) == ["a": 1])
    }
}
