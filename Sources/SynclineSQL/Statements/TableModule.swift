// The functions that SQLite calls to read tables while it prepares and runs a statement. They run on the thread of the
// statement. SQLite is told of an error by a number only, so the connection keeps the error.

import CSQLite
import SynclineCore
import SynclineGround

/// A name that statements may use for a table. SQLite passes it to `tableConnect`.
final class OfferedTable {
    let name: String
    private unowned let database: EmptyDatabase
    /// Whether a statement used it.
    var isUsed = false

    init(_ name: String, _ database: EmptyDatabase) {
        self.name = name
        self.database = database
    }

    /// The statement that uses it.
    fileprivate func statement() throws(SyncError) -> StatementConnection {
        guard let statement = database.statement else {
            throw SyncError(.internalError, "SQLite reads a table without a statement")
        }
        return statement
    }
}

/// A table in the memory layout that SQLite expects: SQLite's own part is first.
private struct OpenTable {
    var base = sqlite3_vtab()
    let offered: Unmanaged<OfferedTable>
    let table: Unmanaged<VirtualTable>
}

/// A scan in the same layout.
private struct OpenScan {
    var base = sqlite3_vtab_cursor()
    let offered: Unmanaged<OfferedTable>
    let table: Unmanaged<VirtualTable>
    let scan: Unmanaged<TableScan>
    /// The rows since it began last.
    var rows: Unmanaged<ScanRows>?
    /// Whether there is no current row.
    var isAtEnd = true
    /// The number of the plan with which it began last, if that finds one row by its id.
    var idPlan: Int32?
}

enum TableModule {
    /// The functions. There is none that creates tables, so the name of the module is a table itself; and none that
    /// writes, so it can only be read.
    static var functions: sqlite3_module {
        var module = sqlite3_module()
        module.xConnect = tableConnect
        module.xBestIndex = tableBestIndex
        module.xDisconnect = tableDisconnect
        module.xOpen = scanOpen
        module.xClose = scanClose
        module.xFilter = scanFilter
        module.xNext = scanNext
        module.xEof = scanIsAtEnd
        module.xColumn = scanColumn
        module.xRowid = scanNumber
        return module
    }
}

extension OfferedTable {
    /// Runs a body. Its error ends the statement.
    fileprivate func guarding(_ body: () throws(SyncError) -> Void) -> Int32 {
        do throws(SyncError) {
            try body()
            return SQLITE_OK
        } catch {
            if let statement = database.statement { statement.failure = statement.failure ?? error }
            return SQLITE_ERROR
        }
    }
}

private nonisolated func tableConnect(
    _ database: OpaquePointer?, _ data: UnsafeMutableRawPointer?, _ count: Int32,
    _ arguments: UnsafePointer<UnsafePointer<CChar>?>?,
    _ result: UnsafeMutablePointer<UnsafeMutablePointer<sqlite3_vtab>?>?,
    _ message: UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>?
) -> Int32 {
    guard let data, let result else { return SQLITE_MISUSE }
    let offered = Unmanaged<OfferedTable>.fromOpaque(data)
    return offered.takeUnretainedValue().guarding { () throws(SyncError) in
        let owner = offered.takeUnretainedValue()
        owner.isUsed = true
        let table = try owner.statement().table(owner.name)
        guard sqlite3_declare_vtab(database, table.declaration) == SQLITE_OK else {
            throw SyncError(
                .invalidQuery, "SQL can't read the table \(owner.name): \(String(cString: sqlite3_errmsg(database)))",
                hint: "A table in SQL has at most 2000 columns.")
        }
        let memory = UnsafeMutablePointer<OpenTable>.allocate(capacity: 1)
        memory.initialize(to: OpenTable(offered: offered, table: .passRetained(table)))
        result.pointee = UnsafeMutableRawPointer(memory).assumingMemoryBound(to: sqlite3_vtab.self)
    }
}

private nonisolated func tableDisconnect(_ table: UnsafeMutablePointer<sqlite3_vtab>?) -> Int32 {
    guard let table else { return SQLITE_OK }
    let memory = UnsafeMutableRawPointer(table).assumingMemoryBound(to: OpenTable.self)
    memory.pointee.table.release()
    memory.deallocate()
    return SQLITE_OK
}

private nonisolated func tableBestIndex(
    _ table: UnsafeMutablePointer<sqlite3_vtab>?, _ info: UnsafeMutablePointer<sqlite3_index_info>?
) -> Int32 {
    guard let table, let info else { return SQLITE_MISUSE }
    let open = UnsafeMutableRawPointer(table).assumingMemoryBound(to: OpenTable.self).pointee
    return open.offered.takeUnretainedValue().guarding { () throws(SyncError) in
        let virtual = open.table.takeUnretainedValue()
        let plan = try virtual.plan(PlanRequest(info, ignoresCase: virtual.ignoresCase))
        info.pointee.idxNum = Int32(virtual.plans.count)
        virtual.plans.append(plan)
        for (index, place) in plan.used.enumerated() {
            info.pointee.aConstraintUsage[place].argvIndex = Int32(index + 1)
            if index == plan.list { sqlite3_vtab_in(info, Int32(place), 1) }
        }
        info.pointee.estimatedCost = plan.cost
        info.pointee.estimatedRows = Int64(max(1, plan.rows))
        info.pointee.orderByConsumed = plan.isOrdered ? 1 : 0
        info.pointee.idxStr = syncline_sqlite_text(plan.text(virtual.columns))
        info.pointee.needToFreeIdxStr = 1
    }
}

extension PlanRequest {
    /// SQLite gives the list of a later condition one value after another. It then compares each with the rows without
    /// regard to its type, and misses some.
    private static let limit = 32

    fileprivate init(_ info: UnsafeMutablePointer<sqlite3_index_info>, ignoresCase: (Int) -> Bool) {
        let offered = (0..<Int(info.pointee.nConstraint)).map { info.pointee.aConstraint[$0] }
        let windows = [SQLITE_INDEX_CONSTRAINT_LIMIT, SQLITE_INDEX_CONSTRAINT_OFFSET]
        hasLimit = offered.contains { $0.usable != 0 && Int32($0.op) == SQLITE_INDEX_CONSTRAINT_LIMIT }
        conditions = offered.enumerated().map { place, offered in
            guard place < PlanRequest.limit, offered.usable != 0, offered.iColumn >= 0,
                let comparison = Comparison(offered.op),
                let collation = sqlite3_vtab_collation(info, Int32(place)),
                String(cString: collation) == (ignoresCase(Int(offered.iColumn)) ? "NOCASE" : "BINARY")
            else { return nil }
            var value: OpaquePointer?
            return Condition(
                column: Int(offered.iColumn), comparison: comparison,
                isList: sqlite3_vtab_in(info, Int32(place), -1) != 0,
                isConstant: sqlite3_vtab_rhs_value(info, Int32(place), &value) == SQLITE_OK)
        }
        read = info.pointee.colUsed
        hasOthers = zip(offered, conditions).contains { $1 == nil && !windows.contains(Int32($0.op)) }
        let keys = (0..<Int(info.pointee.nOrderBy)).compactMap { info.pointee.aOrderBy?[$0] }
        if keys.allSatisfy({ $0.iColumn >= 0 }) {
            order = keys.map { Key(column: Int($0.iColumn), isDescending: $0.desc != 0) }
        }
    }
}

extension PlanRequest.Comparison {
    fileprivate init?(_ code: UInt8) {
        switch Int32(code) {
        case SQLITE_INDEX_CONSTRAINT_EQ: self = .equal
        case SQLITE_INDEX_CONSTRAINT_GT: self = .greater
        case SQLITE_INDEX_CONSTRAINT_GE: self = .greaterOrEqual
        case SQLITE_INDEX_CONSTRAINT_LT: self = .less
        case SQLITE_INDEX_CONSTRAINT_LE: self = .lessOrEqual
        default: return nil
        }
    }
}

// MARK: Scans

private typealias ScanPointer = UnsafeMutablePointer<sqlite3_vtab_cursor>

@inline(__always)
private func open(_ cursor: ScanPointer) -> UnsafeMutablePointer<OpenScan> {
    UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: OpenScan.self)
}

private nonisolated func scanOpen(
    _ table: UnsafeMutablePointer<sqlite3_vtab>?, _ result: UnsafeMutablePointer<ScanPointer?>?
) -> Int32 {
    guard let table, let result else { return SQLITE_MISUSE }
    let open = UnsafeMutableRawPointer(table).assumingMemoryBound(to: OpenTable.self).pointee
    return open.offered.takeUnretainedValue().guarding { () throws(SyncError) in
        let scan = try open.table.takeUnretainedValue().scan()
        let memory = UnsafeMutablePointer<OpenScan>.allocate(capacity: 1)
        memory.initialize(to: OpenScan(offered: open.offered, table: open.table, scan: .passRetained(scan)))
        result.pointee = UnsafeMutableRawPointer(memory).assumingMemoryBound(to: sqlite3_vtab_cursor.self)
    }
}

private nonisolated func scanClose(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    guard let cursor else { return SQLITE_OK }
    let memory = UnsafeMutableRawPointer(cursor).assumingMemoryBound(to: OpenScan.self)
    memory.pointee.rows?.release()
    memory.pointee.scan.release()
    memory.deallocate()
    return SQLITE_OK
}

private nonisolated func scanFilter(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ number: Int32, _ text: UnsafePointer<CChar>?,
    _ count: Int32, _ values: UnsafeMutablePointer<OpaquePointer?>?
) -> Int32 {
    guard let cursor else { return SQLITE_MISUSE }
    let open = open(cursor)
    // A join asks for one row after another.
    if open.pointee.idPlan == number, let id = values?[0], sqlite3_value_type(id) == SQLITE_TEXT {
        return beginAgain(open, id)
    }
    return open.pointee.offered.takeUnretainedValue().guarding { () throws(SyncError) in
        let plans = open.pointee.table.takeUnretainedValue().plans
        guard plans.indices.contains(Int(number)) else {
            throw SyncError(.internalError, "SQLite asks for a plan that it was not given")
        }
        let given = (0..<Int(count)).compactMap { values?[$0] }
        let plan = plans[Int(number)]
        open.pointee.idPlan = nil
        let rows = try open.pointee.scan.takeUnretainedValue().begin(plan, given)
        if plan.findsOneID, rows is FoundRows { open.pointee.idPlan = number }
        open.pointee.rows?.release()
        open.pointee.rows = .passRetained(rows)
        open.pointee.isAtEnd = rows.isAtEnd
    }
}

private nonisolated func beginAgain(_ open: UnsafeMutablePointer<OpenScan>, _ id: OpaquePointer) -> Int32 {
    do throws(SyncError) {
        open.pointee.isAtEnd = try open.pointee.scan.borrowed { scan throws(SyncError) in try scan.begin(id: id) }
        return SQLITE_OK
    } catch {
        return open.pointee.offered.takeUnretainedValue().guarding { () throws(SyncError) in throw error }
    }
}

private nonisolated func scanNext(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    guard let cursor, let rows = open(cursor).pointee.rows else { return SQLITE_MISUSE }
    do throws(SyncError) {
        open(cursor).pointee.isAtEnd = try rows.borrowed { rows throws(SyncError) in
            try rows.advance()
            return rows.isAtEnd
        }
        return SQLITE_OK
    } catch {
        return open(cursor).pointee.offered.takeUnretainedValue().guarding { () throws(SyncError) in throw error }
    }
}

private nonisolated func scanIsAtEnd(_ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?) -> Int32 {
    cursor.map { open($0).pointee.isAtEnd } ?? true ? 1 : 0
}

private nonisolated func scanColumn(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ context: OpaquePointer?, _ column: Int32
) -> Int32 {
    guard let cursor, let context, let rows = open(cursor).pointee.rows else { return SQLITE_MISUSE }
    rows.borrowed { $0.write(Int(column), to: ResultSink(context: context)) }
    return SQLITE_OK
}

private nonisolated func scanNumber(
    _ cursor: UnsafeMutablePointer<sqlite3_vtab_cursor>?, _ result: UnsafeMutablePointer<sqlite3_int64>?
) -> Int32 {
    guard let cursor, let result, let rows = open(cursor).pointee.rows else { return SQLITE_MISUSE }
    result.pointee = rows.takeUnretainedValue().number
    return SQLITE_OK
}
