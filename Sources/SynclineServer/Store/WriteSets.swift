// What a transaction of many writes reads and stores in sets: one statement finds the rows or operations of all of them,
// and another one stores what was decided. Decisions see each row as if the writes before had been stored at once.

import SynclineGround
import SynclineTables
import SynclineWire

/// The answer of a look: there may be nothing.
struct Looked<Value> {
    var value: Value?
}

final class WriteSets {
    /// A row that was looked up, as it is now.
    private struct Known {
        var row: TableRow?
        /// Its place among the rows that a round of storing inserts or updates.
        var round = -1
        var place = 0
        var isNew = false
    }

    /// The rows of a table.
    private struct Rows {
        var known: [ExactString: Known] = [:]
        /// Those to be stored, one for each id.
        private(set) var new: [WrittenRow] = []
        private(set) var changed: [WrittenRow] = []
        private(set) var removed: [RemovedRow] = []
        private var round = 0

        mutating func put(_ written: WrittenRow, isNew: Bool) {
            let id = ExactString(written.row.id)
            var entry = known[id] ?? Known()
            if entry.round != round {
                (entry.round, entry.isNew, entry.place) = (round, isNew, isNew ? new.count : changed.count)
                if isNew { new.append(written) } else { changed.append(written) }
            } else if entry.isNew {
                new[entry.place] = written
            } else {
                changed[entry.place] = written
            }
            entry.row = written.row
            known[id] = entry
        }

        /// Whether a row is to be stored.
        func isPending(_ id: String) -> Bool { known[ExactString(id)]?.round == round }

        mutating func remove(_ row: RemovedRow) {
            removed.append(row)
            known[ExactString(row.id)] = Known()
        }

        mutating func stored() {
            (new, changed, removed) = ([], [], [])
            round += 1
        }
    }

    private struct Key: Hashable {
        let caller, id: ExactString

        init(_ caller: String, _ id: String) { (self.caller, self.id) = (ExactString(caller), ExactString(id)) }
    }

    private let connection: any SQLConnection
    /// The sizes of the rows that were found, by their tables and ids.
    private var found: [String: [ExactString: Int]] = [:]
    private var tables: [String: Rows] = [:]
    private var receipts: [Key: Looked<Receipt>] = [:]
    private var pendingReceipts: [(key: OperationKey, time: Int64, receipt: Receipt)] = []
    /// The bytes of rows that are not stored yet.
    private var pendingBytes = 0
    /// More is stored at once, and more rows are not looked up together.
    private static let bytesLimit = 4 << 20

    init(_ connection: any SQLConnection) { self.connection = connection }

    // MARK: Looking up

    /// Finds the rows of writes, table by table in the order of ids.
    /// - Parameter locks: Whether those that exist are locked, and their edges, so that two batches do not wait for each
    ///   other.
    func find(_ writes: [TableWrite], _ store: SQLStore, locks: Bool) throws(StoreFailure) {
        var ids: [String: [String]] = [:]
        for write in writes {
            let id = ExactString(write.id)
            let isFirst = tables[write.table, default: Rows()].known.updateValue(Known(), forKey: id) == nil
            if isFirst { ids[write.table, default: []].append(write.id) }
        }
        for (table, ids) in ids.sorted(by: { $0.key < $1.key }) {
            guard let statements = store.currentCatalogue.tables[table] else {
                tables[table] = nil
                continue
            }
            let possible = ids.filter { statements.schema.mayHave(id: $0) }
            // Rules and triggers of others decide about each row.
            guard statements.schema.isOwn else {
                tables[table] = nil
                if locks { try store.lock(possible, table, statements, connection) }
                continue
            }
            try connection.later(statements.find(possible, locks: locks)) { [self] row in
                let id = ExactString(row.value(0).text)
                tables[table]?.known[id] = nil
                found[table, default: [:]][id] = Int(row.value(1).integer)
            }
            guard locks, store.hasEdges(table) else { continue }
            try connection.flush()
            _ = try store.lockEdges(of: found[table, default: [:]].keys.map(\.text), table, connection)
        }
    }

    /// Reads the rows that were found, as long as they are not too large together.
    func read(_ writes: [TableWrite], _ catalogue: StoreCatalogue) throws(StoreFailure) {
        try connection.flush()
        var wanted: [String: [String]] = [:]
        var room = WriteSets.bytesLimit
        for write in writes where !found.isEmpty {
            guard let size = found[write.table]?.removeValue(forKey: ExactString(write.id)) else { continue }
            room -= size
            if room < 0 { break }
            wanted[write.table, default: []].append(write.id)
        }
        for (table, ids) in wanted.sorted(by: { $0.key < $1.key }) {
            guard let statements = catalogue.tables[table] else { continue }
            try connection.forEachRow(of: statements.set(of: ids)) { values in
                let row = statements.row(values)
                tables[table]?.known[ExactString(row.id)] = Known(row: row)
            }
        }
    }

    /// Reads the operations that were carried out before.
    func readReceipts(_ writes: [TableWrite]) throws(StoreFailure) {
        let keys = writes.compactMap(\.operation)
        if keys.isEmpty { return }
        for key in keys { receipts[Key(key.caller, key.id)] = Looked() }
        try connection.later(StateSQL.operations(keys)) { [self] row in
            let key = Key(row.value(0).text, row.value(1).text)
            let text = row.value(4)
            // A large one is read if it is needed.
            receipts[key] = nil
            if text != .null {
                let receipt = Receipt(table: row.value(2).text, kind: row.value(3).text, row: text.text)
                receipts[key] = Looked(value: receipt)
            }
        }
    }

    // MARK: The writes so far

    /// Whether the rows of a table are stored in sets.
    func has(_ table: String) -> Bool { tables[table] != nil }

    /// What is known of a row; nil if it was not looked up.
    func row(_ id: String, of table: String) -> Looked<TableRow>? {
        tables[table]?.known[ExactString(id)].map { Looked(value: $0.row) }
    }

    func receipt(_ key: OperationKey) -> Looked<Receipt>? { receipts[Key(key.caller, key.id)] }

    /// Notes what the next `store` inserts or updates.
    func put(_ row: TableRow, _ change: Int64, in table: String, isNew: Bool, _ catalogue: StoreCatalogue)
        throws(StoreFailure)
    {
        tables[table]?.put(WrittenRow(row: row, change: change), isNew: isNew)
        pendingBytes += row.size
        if pendingBytes > WriteSets.bytesLimit { try store(catalogue) }
    }

    /// Notes what the next `store` removes.
    func remove(_ row: RemovedRow, from table: String, _ catalogue: StoreCatalogue) throws(StoreFailure) {
        if tables[table]?.isPending(row.id) == true { try store(catalogue) }
        tables[table]?.remove(row)
        pendingBytes += row.id.utf8.count
    }

    /// Notes that a row was changed by another statement.
    func forget(_ id: String, of table: String) { tables[table]?.known[ExactString(id)] = nil }

    /// Notes that a table has got columns.
    func forgetRows(of table: String) {
        guard let known = tables[table]?.known else { return }
        tables[table]?.known = known.filter { $0.value.row == nil }
    }

    func remember(_ key: OperationKey, _ receipt: Receipt, time: Int64) {
        receipts[Key(key.caller, key.id)] = Looked(value: receipt)
        pendingReceipts.append((key, time, receipt))
    }

    /// Notes that an operation was remembered by another statement.
    func forget(_ key: OperationKey) { receipts[Key(key.caller, key.id)] = nil }

    // MARK: Storing

    /// Stores the rows that were written so far.
    func store(_ catalogue: StoreCatalogue) throws(StoreFailure) {
        if pendingBytes == 0 { return }
        pendingBytes = 0
        for (table, rows) in tables.sorted(by: { $0.key < $1.key }) {
            guard let statements = catalogue.tables[table] else { continue }
            tables[table]?.stored()
            // A row that was removed may be new again.
            try change(rows.removed) { statements.remove($0) }
            if !rows.removed.isEmpty {
                try connection.later(StateSQL.insertTombstones(of: rows.removed[...], in: table, .postgres))
            }
            // Two batches that insert the same rows must not wait for each other.
            let new = rows.new.sorted { ExactString($0.row.id) < ExactString($1.row.id) }
            try change(new) { statements.insert($0) }
            try change(rows.changed) { statements.update($0) }
        }
    }

    private func change<Element>(_ rows: [Element], _ statement: ([Element]) -> SQLStatement) throws(StoreFailure) {
        // Another transaction has inserted one meanwhile. A trigger may skip one again and again: in the end, they are
        // written one by one.
        if !rows.isEmpty { try connection.later(statement(rows), changes: rows.count) }
    }

    /// Stores the operations that were carried out so far.
    func storeReceipts() throws(StoreFailure) {
        if pendingReceipts.isEmpty { return }
        let receipts = pendingReceipts
        pendingReceipts = []
        try connection.later(StateSQL.remember(receipts))
    }
}
