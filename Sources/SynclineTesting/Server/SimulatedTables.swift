// The tables of the simulated server, with the faults and the numbers of the servers of its protocol.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

/// Numbered ids, and no time: the simulated server has a clock of its own.
final class SimulatedIDs: ServerEnvironment {
    private let count = Atomic<UInt64>(0)

    func now() -> Int64 { 0 }

    func chance() -> (high: UInt64, low: UInt64) { (0, count.add(1, ordering: .relaxed).newValue) }
}

struct SimulatedTables: SharedTables {
    private let options: SimulatedServer.Options
    var memory: MemoryTables
    var tables: [String: SimulatedTable] = [:]
    var clock: SimulatedClock
    /// How often a table was set up, which removes rows without recording a change.
    private var setups = 0

    init(_ serverProtocol: ServerProtocol, _ options: SimulatedServer.Options, _ definition: TableDefinition) {
        (self.options, clock) = (options, SimulatedClock(serverProtocol: serverProtocol))
        var limits = RowLimits()
        limits.answerBytes = .max
        let ids: IDComparison = options.ignoresCase ? .ignoreCase : .exact
        memory = MemoryTables([], others: definition, ids: ids, limits: limits, epoch: "simulated0")
    }

    mutating func list(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome {
        var plan = plan
        plan.limit = min(plan.limit, tables[plan.table]?.pageLimit ?? (clock.serverProtocol == .zumo2 ? 50 : 100))
        let all = memory.rows(of: plan.table)
        return try memory.list(plan, of: tables[plan.table]?.visible(all) ?? all)
    }

    /// The feed is always up to date.
    func changes(_ plan: ChangePlan) throws(StoreFailure) -> ChangeOutcome {
        var plan = plan
        plan.limit = min(plan.limit, tables[plan.table]?.pageLimit ?? 1000)
        return try memory.changes(plan)
    }

    mutating func write(
        _ groups: [[TableWrite]], stopsAtRefusal: Bool, wantsRows: Bool, now: Int64
    ) -> [[WriteOutcome]] {
        let (options, groups) = (options, groups.map { $0.map(adapted) })
        var (clock, tables) = (clock, tables)
        defer { (self.clock, self.tables) = (clock, tables) }
        return memory.write(groups, stopsAtRefusal: stopsAtRefusal, wantsRows: wantsRows, now: now) {
            row, before, name in
            var table = tables[name] ?? SimulatedTable()
            row.updatedAt = clock.next(table.precision)
            row.version = clock.version
            if before == nil { row.createdAt = row.updatedAt }
            table.note(row.id, before: before, clock.writes, options)
            tables[name] = table
        }
    }

    private func adapted(_ write: TableWrite) -> TableWrite {
        var write = write
        if !options.recognizesOperations { write.operation = nil }
        // The older servers update a deleted row, too, which stays deleted.
        if case .update = write.kind, write.serverProtocol == .zumo2 { write.revives = false }
        return write
    }

    /// Sets up a table without rows.
    mutating func set(_ name: String, _ table: SimulatedTable) {
        setups += 1
        memory.clear(name)
        memory.mark.epoch = "simulated\(setups)"
        tables[name] = table
    }

    /// Stores a complete row from a test.
    mutating func put(_ value: Value, in name: String) {
        guard case .object(let members) = value, case .string(let id)? = value[member: "id"] else {
            preconditionFailure("a row of the simulated server must be an object with a string as id: \(value.json)")
        }
        var table = tables[name] ?? SimulatedTable()
        let existing = memory.row(name, id: id)
        // A row that was read from here, and perhaps changed, is a new write.
        let isRead = existing.map { value[member: "version"]?.text == $0.version } ?? false
        let given = isRead ? nil : value[member: "updatedAt"]?.instant.map(table.precision.cut)
        let time = clock.next(table.precision, given)
        let row = TableRow(
            id: existing?.id ?? id,
            columns: Row(members.filter { $0.name != "id" && !Item.systemColumns.contains($0.name) }),
            createdAt: value[member: "createdAt"]?.instant ?? existing?.createdAt ?? time, updatedAt: time,
            version: (isRead ? nil : value[member: "version"]?.text) ?? clock.version,
            isDeleted: value[member: "deleted"] == .bool(true))
        table.note(row.id, before: existing, clock.writes, options)
        tables[name] = table
        memory.mark.change += 1
        memory.put(row, in: name)
    }

    /// Hard-deletes a row.
    mutating func remove(_ id: String, from name: String) {
        let existing = memory.row(name, id: id)
        tables[name, default: SimulatedTable()].note(existing?.id ?? id, before: existing, clock.writes, options)
        memory.mark.change += 1
        memory.remove(id, from: name)
    }

    /// Counts a read, and applies the changes that follow it.
    mutating func finishRead(of name: String) {
        tables[name, default: SimulatedTable()].reads += 1
        guard let table = tables[name] else { return }
        for mutation in table.mutations where mutation.afterRequest == table.reads {
            for row in mutation.upsert { put(row, in: name) }
            for id in mutation.remove { remove(id, from: name) }
        }
    }
}

/// The times and the versions of writes.
struct SimulatedClock: Sendable {
    let serverProtocol: ServerProtocol
    /// The latest time that was assigned or set.
    private(set) var latest = Timestamp.Instant(seconds: 1_767_225_600)
    private(set) var writes = 0

    /// The time of the next write: the given one, or one after the latest.
    mutating func next(
        _ precision: SimulatedServer.Precision, _ given: Timestamp.Instant? = nil
    ) -> Timestamp.Instant {
        writes += 1
        let time = given ?? precision.step(after: latest)
        latest = max(latest, time)
        return time
    }

    /// The version of the latest write, formatted as the protocol's servers do.
    var version: String {
        switch serverProtocol {
        case .zumo2: return Base64.encode(Array(String(writes).utf8))
        case .datasync3:
            let number = UInt64(writes)
            let bytes = [number &* 0x9e37_79b9_7f4a_7c15, number].flatMap { number in
                (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
            }
            return Base64.encode(bytes)
        }
    }
}
