// Decides what the rows and the queue of another client become: bases, and changes on top of them. The code is pure.

import SynclineCore
import SynclineGround

/// A row of a file, without its id.
struct ForeignRow {
    var id: String
    var systemColumns: [Value.Member]
    var columns: [Value.Member]
}

struct ForeignPlan {
    /// A row's pending changes. The other client may have two operations for it: one that it had begun to send, and one
    /// that was made meanwhile.
    private struct Pending {
        var operation: FoundOperation
        /// The change and its base, once they are known.
        var change: LocalChange?
        var base: Row?
        /// The row's spelling of the id.
        var id: String
        /// Whether the change can't be imported.
        var isGivenUp = false
    }

    private let ignoresCase: Bool
    /// The local columns of each table.
    private let localColumns: [String: Set<ExactString>]
    private var pending: [Pending] = []
    private var places: [ExactString: [ExactString: Int]] = [:]
    private var known: Set<ExactString> = []
    private var counts: [String: Int] = [:]
    /// Changes that set only local columns of rows without pending changes.
    private var localChanges: [LocalChange] = []
    private(set) var left: [ForeignReport.Left]

    init(_ queue: FoundQueue, ignoresCase: Bool, localColumns: [String: Set<ExactString>] = [:]) {
        self.ignoresCase = ignoresCase
        self.localColumns = localColumns
        left = queue.left
        for operation in queue.operations { add(operation) }
    }

    private func key(_ id: String) -> ExactString { ExactString(ignoresCase ? id.lowercased() : id) }

    /// Adds an operation, or makes one of it and the earlier one of the row, at the place of that.
    private mutating func add(_ operation: FoundOperation) {
        guard let place = place(operation.table, operation.id) else {
            places[ExactString(operation.table), default: [:]][key(operation.id)] = pending.count
            pending.append(Pending(operation: operation, id: operation.id))
            return
        }
        var both = operation
        // The row has the content of both, and an insert may not have reached the server.
        if pending[place].operation.kind == .insert, operation.kind == .update { both.kind = .insert }
        pending[place].operation = both
    }

    private func place(_ table: String, _ id: String) -> Int? { places[ExactString(table)]?[key(id)] }

    // MARK: Rows

    /// Reads the values of a row, in the order of the table's columns; returns nil if it has no id.
    mutating func read(_ values: ArraySlice<Value>, of table: FoundTable, _ dates: ForeignDates) -> ForeignRow? {
        var row = ForeignRow(id: "", systemColumns: [], columns: [])
        var wrong: [String] = []
        for (column, raw) in zip(table.columns, values) {
            if column.name == "id" {
                if case .string(let id) = raw { row.id = id }
            } else if let type = column.type {
                if let value = ForeignValue.value(raw, as: type, dates) {
                    row.columns.append(.init(column.name, value))
                } else {
                    wrong.append(column.name)
                }
            } else if let value = ForeignValue.systemValue(raw, of: column.name, dates) {
                row.systemColumns.append(.init(column.name, value))
            } else {
                wrong.append(column.name)
            }
        }
        if row.id.isEmpty {
            left.add(table.storeName, nil, .noID)
            return nil
        }
        for column in wrong { left.add(table.storeName, row.id, .value(column: column)) }
        return row
    }

    /// A new table begins.
    mutating func begin(_ table: FoundTable) {
        known = []
        counts[table.storeName, default: 0] += 0
    }

    /// Takes a row; returns its base, if it has no pending changes.
    mutating func add(_ row: ForeignRow, of table: FoundTable) -> PulledRow? {
        guard known.insert(key(row.id)).inserted else {
            left.add(table.storeName, row.id, .repeatedID)
            return nil
        }
        if let place = place(table.storeName, row.id) {
            settle(place, with: row)
            return nil
        }
        // A row that the server has deleted.
        if row.systemColumns[member: "deleted"] == .bool(true) { return nil }
        guard let item = item(row.id, row.columns, table.storeName) else { return nil }
        keepLocal(item, row.id, table.storeName)
        counts[table.storeName, default: 0] += 1
        return PulledRow(id: row.id, row: base(row.systemColumns, item.columns))
    }

    /// Returns changes of local columns of the rows since the last call.
    mutating func takeLocalChanges() -> [LocalChange] {
        defer { localChanges = [] }
        return localChanges
    }

    private mutating func keepLocal(_ item: Item, _ id: String, _ table: String) {
        guard let names = localColumns[table] else { return }
        let local = item.columns.filter { names.contains($0.name) && !$0.value.isNull }
        if local.isEmpty { return }
        localChanges.append(LocalChange(kind: .update, table: table, id: id, columns: local))
    }

    /// Checks the rows and changes to be stored.
    private mutating func item(_ id: String, _ columns: [Value.Member], _ table: String) -> Item? {
        do throws(SyncError) {
            return try Item([.init("id", .string(id))] + columns)
        } catch {
            left.add(table, id, .invalid(error.message))
            return nil
        }
    }

    /// The server's row. Without `deleted`, which says nothing of a row that exists.
    private func base(_ system: [Value.Member], _ columns: Row) -> Row {
        columns.merged(with: Row(system.filter { $0.name != "deleted" && !$0.value.isNull }))
    }

    // MARK: Operations

    /// Decides an operation whose row is there.
    private mutating func settle(_ place: Int, with row: ForeignRow) {
        let operation = pending[place].operation
        // Of the content that was queued and the row's, the first is what would be sent.
        let columns = row.columns.filter { operation.item?[member: $0.name] == nil } + (operation.item ?? [])
        if operation.kind == .delete {
            settle(place, row.id, operation.item ?? row.columns, row.systemColumns)
        } else {
            settle(place, row.id, columns, row.systemColumns)
        }
    }

    /// - Parameter system: The system columns of the row, which those of the queued item and of the operation replace.
    private mutating func settle(
        _ place: Int, _ id: String, _ columns: [Value.Member], _ system: [Value.Member]
    ) {
        let operation = pending[place].operation
        pending[place].id = id
        guard let item = item(id, columns.filter { $0.name != "id" }, operation.table) else {
            pending[place].isGivenUp = true
            return
        }
        var system = Row(system)
        if operation.kind == .delete, let queued = operation.item {
            system = system.merged(with: Row(ForeignValue.systemColumns(of: queued)))
        }
        if let version = operation.version { system["version"] = version }
        var change = LocalChange(kind: operation.kind, table: operation.table, id: id)
        if operation.kind != .insert {
            let known = operation.kind == .delete ? item.columns : .empty
            pending[place].base = base(system.members, known)
            change.baseVersion = pending[place].base?.versionValue
        }
        if operation.kind != .delete {
            change.columns = item.columns
            counts[operation.table, default: 0] += 1
        }
        if operation.kind == .update, change.columns.isEmpty {
            left.add(operation.table, id, .invalid("the operation sets no column"))
            pending[place].isGivenUp = true
            return
        }
        pending[place].change = change
    }

    /// Decides the operations without a row, and returns all changes in their order, with the bases below them.
    mutating func finish() -> (bases: [(table: String, rows: [PulledRow])], changes: [LocalChange]) {
        for place in pending.indices where pending[place].change == nil && !pending[place].isGivenUp {
            let operation = pending[place].operation
            guard let item = operation.item else {
                left.add(operation.table, operation.id, .noRow)
                continue
            }
            settle(place, operation.id, item, [])
        }
        var bases: [String: [PulledRow]] = [:]
        for entry in pending {
            guard let base = entry.base else { continue }
            bases[entry.operation.table, default: []].append(PulledRow(id: entry.id, row: base))
        }
        return (bases.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }, pending.compactMap(\.change))
    }

    /// The tables with the number of rows that an app sees.
    var tables: [ForeignReport.Table] {
        counts.sorted { $0.key < $1.key }.map { ForeignReport.Table(name: $0.key, rows: $0.value) }
    }
}
