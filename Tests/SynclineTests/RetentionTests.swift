// Removing history: what is kept is enough for every promised state, and nothing pending is removed.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct RetentionTests {
    /// A store of many small segments; every tenth event deletes.
    private func store(_ retention: Retention, events: Int) async throws -> (MemoryStorage, SyncDatabase) {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        try await database.set(retention: retention)
        try await write(database, events)
        return (disk, database)
    }

    private func write(_ database: SyncDatabase, _ count: Int) async throws {
        var chance = Chance(seed: database.lastEvent.rawValue)
        for number in 0..<count {
            let text = Value.bytes((0..<2000).map { _ in UInt8(truncatingIfNeeded: chance.next()) })
            let row = PulledRow(
                id: "r\(number % 30)",
                row: number % 10 == 9 ? nil : Row([.init("text", text), .init("n", .integer(Int64(number)))]))
            try await database.pull(
                PulledPage(table: "t", queryID: nil, rows: [row], cursor: nil, isAudit: false))
        }
    }

    @Test func `a store that keeps everything loses nothing to a compaction`() async throws {
        let (disk, database) = try await store(.everything, events: 120)
        let report = try await database.compact()
        #expect(report.firstEvent == 1 && report.segmentsRemoved == 0)
        let rows = try await database.allRows()
        try await database.close()
        _ = try StateImage.check(disk, "compacted")
        #expect(try await SyncDatabase.open(disk, .test()).allRows() == rows)
    }

    @Test func `the last N events are kept, and every state within them can be read`() async throws {
        let (disk, database) = try await store(.events(60), events: 100)
        var states: [UInt64: [String: [String: Value]]] = [:]
        // Nothing is removed yet: there is no checkpoint before the horizon.
        #expect(try await database.compact().segmentsRemoved == 0)
        for _ in 0..<4 {
            try await write(database, 40)
            states[database.lastEvent.rawValue] = try await database.allRows()
            try await database.compact()
        }
        let report = try await database.compact()
        #expect(report.segmentsRemoved > 0 || report.firstEvent > 1)
        #expect(report.firstEvent > 1 && report.firstEvent <= database.lastEvent - 60 + 1)
        for (event, rows) in states where event + 60 >= database.lastEvent.rawValue {
            let state = try await database.history(at: EventNumber(rawValue: event))
            var found: [String: [String: Value]] = [:]
            for row in try await state.query(RowQuery(table: "t")).rows {
                found["t/\(row.id)"] = row.columns.dictionary
            }
            #expect(found == rows, "@\(event)")
        }
        let error = await #expect(throws: SyncError.self) { try await database.history(at: 1) }
        #expect(error?.code.rawValue == "collected" && error?.hint != nil)
        #expect(try await database.blame("t", id: "r1")?.isEmpty == false)
        try await database.close()
        _ = try StateImage.check(disk, "compacted")
        #expect(try disk.names(in: "").count { $0.hasSuffix(".checkpoint") } <= 4)
    }

    @Test func `pending changes are carried on, and are pushed as before`() async throws {
        let (disk, database) = try await store(.events(0), events: 60)
        try await database.rows(of: "t").insert(.item("mine", ["n": .integer(1)]))
        let first = database.lastEvent
        try await write(database, 100)
        try await database.rows(of: "t").update(.item("mine", ["n": .integer(2)]))
        let pending = try await database.pending()
        let report = try await database.compact()
        #expect(report.segmentsRemoved > 0 && report.firstEvent > first)
        try await database.close()
        let again = try await SyncDatabase.open(disk, .test())
        #expect(try await again.pending() == pending)
        try await again.undo()
        #expect(try await again.rows(of: "t").get(id: "mine")?.columns["n"] == .integer(1))
        try await again.undo()
        #expect(try await again.compact().firstEvent > first)
    }

    @Test func `the newest checkpoint may be lost if an older one is kept`() async throws {
        let (disk, database) = try await store(.events(50), events: 100)
        for _ in 0..<3 {
            try await database.compact()
            try await write(database, 60)
        }
        let report = try await database.compact()
        #expect(report.firstEvent > 1)
        let rows = try await database.allRows()
        try await database.close()
        let newest = try #require(try disk.names(in: "").filter { $0.hasSuffix(".checkpoint") }.max())
        try disk.remove(newest)
        #expect(try await SyncDatabase.open(disk, .test()).allRows() == rows)
    }

    @Test func `days are counted by the clock of the store`() async throws {
        let (_, database) = try await store(.days(1), events: 40)
        // The test's clock counts milliseconds: everything is from today.
        try await database.compact()
        #expect(try await database.compact().firstEvent == 1)
        try await database.set(retention: .days(0))
        try await write(database, 20)
        #expect(try await database.retention() == .days(0))
    }

    @Test func `retentions are written and read in one form`() {
        for retention in [Retention.everything, .days(30), .events(0), .events(100_000)] {
            #expect(Retention(retention.description) == retention)
        }
        for text in ["", "none", "30", "-1 days", "1 year", "1 days more", "99999999999999999999 days"] {
            #expect(Retention(text) == nil, "\(text)")
        }
    }

    @Test func `a plan cuts at the newest whole checkpoint before the horizon`() {
        let whole = [30, 20, 10].map { CheckpointFiles(through: $0, files: [$0]) }
        let plan = HistoryPlan(whole, horizon: 25)
        #expect(plan?.anchor == 20 && plan?.dropped == [10])
        #expect(HistoryPlan(Array(whole.suffix(1)), horizon: 9) == nil)
        #expect(HistoryPlan.pinned(whole) == [10, 20])
        // A file that a later checkpoint refers to is kept.
        let shared = whole + [CheckpointFiles(through: 15, files: [15]), .init(through: 27, files: [27, 15])]
        #expect(HistoryPlan(shared, horizon: 25)?.dropped == [10])
        #expect(HistoryPlan([.init(through: 20, files: [20, 10]), whole[2]], horizon: 25)?.anchor == 10)
    }

    // MARK: The check of the fold

    private func notes(_ storage: any LogStorage) throws -> [(note: LogNote, file: String)] {
        try LogVerification(storage).run().segments.compactMap { segment in
            segment.note.map { ($0, segment.name) }
        }
    }

    @Test func `seals and checkpoints note the state that folding gives`() async throws {
        for retention in [Retention.everything, .events(20)] {
            let (disk, database) = try await store(retention, events: 150)
            try await database.compact()
            try await write(database, 80)
            try await database.compact()
            try await database.close()
            let found = try notes(disk)
            #expect(found.count >= 2)
            for fromBeginning in [true, false] {
                #expect(try StateCheck(disk, notes: found).run(fromBeginning: fromBeginning).isEmpty)
            }
        }
    }

    @Test func `a note that is not the state's is found`() async throws {
        let (disk, database) = try await store(.everything, events: 150)
        try await database.close()
        var found = try notes(disk)
        let place = found.count / 2
        found[place].note.bytes = Digest(high: 1, low: 2).sealNote
        let mismatches = try StateCheck(disk, notes: found).run(fromBeginning: true)
        #expect(mismatches.map(\.event) == [found[place].note.through.rawValue])
        // A note by another version of the fold says nothing about this one.
        found[place].note.bytes[0] += 1
        #expect(try StateCheck(disk, notes: found).run(fromBeginning: true).isEmpty)
    }

    @Test func `a note after the oldest checkpoint is compared without folding the events before it`() async throws {
        let (disk, database) = try await store(.everything, events: 60)
        try await database.checkpoint()
        let checkpoint = database.lastEvent.rawValue
        try await write(database, 90)
        try await database.close()
        var found = try notes(disk)
        let place = try #require(found.indices.last)
        #expect(found[place].note.through.rawValue > checkpoint)
        found[place].note.bytes = Digest(high: 1, low: 2).sealNote
        #expect(try StateCheck(disk, notes: found).run(fromBeginning: false).count == 1)
    }
}
