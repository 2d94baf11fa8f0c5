// Moments of the history that are named by a time.

import Foundation
import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import Testing

@testable import Syncline

/// A clock that a test sets, also back.
private final class SetEnvironment: SyncEnvironment {
    private let time = Mutex<Int64>(1000)

    func set(_ milliseconds: Int64) { time.withLock { $0 = milliseconds } }
    func now() -> Date { Date(milliseconds: time.withLock { $0 }) }
    func newID() -> String { "id" }
}

@Suite struct TimeTests {
    private let clock = SetEnvironment()

    private func store() async throws -> SyncDatabase {
        var configuration = SyncConfiguration.test()
        configuration.environment = clock
        return try await SyncDatabase.open(MemoryStorage(), configuration)
    }

    private func write(_ time: Int64, _ database: SyncDatabase) async throws -> EventNumber {
        clock.set(time)
        try await database.rows(of: "t").update(
            .item("a", ["n": .integer(time), "text": .string("\(database.lastEvent)")]))
        return database.lastEvent
    }

    private func time(_ milliseconds: Int64) -> Date { Date(milliseconds: milliseconds) }

    @Test func `the event at a time is the last that is not later`() async throws {
        let database = try await store()
        let (first, second, third) = (
            try await write(2000, database), try await write(2000, database), try await write(3000, database)
        )
        #expect(first < second)
        #expect(try await database.event(at: time(2000)) == second)
        #expect(try await database.event(at: time(2999)) == second)
        #expect(try await database.event(at: time(3000)) == third)
        #expect(try await database.event(at: .distantFuture) == third)
        #expect(try await database.history(at: time(2500)).get("t", id: "a")?.columns["n"] == 2000)
        #expect(try await database.event(at: Date(timeIntervalSince1970: 2.0004)) == second)
        let blamed = try #require(try await database.blame("t", id: "a")?.first { $0.field == "n" })
        #expect(try await database.event(at: blamed.date) == third)
    }

    @Test func `after a clock was set back, the first event that is later ends the search`() async throws {
        let database = try await store()
        let first = try await write(2000, database)
        _ = try await write(9000, database)
        let late = try await write(3000, database)
        #expect(try await database.event(at: time(4000)) == first)
        #expect(try await database.event(at: time(9000)) == late)
    }

    @Test func `a time before the first event names it`() async throws {
        let database = try await store()
        _ = try await write(2000, database)
        for moment in [Date.distantPast, time(999)] {
            let error = await #expect(throws: SyncError.self) { try await database.history(at: moment) }
            #expect(error?.code == .collected)
            #expect(error?.message == "the history begins with @1, of 1970-01-01T00:00:01.000Z")
        }
        #expect(try await database.history(at: time(1000)).get("t", id: "a") == nil)
    }

    @Test func `a time before the history that is kept names its first event`() async throws {
        let database = try await store()
        try await database.set(retention: .events(0))
        for step in 0..<100 {
            clock.set(2000 + Int64(step))
            try await database.rows(of: "t").update(
                .item("a", ["text": .string(String(repeating: "\(step)", count: 3000)), "n": .integer(Int64(step))]))
            if step == 60 { try await database.checkpoint() }
        }
        try await database.compact()
        let report = try await database.compact()
        #expect(report.firstEvent > 1)
        let error = await #expect(throws: SyncError.self) { try await database.event(at: time(2000)) }
        #expect(error?.code == .collected)
        #expect(error?.message.contains("@\(report.firstEvent)") == true)
        #expect(try await database.event(at: time(2099)) == database.lastEvent)
    }
}
