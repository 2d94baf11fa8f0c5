// A process that follows a store: it counts in a row of its own, and edits rows that all processes change.

import Foundation
import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting

@testable import Syncline

final class Widget: Sendable {
    let name: String
    let storage: ProcessStorage
    private let database: SyncDatabase
    private let ledger: Ledger

    init(_ name: String, _ storage: ProcessStorage, _ ledger: Ledger) async throws(SyncError) {
        self.name = name
        self.storage = storage
        self.ledger = ledger
        database = try await SyncDatabase.follow(storage, .process(name))
    }

    /// Counts one up, and must then see it.
    func write() {
        let (name, number) = (name, ledger.next(name))
        attempt { () throws(SyncError) in
            _ = try database.writer.performNow(.durable) { engine in
                try engine.local(TransactionHeading(isGrouped: true)) { transaction throws(SyncError) in
                    try transaction.writer.change(.update, SharedRows.table, name, SharedRows.columns(number))
                }
            }
            ledger.noteStored(name, number)
            let seen = try SharedRows.numbers(database.reader)[name] ?? 0
            if seen != number { ledger.fail("\(name) wrote \(number) and sees \(seen)") }
        }
    }

    /// Edits rows that others change, too.
    func edit(_ chance: inout Chance) {
        let mark = "\(name)-e\(ledger.next("\(name)-e"))"
        let time = 1_000_000 + ledger.next("time")
        let isGrouped = chance.once(in: 2)
        let choice = Mutex(chance)
        attempt { () throws(SyncError) in
            let edit = try database.writer.performNow(.durable) { engine throws(SyncError) -> SharedEdit? in
                let (reader, version) = (engine.reader, engine.projector.declaration?.version ?? 1)
                return try engine.local(TransactionHeading(isGrouped: isGrouped), at: time) {
                    transaction throws(SyncError) in
                    var chance = choice.withLock { $0 }
                    let edit = try transaction.writer.edit(mark, reader, version, &chance)
                    if edit == nil { transaction.refuse(SyncError(.rowDeleted, "an edit that can't be made")) }
                    return edit
                }.value
            }
            if var edit {
                edit.time = time
                ledger.note(edit)
            }
        }
        _ = chance.below(1 << 20)
    }

    /// Refreshes; nothing stored is missing then, and nothing has gone back.
    func look() {
        attempt { () throws(SyncError) in
            let reader = try database.reader
            let before = try SharedRows.numbers(reader)
            let stored = ledger.stored
            let waited = try waitsForMigration()
            try database.writer.refresh()
            let after = try SharedRows.numbers(database.reader)
            if try SharedRows.numbers(reader) != before { ledger.fail("\(name) has a snapshot that changed") }
            let waits = try waitsForMigration()
            if waited || waits { return }
            for (other, number) in before.merging(stored, uniquingKeysWith: max) where after[other] ?? 0 < number {
                ledger.fail("\(name) sees \(other) at \(after[other] ?? 0) after \(number)")
            }
            if storage.locksTaken > 0 { ledger.fail("\(name) took a lock") }
        }
    }

    /// Whether changes wait that were made before a migration which only the app knows. No other process shows them.
    private func waitsForMigration() throws(SyncError) -> Bool {
        let version = ledger.version
        for name in try Tributaries.all(storage) {
            if let file = try TributaryFile(name, in: storage), file.schema < version { return true }
        }
        return false
    }

    private func attempt(_ body: () throws(SyncError) -> Void) {
        do throws(SyncError) {
            try body()
        } catch {
            if !storage.isKilled, error.code != .rowDeleted { ledger.fail("\(name): \(error)") }
        }
    }
}

/// The table in which the processes count.
enum SharedRows {
    static let table = "rows"

    static func columns(_ number: Int64) -> Row { Row([.init("n", .integer(number))]) }

    /// The number of each process.
    static func numbers(_ reader: StateReader) throws(SyncError) -> [String: Int64] {
        var numbers: [String: Int64] = [:]
        for row in try reader.run(RowQuery(table: table)).rows {
            if case .integer(let number)? = row.columns["n"] { numbers[row.id] = number }
        }
        return numbers
    }
}

extension SyncConfiguration {
    /// The configuration of a process. Its ids are its own.
    static func process(_ name: String) -> SyncConfiguration {
        var configuration = SyncConfiguration.test()
        configuration.environment = ProcessEnvironment(name: name)
        return configuration
    }
}

private struct ProcessEnvironment: SyncEnvironment {
    let name: String
    let counted = CountedEnvironment()

    func now() -> Date { counted.now() }
    func newID() -> String { "\(name)-\(counted.newID())" }
}
