// What a compaction removes, and what it must keep: history below a checkpoint that does not match the events,
// unconfirmed changes, and what a reader has begun to read.

import Dispatch
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct CompactionTests {
    private func write(_ database: SyncDatabase, _ count: Int) async throws {
        var chance = Chance(seed: database.lastEvent.rawValue)
        for number in 0..<count {
            let text = Value.bytes((0..<2000).map { _ in UInt8(truncatingIfNeeded: chance.next()) })
            let row = Row([.init("text", text), .init("n", .integer(Int64(number)))])
            try await database.pull(
                PulledPage(
                    table: "t", queryID: nil, rows: [PulledRow(id: "r\(number % 30)", row: row)], cursor: nil))
        }
    }

    private func notes(_ storage: any LogStorage) throws -> [(note: LogNote, file: String)] {
        try LogVerification(storage).run().segments.compactMap { segment in
            segment.note.map { ($0, segment.name) }
        }
    }

    // MARK: Forged checkpoints

    /// Writes a checkpoint again with another value for one row, with all checksums and the digest unchanged.
    private func forge(_ disk: MemoryStorage, _ through: UInt64) throws {
        var configuration = LogConfiguration()
        configuration.syncsWhenIdle = false
        let log = try LogWriter.open(disk, creating: .never, configuration: configuration)
        let number = SequenceNumber(rawValue: through)
        let projector = try CheckpointFile.open(disk, number, log.identity, removesDamaged: false)
        var note = try CheckpointFile.Note(reading: Checkpoint.open(disk, through: number, identity: log.identity).note)
        var contents = try StateImage.contents(projector.store.snapshot)
        let key = RowKey.bytes("t", "r7", .exact)
        var entry = try #require(contents[key])
        entry[entry.count - 1] ^= 1
        contents[key] = entry
        let store = StateStore()
        for (key, value) in contents {
            key.withUnsafeBytes { key in value.withUnsafeBytes { store.put(key, $0, old: nil) } }
        }
        store.rotate()
        var writer = try CheckpointWriter.begin(for: log, through: number)
        let root = try RunWriter.write(try store.layers.cursorOverRuns(0)) { block throws(SyncError) in
            try CheckpointBlocks.append(block, to: &writer)
        }
        note.runs = [(through, root)]
        try writer.finish(note: note.bytes, keeping: [number])
        try log.close()
    }

    private func forgedStore(_ retention: Retention) async throws -> (disk: MemoryStorage, checkpoint: UInt64) {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        try await database.set(retention: retention)
        try await write(database, 80)
        let checkpoint = try await database.compact().checkpoint.rawValue
        try await write(database, 40)
        try await database.close()
        #expect(try StateCheck(disk, notes: notes(disk)).run(fromBeginning: true).isEmpty)
        try forge(disk, checkpoint)
        return (disk, checkpoint)
    }

    @Test func `a checkpoint whose value differs from that of the events is named`() async throws {
        let (disk, checkpoint) = try await forgedStore(.everything)
        #expect(try LogVerification(disk).run().isHealthy)
        for fromBeginning in [false, true] {
            let found = try StateCheck(disk, notes: notes(disk)).run(fromBeginning: fromBeginning)
            #expect(found.map(\.event) == [checkpoint], "fromBeginning: \(fromBeginning)")
        }
    }

    @Test func `no history goes below a checkpoint that holds another value`() async throws {
        let (disk, _) = try await forgedStore(.events(20))
        let database = try await SyncDatabase.open(disk, .test())
        let error = await #expect(throws: SyncError.self) { try await database.compact() }
        #expect(error?.code == .storeCorrupt && error?.hint?.contains("repair") == true)
        #expect(try LogReader.open(disk, showing: .written).floor == .first)
        try await database.close()

    }

    // MARK: Unconfirmed changes

    @Test func `an operation that can't be pushed does not keep the history`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        try await database.set(retention: .events(60))
        try await database.rows(of: "t").insert(.item("stuck", ["n": .integer(1)]))
        try await database.rows(of: "t").update(.item("stuck", ["n": .integer(2)]))
        try await database.transaction { transaction in
            try transaction.insert("t", .item("other", ["n": .integer(3)]))
            try transaction.insert("t", .item("another", ["n": .integer(4)]))
        }
        let pending = try await database.pending()
        for _ in 0..<6 {
            try await write(database, 70)
            try await database.compact()
        }
        let first = try await database.compact().firstEvent
        #expect(first.distance(to: database.lastEvent) < 60 + 2 * 70 + 40)
        #expect(try await database.pending() == pending)
        try await database.close()
        _ = try StateImage.check(disk, "carried")
        #expect(try StateCheck(disk, notes: notes(disk)).run(fromBeginning: true).isEmpty)
        let again = try await SyncDatabase.open(disk, .test())
        #expect(try await again.pending() == pending)
        // Undone as if the events were there.
        try await again.undo()
        #expect(try await again.rows(of: "t").get(id: "other") == nil)
        try await again.undo()
        #expect(try await again.rows(of: "t").get(id: "stuck")?.columns["n"] == .integer(1))
    }

    // MARK: Purges

    @Test func `purged data is in no file after a compaction that keeps one event`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        try await database.set(retention: .events(1))
        let secret = "planted-7f3a-secret"
        for number in 0..<40 {
            try await database.rows(of: "t").insert(
                .item(
                    "\(number)", ["text": .string("\(secret) \(number) \(String(repeating: "x\(number)", count: 30))")])
            )
        }
        try await database.checkpoint()
        try await database.rows(of: "t").update(.item("7", ["text": .string("\(secret) again")]))
        #expect(try holds(disk, secret))
        try await database.purge(table: "t", force: true)
        try await database.compact()
        #expect(try !holds(disk, secret))
        try await database.close()
        #expect(try !holds(disk, secret))
    }

    /// Whether a string is in a file of a store, plain or compressed.
    private func holds(_ disk: MemoryStorage, _ text: String) throws -> Bool {
        let wanted = Array(text.utf8)
        func has(_ bytes: [UInt8]) -> Bool {
            bytes.indices.contains { bytes[$0...].starts(with: wanted) }
        }
        for name in try disk.names(in: "") {
            if let bytes = disk.contents(of: name), has(bytes) { return true }
        }
        var found = false
        try EventWalk(disk).forEachRecord(from: 1) { _, record in
            found = found || has([UInt8](record))
            return true
        }
        let identity = try LogReader.open(disk, showing: .written).identity
        for through in try Checkpoint.list(disk) {
            let file = try Checkpoint.open(disk, through: through, identity: identity)
            for address in try file.blocks() where has(try file.block(at: address)) { found = true }
        }
        return found
    }

    // MARK: Readers

    @Test func `a reader is not disturbed by a writer that compacts at each of its steps`() async throws {
        let disk = MemoryStorage(granularity: .sector)
        let database = try await SyncDatabase.open(disk, .test())
        try await database.set(retention: .events(1))
        try await write(database, 200)
        let stepped = SteppedStorage(disk, limit: 100) {
            try await self.write(database, 1)
            try await database.compact()
        }
        let (mismatches, first, through) = try await onAnotherThread {
            stepped.isOn = true
            return try HistoryReading.run(stepped) {
                // What is there at this point: the log grows faster than it is read.
                let (notes, last) = (try self.notes(disk), try EventWalk(disk).last)
                let found = try StateCheck(stepped, notes: notes).fold(through: last, fromBeginning: true)
                return (found.mismatches, found.from, try StateLoader(stepped).load(through: last).through)
            }
        }
        #expect(mismatches.isEmpty && through > 200 && through > first)
        #expect(stepped.steps == 100)
        stepped.isOn = false
        #expect(try await database.compact().firstEvent > 200)
    }

    private func onAnotherThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue(label: "reader").async { continuation.resume(with: Result { try body() }) }
        }
    }
}
