// Tables in memory: their rows, the order of changes, and remembered operations. It is a value: a group of writes is taken
// back by returning to the one from before.

package import SynclineCore
import SynclineGround
package import SynclineWire

package struct MemoryTables: SharedTables {
    private struct Table: Sendable {
        var schema: ServedTable
        var rows: [ExactString: TableChange] = [:]
        /// The tombstones of permanently deleted rows, by their ids and owners.
        var removed: [[ExactString]: TableChange] = [:]
    }

    /// Changes a row when it is written, which knows the row before.
    package typealias Touch = (_ row: inout TableRow, _ existing: TableRow?, _ table: String) -> Void

    private var tables: [String: Table] = [:]
    private let plan: RightsPlan
    /// The edges and the stays.
    private(set) var rights = MemoryRights()
    private var operations: [OperationKey: (table: String, outcome: WriteOutcome)] = [:]
    private let others: TableDefinition?
    private let ids: IDComparison
    let limits: RowLimits
    package var mark: ChangeMark
    private var time: Int64 = 0
    /// The last number of the group that is being carried out: its writes give and take rights at once.
    private var groupEnd: Int64 = 0
    /// Whether the writes that are being carried out changed a row.
    private var hasEffect = false

    /// - Parameter others: The definition of every other table; nil if there is none.
    package init(
        _ definitions: [TableDefinition], others: TableDefinition? = nil, ids: IDComparison = .exact,
        limits: RowLimits = RowLimits(), epoch: String
    ) {
        mark = ChangeMark(epoch: epoch, change: RowVersion.firstChange(of: epoch), purged: 0)
        (self.others, self.ids, self.limits, plan) = (others, ids, limits, RightsPlan(definitions))
        for definition in definitions { tables[definition.name] = MemoryTables.empty(definition) }
    }

    private static func empty(_ definition: TableDefinition) -> Table {
        let columns = ServedTable.declared(definition)
        return Table(schema: ServedTable(definition, columns: columns, isOwn: !definition.holdsDocuments))
    }

    private func key(_ id: String) -> ExactString {
        ExactString(ids == .ignoreCase ? IDComparison.folded(id) : id)
    }

    /// Judges a caller's requests; nil if there is no such table.
    func judge(_ table: String, _ caller: Caller?) -> RightsJudge<MemoryRights>? {
        schema(table).map { RightsJudge($0.definition, plan[table: table], caller, rights) }
    }

    // MARK: Reading

    package var memory: MemoryTables { self }

    package func schema(_ table: String) -> ServedTable? {
        tables[table]?.schema ?? others.map { MemoryTables.empty($0.named(table)).schema }
    }

    package func row(_ table: String, id: String) -> TableRow? { tables[table]?.rows[key(id)]?.row }

    package func rows(of table: String) -> [TableRow] { tables[table]?.rows.values.map(\.row) ?? [] }

    package func list(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome {
        try list(plan, of: rows(of: plan.table))
    }

    /// - Parameter rows: The rows of the table that are to be seen.
    package func list(_ plan: ListPlan, of rows: [TableRow]) throws(StoreFailure) -> ListOutcome {
        guard let table = schema(plan.table) else { throw .changed("table \(plan.table) is missing") }
        let filter = plan.filter?.asServerReads(table)
        let work = FilterWork(table, within: WorkLimit.current)
        if table.definition.rules.read != nil {
            let found = try ruled(plan, filter, work)
            try work.check(within: WorkLimit.current)
            return plan.outcome(of: found, table, limits)
        }
        let found = rows.filter { row in
            (plan.includesDeleted || !row.isDeleted) && table.definition.shows(row.columns, to: plan.subject)
                && filter?.matches(row, work) ?? true
        }
        try work.check(within: WorkLimit.current)
        return plan.outcome(of: found, table, limits)
    }

    package func changes(_ plan: ChangePlan) throws(StoreFailure) -> ChangeOutcome {
        guard let schema = schema(plan.table) else { throw .changed("table \(plan.table) is missing") }
        let filter = plan.filter?.asServerReads(schema)
        let work = FilterWork(schema, within: WorkLimit.current)
        if schema.definition.rules.read != nil { return try ruled(plan, filter, work) }
        let end = min(plan.until ?? .max, mark.change)
        let (rows, removed) = (tables[plan.table]?.rows ?? [:], tables[plan.table]?.removed ?? [:])
        let all = rows.values.map { ($0, false) } + removed.values.map { ($0, true) }
        let found = all.filter { change, _ in
            change.number > plan.since && change.number <= end
                && schema.definition.shows(change.row.columns, to: plan.subject)
        }
        var outcome = ChangeOutcome(count: plan.counts ? found.count : nil, mark)
        var room = AnswerBudget(limits.answerBytes)
        for case (var change, let isRemoved) in found.sorted(by: { $0.0.number < $1.0.number }) where !outcome.hasMore {
            if isRemoved { change.row.columns = .empty }
            change.isInView = isRemoved || filter?.matches(change.row, work) ?? true
            if !change.isInView { change.row = change.row.bare }
            outcome.add(change, plan.limit, &room)
        }
        try work.check(within: WorkLimit.current)
        return outcome
    }

    // MARK: Writing

    /// Removes all rows of a table, and what is known of earlier ones.
    package mutating func clear(_ table: String) { tables[table] = nil }

    /// Forgets all permanently deleted rows.
    package mutating func purge() {
        mark.purged = mark.change
        for name in tables.keys { tables[name]?.removed = [:] }
    }

    /// Stores a row with the latest number.
    package mutating func put(_ row: TableRow, in name: String) {
        let key = key(row.id)
        if tables[name] == nil { tables[name] = others.map { MemoryTables.empty($0.named(name)) } }
        if let place = tombstoneKey(row, name) { tables[name]?.removed[place] = nil }
        tables[name]?.rows[key] = TableChange(number: mark.change, row: row, isInView: true)
    }

    /// Removes a row, and leaves a tombstone with the latest number.
    package mutating func remove(_ id: String, from table: String) {
        let key = key(id)
        guard var tombstone = tables[table]?.rows.removeValue(forKey: key) else { return }
        (tombstone.row.isDeleted, tombstone.number) = (true, mark.change)
        if let place = tombstoneKey(tombstone.row, table) { tables[table]?.removed[place] = tombstone }
    }

    private func tombstoneKey(_ row: TableRow, _ table: String) -> [ExactString]? {
        tables[table].map { [key(row.id), ExactString($0.schema.definition.owner(of: row.columns) ?? "")] }
    }

    /// Carries out writes at a time, or at the next one if that is over. Without any effect, no number is used up.
    package mutating func write(
        _ groups: [[TableWrite]], stopsAtRefusal: Bool, wantsRows: Bool, now: Int64
    ) -> [[WriteOutcome]] {
        write(groups, stopsAtRefusal: stopsAtRefusal, wantsRows: wantsRows, now: now) { _, _, _ in }
    }

    package mutating func write(
        _ groups: [[TableWrite]], stopsAtRefusal: Bool, wantsRows: Bool, now: Int64, _ touch: Touch
    ) -> [[WriteOutcome]] {
        let before = (mark.change, time)
        (time, hasEffect) = (max(time + 1, now), false)
        var allowance = WriteAllowance(limits)
        var outcomes: [[WriteOutcome]] = []
        var isStopped = false
        for group in groups {
            if isStopped {
                mark.change += Int64(group.count)
                outcomes.append(group.map { _ in .notAttempted })
                continue
            }
            outcomes.append(write(group, wantsRows, &allowance, touch))
            isStopped = stopsAtRefusal && outcomes.last?.contains(where: \.isRefused) == true
        }
        if !hasEffect { (mark.change, time) = before }
        return outcomes
    }

    private mutating func write(
        _ group: [TableWrite], _ wantsRows: Bool, _ allowance: inout WriteAllowance, _ touch: Touch
    ) -> [WriteOutcome] {
        let before: (MemoryTables, WriteAllowance)? = group.count > 1 ? (self, allowance) : nil
        var outcomes: [WriteOutcome] = []
        groupEnd = mark.change + Int64(group.count)
        for write in group {
            mark.change += 1
            let outcome = carryOut(write, &allowance, touch)
            let isTold = outcome.row.map { (outcome.isRefused || wantsRows) && allowance.answer.takes($0) } ?? true
            outcomes.append(isTold ? outcome : outcome.bare)
            guard outcome.isRefused, let before else { continue }
            // Numbers are not issued twice, and added columns count, even those that were taken back.
            let (used, columns) = (mark.change, allowance.columns)
            (self, allowance) = before
            (mark.change, allowance.columns) = (used, columns)
            return group.indices.map { $0 == outcomes.count - 1 ? outcome : .groupRefused }
        }
        return outcomes
    }

    private mutating func carryOut(
        _ write: TableWrite, _ allowance: inout WriteAllowance, _ touch: Touch
    ) -> WriteOutcome {
        guard let schema = schema(write.table), let judge = judge(write.table, write.caller) else {
            return .failed(.changed("table \(write.table) is missing"))
        }
        if let known = remembered(write) { return told(known, judge, write.table) }
        guard schema.mayHave(id: write.id) else { return .refused(write.refusalOfID(schema), nil) }
        let existing = row(write.table, id: write.id)
        let mayBegin = limits.mayBegin(schema, allowance.columns)
        let prepared = PreparedWrite(write, schema, on: existing, mayBegin: mayBegin)
        let stamp = Stamp(change: mark.change, time: time)
        let decided: DecidedWrite
        do throws(StoreFailure) {
            decided = try prepared.decide(
                on: existing, schema, stamp, mayBegin: mayBegin, rowLimit: limits.answerBytes, judge)
        } catch {
            return .failed(error)
        }
        guard case .done(let effect, var row) = decided.outcome else { return decided.outcome }
        grow(decided, &allowance)
        hasEffect = true
        touch(&row, existing, write.table)
        put(row, in: write.table)
        if effect == .deleted, !schema.definition.softDelete { remove(row.id, from: write.table) }
        let outcome = WriteOutcome.done(effect, row)
        let end = Stamp(change: groupEnd, time: time)
        rights.note(RightsChange(plan[table: write.table], from: existing, to: row), row.id, write.table, end)
        if let key = write.operation { operations[key] = (write.table, outcome) }
        return told(outcome, self.judge(write.table, write.caller) ?? judge, write.table)
    }

    /// The outcome as the caller may see it.
    private func told(
        _ outcome: WriteOutcome, _ judge: RightsJudge<MemoryRights>, _ table: String
    ) -> WriteOutcome {
        guard let id = outcome.row?.id else { return outcome }
        do throws(StoreFailure) {
            return try judge.told(outcome, now: row(table, id: id))
        } catch {
            return .failed(error)
        }
    }

    private mutating func grow(_ decided: DecidedWrite, _ allowance: inout WriteAllowance) {
        allowance.columns -= decided.item.newColumns.count
        let name = decided.table.name
        guard !decided.item.newColumns.isEmpty, var table = tables.removeValue(forKey: name) else { return }
        table.schema = decided.table
        for (id, change) in table.rows {
            table.rows[id]?.row.columns = table.schema.columns(of: change.row.columns, setting: CheckedItem())
        }
        tables[name] = table
    }

    /// The outcome of an earlier write with the same operation id.
    private func remembered(_ write: TableWrite) -> WriteOutcome? {
        guard let operation = write.operation, let (table, outcome) = operations[operation] else { return nil }
        guard let row = outcome.row, table == write.table else { return .operationIDReused }
        var write = write
        if key(write.id) == key(row.id) { write.id = row.id }
        return write.couldBecome(outcome) ? outcome : .operationIDReused
    }
}
