// What a write guarantees its caller: all or nothing, shared syncs, full disks, and the app's own errors.

import Dispatch
import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct WritingTests {
    private struct GivenUp: Error, Equatable {}

    @Test func `a transaction that throws stores nothing and gives back its own error`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        try await database.rows(of: "t").insert(.item("1", ["a": .integer(1)]))
        let before = (database.lastEvent, database.totals, try await database.allRows())
        await #expect(throws: GivenUp()) {
            try await database.transaction { transaction in
                try transaction.insert("t", .item("2", ["new column": .integer(2)]))
                try transaction.delete("t", id: "1")
                #expect(try transaction.get("t", id: "1") == nil)
                throw GivenUp()
            }
        }
        let error = await #expect(throws: SyncError.self) {
            try await database.transaction { transaction in
                try transaction.insert("t", .item("2", [:]))
                try transaction.insert("t", .item("1", [:]))
            }
        }
        #expect(error?.code == .rowExists)
        #expect(database.lastEvent == before.0)
        #expect(database.totals == before.1)
        #expect(try await database.allRows() == before.2)
        try await database.rows(of: "t").insert(.item("3", ["other": .integer(3)]))
        let image = try StateImage.check(disk, "after refusals")
        #expect(try StateImage.contents(database.writer.current.reader.snapshot) == image.contents)
    }

    @Test func `a transaction that its closure kept stops the process, before it changes anything`() async throws {
        await #expect(processExitsWith: .failure) {
            final class Kept: @unchecked Sendable {
                // Unchecked: it is used by one thread after another.
                var transaction: SyncTransaction?
            }
            let (kept, database) = (Kept(), try await SyncDatabase.open(MemoryStorage(), .test()))
            try? await database.transaction { transaction in
                kept.transaction = transaction
                throw GivenUp()
            }
            _ = try kept.transaction?.insert("t", .item("1", [:]))
        }
    }

    @Test func `a change that changes nothing stores no event`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        try await SyncDatabase.open(disk, .test()).rows(of: "t").insert(.item("1", ["a": .integer(1)]))
        let database = try await SyncDatabase.open(disk.processKill(), .test())
        let before = database.lastEvent
        try await database.rows(of: "t").update(.item("1", ["a": .integer(1)]))
        try await database.transaction { _ in }
        #expect(database.lastEvent == before)
        try await database.rows(of: "t").update(.item("1", ["a": .integer(2)]))
        #expect(database.lastEvent == before + 2, "the process says who it is, then the change")
    }

    @Test func `an undo reverts a whole transaction`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage(), .test())
        try await database.rows(of: "t").insert(.item("1", ["a": .integer(1)]))
        let before = try await database.allRows()
        try await database.transaction { transaction in
            try transaction.update("t", .item("1", ["a": .integer(2)]))
            try transaction.insert("u", .item("2", [:]))
        }
        try await database.undo()
        #expect(try await database.allRows() == before)
        #expect(try await database.pending().map(\.kind) == [.insert])
        try await database.undo()
        let error = await #expect(throws: SyncError.self) { try await database.undo() }
        #expect(error?.code == .operationNotFound)
    }

    @Test func `a full disk refuses a commit, and the store continues when there is room`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        disk.capacity = 400_000
        var chance = Chance(seed: 3)
        var stored = 0
        var refusals = 0
        for number in 0..<60 {
            if number == 40 { disk.capacity = nil }
            let size = chance.below(40_000)
            let content = Value.bytes((0..<size).map { _ in UInt8(truncatingIfNeeded: chance.next()) })
            let before = database.lastEvent
            do throws(SyncError) {
                try await database.rows(of: "t").insert(.item("\(number)", ["c\(number)": content]))
                stored += 1
            } catch {
                #expect(error.code == .diskFull)
                #expect(database.lastEvent == before)
                refusals += 1
            }
            #expect(try await database.rows(of: "t").count() == stored)
        }
        #expect(refusals > 0 && stored > 30)
        #expect(database.totals.made == UInt64(stored))
        let image = try StateImage.check(disk, "after a full disk")
        #expect(image.through == database.lastEvent.rawValue)
        #expect(try StateImage.contents(database.writer.current.reader.snapshot) == image.contents)
    }

    @Test func `the first commit of a process may be refused like any other`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        let before = (database.lastEvent, database.totals)
        disk.capacity = 1
        let large = Value.bytes(Array((0..<200_000).lazy.map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 13) }))
        await #expect(throws: SyncError.self) { try await database.rows(of: "t").insert(.item("1", ["a": large])) }
        #expect(database.lastEvent == before.0)
        disk.capacity = nil
        try await database.rows(of: "t").insert(.item("2", ["b": .integer(1)]))
        #expect(database.totals.made == 1)
        let image = try StateImage.check(disk, "after a refused first commit")
        #expect(image.totals == database.totals)
        #expect(try StateImage.contents(database.writer.current.reader.snapshot) == image.contents)
    }

    @Test func `writers that arrive together share a sync, and each change is there`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        let writers = 200
        let arrived = Arrivals()
        let gate = DispatchSemaphore(value: 0)
        disk.resetCounts()
        try await withThrowingTaskGroup(of: Void.self) { group in
            // The first commit lasts until the others wait for it, for which they have all the threads there are.
            group.addTask(executorPreference: OwnThread()) { try await database.transaction { _ in hold(gate) } }
            for number in 0..<writers {
                group.addTask {
                    if arrived.next() == writers { gate.signal() }
                    try await database.rows(of: "t").insert(.item("\(number)", ["a": .integer(Int64(number))]))
                }
            }
            try await group.waitForAll()
        }
        #expect(disk.counts.syncs < writers / 4)
        #expect(try await database.rows(of: "t").count() == writers)
        let reopened = try await SyncDatabase.open(disk.crash { _ in false }, .test())
        #expect(try await reopened.rows(of: "t").count() == writers)
    }
}

private final class Arrivals: Sendable {
    private let count = Atomic(0)

    func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}

/// Runs what may block where it delays nothing else.
private final class OwnThread: TaskExecutor {
    private let queue = DispatchQueue(label: "WritingTests")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}

private func hold(_ gate: DispatchSemaphore) {
    gate.wait()
}
