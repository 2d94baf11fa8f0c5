// A scan of a table of the store: it chooses the source of its rows by a plan and its values.

import CSQLite
import SynclineCore

final class StoreScan: TableScan {
    private let table: StoreTable
    private let columns: ScanColumns
    /// The rows that are looked up. A join begins with others again and again.
    private var found: FoundRows?
    /// How often rows with one value were asked for without an index.
    private var asked = 0

    init(_ table: StoreTable) {
        self.table = table
        columns = ScanColumns(table.stored, table.types)
        super.init(table)
    }

    override func begin(_ plan: ScanPlan, _ values: [OpaquePointer]) throws(SyncError) -> ScanRows {
        let isText = values.first.map { sqlite3_value_type($0) == SQLITE_TEXT } ?? false
        if plan.findsOneID, isText {
            let found = try lookup()
            try found.begin(id: values[0])
            return found
        }
        guard let lists = try operands(values, plan) else { return try all(byID: plan.isOrdered) }
        switch plan.access {
        case .all: return try all(byID: plan.isOrdered)
        case .id: return try rows(ids: lists, byID: plan.isOrdered)
        case .idRange(let ends): return try rows(ends.of(lists[0]), byID: plan.isOrdered)
        case .index(let part): return try rows(part, lists)
        case .made(let column): return try made(column, lists.map { $0[0] }, byID: false)
        }
    }

    /// A longer list is not looked up: all rows are read, and SQLite looks for their values in the list.
    private static let listLimit = 10_000

    /// The values, once for each value of the list among them; nil if that is too long.
    private func operands(_ values: [OpaquePointer], _ plan: ScanPlan) throws(SyncError) -> [[Operand]]? {
        func affinity(_ place: Int) -> Affinity { table.affinity(plan.column(ofValue: place)) }
        guard let list = plan.list else { return [values.indices.map { Operand(values[$0], affinity($0)) }] }
        guard let choices = try Operand.list(values[list], affinity(list), limit: StoreScan.listLimit) else {
            return nil
        }
        var operands = values.indices.map { $0 == list ? .null : Operand(values[$0], affinity($0)) }
        return choices.map { choice in
            operands[list] = choice
            return operands
        }
    }

    // MARK: Sources

    private func all(from id: String? = nil, through end: String? = nil, byID: Bool) throws(SyncError) -> ScanRows {
        // The end can be seen only in the order of ids.
        let cursor = try RowCursor(table.reader, table: table.name, from: id, byID: byID || end != nil)
        return TableRows(columns, cursor, through: end)
    }

    private func rows(_ ends: (lower: Operand?, upper: Operand?), byID: Bool) throws(SyncError) -> ScanRows {
        // An id is a string, which is less than all bytes. It is greater than every number, unless SQL compares it as a
        // number.
        var (first, last): (String?, String?)
        switch ends.lower {
        case .null, .blob: return StoreRows(columns)
        case .text(let id): first = id
        case .number, .brokenText, nil: break
        }
        switch ends.upper {
        case .null: return StoreRows(columns)
        case .text(let id): last = id
        case .number, .blob, .brokenText, nil: break
        }
        return try all(from: first, through: last, byID: byID)
    }

    override func begin(id: OpaquePointer) throws(SyncError) -> Bool {
        guard let found else { return true }
        try found.begin(id: id)
        return found.isAtEnd
    }

    private func rows(ids: [[Operand]], byID: Bool) throws(SyncError) -> ScanRows {
        var keys = RowKeys(table: table.name)
        for value in ids.lazy.map({ $0[0] }) {
            switch value {
            case .text(let id): keys.append(key: RowKey.bytes(table.name, id, try table.reader.idComparison))
            // An id that looks like a number equals it if SQL compares both as numbers.
            case .number: return try made(0, ids.map { $0[0] }, byID: byID)
            case .null, .blob, .brokenText: break
            }
        }
        return try found(&keys, areKnown: false)
    }

    /// An index that is made pays from the second time on. It finds ids that look like numbers, and keys, in their order.
    private func made(_ column: Int, _ values: [Operand], byID: Bool) throws(SyncError) -> ScanRows {
        asked += 1
        guard asked > 1, let index = try table.index(on: column) else { return try all(byID: byID) }
        var keys = RowKeys(table: table.name)
        for value in values { index.addKeys(of: value, to: &keys) }
        return try found(&keys, areKnown: true)
    }

    private func rows(_ part: IndexPart, _ values: [[Operand]]) throws(SyncError) -> ScanRows {
        if part.choice.isCovering, table.keepsValues(part) {
            return try IncludedRows(columns, try table.cursor(part, values))
        }
        if part.choice.isCovering || part.choice.isOrdered {
            let lookup = try RowLookup(table.reader, table: table.name)
            let cursor = try table.cursor(part, values)
            return part.choice.isCovering
                ? try EntryRows(columns, cursor, lookup, sortedBy: part.columns)
                : try OrderedRows(columns, cursor, lookup, table: table.name)
        }
        if let keys = try table.keys(part, values) {
            let found = try lookup()
            try found.begin(keys, areKnown: true)
            return found
        }
        return part.choice.equal > 0
            ? try made(part.columns[0], values.map { $0[0] }, byID: false) : try all(byID: false)
    }

    private func found(_ keys: inout RowKeys, areKnown: Bool) throws(SyncError) -> ScanRows {
        keys.sort()
        let found = try lookup()
        try found.begin(keys, areKnown: areKnown)
        return found
    }

    private func lookup() throws(SyncError) -> FoundRows {
        if let found { return found }
        let made = FoundRows(columns, try RowLookup(table.reader, table: table.name))
        found = made
        return made
    }
}
