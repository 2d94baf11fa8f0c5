// The rescue of a damaged store: the result opens, shows what the damaged one showed, has every readable pending
// change, and says what is missing.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct RescueTests {
    private static let seeds = Seeds.some(100)

    // MARK: Stories

    /// A store with a server, after some time of changes on both sides.
    private func story(_ chance: inout Chance) async throws -> SyncPair {
        let pair = try await SyncPair(chance.once(in: 2) ? .datasync3 : .zumo2, rows: Value.rows(20), pageLimit: 7)
        if chance.once(in: 2) { try await pair.database.set(retention: .events(15)) }
        try await pair.pull()
        for step in 0..<(10 + chance.below(50)) {
            let id = "r\(chance.below(30))"
            let text = Value.string(String(repeating: "\(chance.below(10))", count: chance.below(4000)))
            switch chance.below(12) {
            case 0..<3: _ = try? await pair.table.insert(.item("new\(step)", ["text": text]))
            case 3..<6: _ = try? await pair.table.update(.item(id, ["text": text]))
            case 6: try? await pair.table.delete(id: id)
            case 7:
                try? await pair.database.transaction { transaction in
                    try transaction.insert("t", .item("tx\(step)", ["text": text]))
                    try transaction.update("t", .item("r1", ["n": .integer(Int64(step))]))
                }
            case 8:
                pair.server.upsert([.item(id, ["n": .integer(Int64(-step))])], in: "t")
                try await pair.push()
            case 9: try await pair.pull()
            case 10: try await pair.database.checkpoint()
            default: try await pair.database.compact()
            }
        }
        try await pair.database.close()
        return pair
    }

    private static func segments(_ storage: MemoryStorage) -> [String] {
        storage.allNames().files.filter { $0.hasSuffix(FileName.segmentSuffix) }.sorted()
    }

    /// Damages a store, and returns how.
    private func damage(_ store: MemoryStorage, _ foreign: MemoryStorage, _ chance: inout Chance) throws -> String {
        let segments = RescueTests.segments(store)
        if segments.isEmpty { return "no segment left" }
        let files =
            segments + store.allNames().files.filter { $0.hasSuffix(FileName.checkpointSuffix) || $0 == FileName.head }
        let name = chance.once(in: 4) ? files[chance.below(files.count)] : segments[chance.below(segments.count)]
        var bytes = try #require(store.contents(of: name))
        let place = chance.below(max(bytes.count, 1))
        switch chance.below(8) {
        case 0, 1:
            if bytes.isEmpty { return "nothing" }
            bytes[place] ^= UInt8(1 << chance.below(8))
            store.setContents(bytes, of: name)
            return "a bit of \(name) at \(place)"
        case 2:
            store.setContents(Array(bytes[..<place]), of: name)
            return "\(name) cut at \(place)"
        case 3:
            for index in place..<min(place + 700, bytes.count) { bytes[index] = 0 }
            store.setContents(bytes, of: name)
            return "zeros in \(name) from \(place)"
        case 4:
            try store.remove(name)
            return "\(name) missing"
        case 5:
            let (ordinal, first) = try #require(FileName.parseSegment(segments[segments.count - 1]))
            let copy = FileName.segment(
                ordinal: ordinal + 1, first: SequenceNumber(rawValue: first.rawValue + 1000))
            store.setContents(try #require(store.contents(of: segments[chance.below(segments.count)])), of: copy)
            return "\(copy) doubled"
        case 6:
            let other = segments[chance.below(segments.count)]
            let otherBytes = try #require(store.contents(of: other))
            guard let segment = segments.contains(name) ? store.contents(of: name) : nil else { fallthrough }
            store.setContents(segment, of: other)
            store.setContents(otherBytes, of: name)
            return "\(name) and \(other) swapped"
        default:
            if chance.once(in: 2) { try? store.remove(FileName.head) }
            let segment = segments[chance.below(segments.count)]
            store.setContents(
                try #require(foreign.contents(of: RescueTests.segments(foreign)[0])), of: segment)
            return "\(segment) of another log"
        }
    }

    // MARK: Checks

    private func image(_ projector: Projector) throws -> (rows: [String: [String: Value]], outbox: [CarriedRow]) {
        let state = projector.reader(of: projector.store.endCommit())
        var rows: [String: [String: Value]] = [:]
        for row in try state.run(RowQuery(table: "t")).rows { rows[row.id] = row.columns.dictionary }
        return (rows, try state.carriedRows(through: .max))
    }

    /// The columns set last by the readable changes of a row; nil if the last of them deletes it.
    private func expected(_ row: CarriedRow, _ isThere: (UInt64) -> Bool) -> Row? {
        var columns = Row.empty
        var isDeleted = false
        for change in row.changes where isThere(change.position.event) {
            isDeleted = change.kind == .delete
            columns = change.kind == .update ? columns.merged(with: change.columns) : change.columns
        }
        return isDeleted ? nil : columns
    }

    private func check(
        _ pair: SyncPair, _ original: MemoryStorage, _ damaged: MemoryStorage, _ comment: Comment
    ) async throws -> Rescue? {
        let before = try? image(StateLoader(damaged).load())
        let whole = try image(StateLoader(original).load())
        let reading = try SalvageReading(damaged)
        // If nothing else is left, the segments of another log are taken for the store's.
        if try reading.identity.seed != LogReader.open(original, showing: .written).identity.seed { return nil }
        let checkpoints = try CheckpointFile.true(damaged, reading.identity)
        let fresh = MemoryStorage()
        guard let rescue = try Rescue.run(from: damaged, to: fresh, now: 0) else {
            #expect(reading.whole.isEmpty, comment)
            return nil
        }
        // It is intact, and its reports about itself are true.
        let report = try LogVerification(fresh).run()
        #expect(report.damage == [], comment)
        let notes = report.segments.compactMap { segment in segment.note.map { (note: $0, file: segment.name) } }
        #expect(try StateCheck(fresh, notes: notes).run(fromBeginning: true) == [], comment)
        // It shows what was shown before.
        let database = try await pair.open(fresh)
        let after = try image(StateLoader(fresh).load())
        if let before {
            #expect(rescue.leftOut.isEmpty, comment)
            // Compared before `#expect`: a difference would be printed completely.
            let isSame = (after.rows == before.rows, after.outbox == before.outbox)
            #expect(isSame.0 && isSame.1, "rows \(isSame.0), outbox \(isSame.1) \(comment)")
        }
        // Every readable pending change is pending.
        let known = checkpoints.last ?? 0
        let isThere = { number in number <= known || reading.whole.contains { $0.contains(.init(rawValue: number)) } }
        for row in whole.outbox where row.changes.contains(where: { isThere($0.position.event) }) {
            let found = after.outbox.first { $0.id == row.id }
            guard let columns = expected(row, isThere) else {
                let isDeleted = found.flatMap { expected($0) { _ in true } } == nil
                #expect(isDeleted, "\(row.id) \(comment)")
                continue
            }
            let pending = found.flatMap { expected($0) { _ in true } }
            let isKept = columns.members.allSatisfy { pending?[$0.name] == $0.value }
            #expect(isKept, "\(row.id) \(comment)")
        }
        if after.rows != whole.rows || after.outbox != whole.outbox {
            let isTold = !rescue.lost.isEmpty || !rescue.leftOut.isEmpty
            // A log that is cut where a frame ends looks intact without HEAD.
            if damaged.contents(of: FileName.head) == original.contents(of: FileName.head) { #expect(isTold, comment) }
        }
        // Read again, it has the server's rows, with the pending changes.
        let outbox = try image(StateLoader(fresh).load()).outbox.map(\.id)
        let resync = try await database.resync(["t"])
        #expect(resync.reason == nil, comment)
        let pending = try await Set(database.pending().map(\.id))
        // A row that both sides deleted is no longer pending.
        #expect(pending.isSubset(of: outbox), comment)
        let agrees = try await pair.agrees(database, butFor: Set(outbox))
        #expect(agrees, comment)
        try await database.close()
        return rescue
    }

    @Test(arguments: RescueTests.seeds)
    func `a damaged store is rescued with all that can be read of it`(seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let pair = try await story(&chance)
        let foreign = try await story(&chance)
        let original = pair.disk.copy()
        let damaged = original.copy()
        var comment = try damage(damaged, foreign.disk.copy(), &chance)
        // In a third of the stories, up to three more places are damaged.
        let more = chance.once(in: 3) ? 1 + chance.below(3) : 0
        for _ in 0..<more { comment += ", " + (try damage(damaged, foreign.disk.copy(), &chance)) }
        do {
            _ = try await check(pair, original, damaged, "seed \(seed): \(comment)")
        } catch let error as LogError {
            // Nothing is left that can be recognised.
            let isLost = error.code == .storeCorrupt && error.message.contains("no record can be recognised")
            #expect(isLost, "seed \(seed): \(comment): \(error)")
        }
    }

    @Test(arguments: 0..<20)
    func `a store without HEAD and segment headers is rescued by its frames`(seed: UInt64) async throws {
        var chance = Chance(seed: 2000 + seed)
        let pair = try await story(&chance)
        let original = pair.disk.copy()
        let damaged = original.copy()
        try damaged.remove(FileName.head)
        for name in RescueTests.segments(damaged) {
            var bytes = try #require(damaged.contents(of: name))
            for index in bytes.indices.prefix(512) { bytes[index] = 0 }
            damaged.setContents(bytes, of: name)
        }
        // Without the history before it, a checkpoint has what no event has.
        if chance.once(in: 2), try LogReader.open(original, showing: .written).floor == .first {
            for through in try Checkpoint.list(damaged) { try damaged.remove(FileName.checkpoint(through: through)) }
        }
        let reading = try SalvageReading(damaged)
        #expect(try reading.identity.seed == LogReader.open(original, showing: .written).identity.seed)
        #expect(try reading.whole == SalvageReading(original).whole)
        _ = try #require(try await check(pair, original, damaged, "seed \(seed)"))
        await #expect(throws: SyncError.self) { try await pair.open(damaged) }
    }

    @Test(arguments: 0..<20)
    func `a store that is whole is copied with its history`(seed: UInt64) async throws {
        var chance = Chance(seed: 1000 + seed)
        let pair = try await story(&chance)
        let original = pair.disk.copy()
        let rescue = try #require(try await check(pair, original, original.copy(), "seed \(seed)"))
        #expect(rescue.lost == [] && rescue.leftOut == [])
        #expect(try rescue.first == LogReader.open(original, showing: .written).floor.rawValue)
    }

    @Test func `a store with mostly unusable events is still a store`() async throws {
        let damaged = MemoryStorage()
        let log = try LogWriter.create(damaged, first: SequenceNumber(rawValue: 50))
        // Without a checkpoint, and with the beginning lost: ten answers to unknown operations, and an insert.
        for number in 0..<10 {
            let answer = Answer(
                table: "t", id: "r\(number)", operationID: "o\(number)", status: 200,
                outcome: .done(PulledRow(id: "r\(number)", row: nil)), message: nil)
            try log.append(RecordBatch(Event(time: 0, .answered(answer)).bytes), durability: .buffered)
        }
        let insert = LocalChange(kind: .insert, table: "t", id: "new", columns: Row([.init("n", .integer(1))]))
        try log.append(RecordBatch(Event(time: 0, .local(LocalTransaction([insert], isGrouped: false))).bytes))
        try log.close()
        let fresh = MemoryStorage()
        let rescue = try #require(try Rescue.run(from: damaged, to: fresh, now: 0))
        #expect(rescue.leftOut == Array(50..<60) && rescue.lost.first?.description == "@1..49")
        #expect(try image(StateLoader(fresh).load()).outbox.map(\.id) == ["new"])
    }

    @Test func `settings that nothing readable names are the app's`() async throws {
        let pair = try await SyncPair(.datasync3, rows: Value.rows(9))
        try await pair.pull()
        try await pair.database.compact()
        try await pair.table.insert(.item("new", ["n": 1]))
        try await pair.database.close()
        let damaged = pair.disk.copy()
        let segments = RescueTests.segments(damaged)
        try #require(segments.count == 2)
        try damaged.remove(segments[0])
        for through in try Checkpoint.list(damaged) { try damaged.remove(FileName.checkpoint(through: through)) }
        let fresh = MemoryStorage()
        #expect(try #require(try Rescue.run(from: damaged, to: fresh, now: 0)).settingsAreLost)
        let database = try await pair.open(fresh)
        #expect(try await database.setting("protocol") == "datasync3")
        #expect(try await database.setting("device") != nil)
        #expect(try await database.resync(["t"]).reason == nil)
        #expect(try await database.pull("t", PullSettings()).reason == nil)
        #expect(try await pair.agrees(database, butFor: ["new"]))
    }

    @Test func `a resync reads each query again and leaves pending changes`() async throws {
        let pair = try await SyncPair(rows: Value.rows(9))
        try await pair.pull { ($0.queryID, $0.filter) = ("ne", try? FilterExpression(parsing: "n ne 5 and n lt 7")) }
        try await pair.pull { ($0.queryID, $0.filter) = ("high", try? FilterExpression(parsing: "n ge 7")) }
        try await pair.table.update(.item("r1", ["n": 100]))
        pair.server.remove(["r2"], from: "t")
        pair.server.upsert([.item("r3", ["n": 3, "text": "new"])], in: "t")
        let report = try await pair.database.resync()
        #expect(report.reason == nil && report.pulls.map(\.queryID) == ["high", "ne"])
        #expect(try await pair.database.pending().map(\.id) == ["r1"])
        #expect(try await pair.agrees(pair.database, butFor: ["r1", "r5"]))
        // What stops in the middle is continued by the next pull.
        #expect(try await pair.database.cursors().allSatisfy { $0.state.query.contains("n") })
    }
}
