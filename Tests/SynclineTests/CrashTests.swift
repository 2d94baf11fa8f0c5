// Random histories on a simulated disk, ended by kills, power failures and failing calls: what was acknowledged is
// there, everything else completely or not at all, and the state is that of the log.

import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

private typealias Rows = [String: [String: Value]]

/// One history: a store that is opened, written to, and ended, again and again.
private struct CrashPlay {
    var chance: Chance
    var disk = MemoryStorage(granularity: .sector)
    /// The rows after each acknowledged event.
    var known: [UInt64: Rows] = [0: [:]]
    var durable: UInt64 = 0
    /// The rows after a change that failed.
    var attempt: Rows?
    let seed: UInt64

    init(seed: UInt64) {
        self.seed = seed
        chance = Chance(seed: seed)
    }

    mutating func run() async throws {
        for _ in 0..<4 {
            try await session()
            try end()
        }
        disk.disarm()
        _ = try await reopened()
    }

    private mutating func session() async throws {
        let database = try await reopened()
        if chance.once(in: 2) { arm() }
        var rows = known[database.lastEvent.rawValue] ?? [:]
        if chance.once(in: 3), (try? await database.set(retention: .events(chance.below(60)))) != nil {
            known[database.lastEvent.rawValue] = rows
            durable = database.lastEvent.rawValue
        }
        for _ in 0..<chance.below(60) {
            let (next, changes) = plan(rows)
            let durability = chance.pick([Durability.durable, .ordered, .buffered])
            do {
                try await store(changes, durability, database)
                if chance.once(in: 25) { try? await database.checkpoint() }
                if chance.once(in: 25) { _ = try? await database.compact() }
            } catch {
                if database.lastEvent.rawValue == known.keys.max() { attempt = next }
                return
            }
            rows = next
            known[database.lastEvent.rawValue] = rows
            if case .durable = durability { durable = database.lastEvent.rawValue }
        }
        if chance.once(in: 4) { try? await database.close() }
    }

    /// Every call from some point on fails.
    private mutating func arm() {
        disk.arm(FaultPlan(call: 1 + chance.below(120), of: [.write, .sync, .resize, .rename], persists: true))
    }

    private mutating func end() throws {
        disk.disarm()
        let isKill = chance.once(in: 2)
        // What was written outlives the process, synced or not.
        if isKill { durable = known.keys.max() ?? 0 }
        disk = isKill ? disk.processKill() : disk.crash(using: &chance)
    }

    private mutating func reopened() async throws -> SyncDatabase {
        let database = try await SyncDatabase.open(disk, .test(memory: chance.pick([1, 300_000, 16 << 20])))
        let last = database.lastEvent.rawValue
        try #require(last >= durable, "seed \(seed): an acknowledged change is lost")
        let newest = known.keys.max() ?? 0
        let found = try await database.allRows()
        let before = known.filter { $0.key <= last }.max { $0.key < $1.key }?.value ?? [:]
        let isWhole = found == before || last > newest && found == attempt
        try #require(isWhole, "seed \(seed): event \(last) has rows that no event left")
        let image = try StateImage.check(disk, "seed \(seed)")
        try #require(image.through == last, "seed \(seed)")
        let own = try StateImage.contents(database.writer.current.reader.snapshot)
        let isSame = own == image.contents
        try #require(isSame, "seed \(seed)")
        known = [last: found]
        durable = last
        attempt = nil
        return database
    }

    private struct Change: Sendable {
        var kind: OperationKind
        var table: String
        var id: String
        var columns: [String: Value]
    }

    /// Some changes that the rows allow, and the rows after them.
    private mutating func plan(_ rows: Rows) -> (Rows, [Change]) {
        var rows = rows
        var changes: [Change] = []
        for _ in 0..<(chance.once(in: 3) ? 1 + chance.below(4) : 1) {
            let (table, id) = (chance.pick(["a", "b"]), "\(chance.below(30))")
            let size = chance.once(in: 8) ? 20_000 : chance.below(400)
            let columns: [String: Value] = [
                chance.pick(["x", "y", "z"]): .bytes((0..<size).map { _ in UInt8(truncatingIfNeeded: chance.next()) })
                    .asStored
            ]
            let key = "\(table)/\(id)"
            if let row = rows[key] {
                let isDelete = chance.once(in: 3)
                rows[key] = isDelete ? nil : row.merging(columns) { $1 }
                changes.append(Change(kind: isDelete ? .delete : .update, table: table, id: id, columns: columns))
            } else {
                rows[key] = columns
                changes.append(Change(kind: .insert, table: table, id: id, columns: columns))
            }
        }
        return (rows, changes)
    }

    private func store(_ changes: [Change], _ durability: Durability, _ database: SyncDatabase) async throws {
        try await database.transaction(durability: durability) { transaction in
            for change in changes {
                let item = Value.item(change.id, change.columns)
                switch change.kind {
                case .insert: try transaction.insert(change.table, item)
                case .update: try transaction.update(change.table, item)
                case .delete: try transaction.delete(change.table, id: change.id)
                }
            }
        }
    }
}

@Suite struct CrashTests {
    #if DEBUG
        static let seeds = UInt64(1)...40
    #else
        static let seeds = UInt64(1)...100
    #endif

    @Test func `a store that is killed or loses power keeps what it acknowledged`() async throws {
        for seed in Self.seeds {
            var play = CrashPlay(seed: seed)
            try await play.run()
        }
    }
}
