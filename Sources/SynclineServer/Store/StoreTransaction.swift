// A transaction in progress: each write is looked up, decided, carried out and remembered in turn.

import SynclineCore
import SynclineTables
import SynclineWire

struct StoreTransaction {
    private let store: SQLStore
    private let connection: any SQLConnection
    /// Whether each group has a savepoint, so that its failure affects only itself.
    private let isCareful: Bool
    private(set) var catalogue: StoreCatalogue
    private(set) var hasEffect = false
    private var numbers: IssuedNumbers
    private var stamp: Stamp
    private let edges = KnownEdges()
    /// The last number of the group that is being carried out: its writes give and take rights at once.
    private var groupEnd: Int64
    /// Whether the group is one write.
    private var isSingle = true
    /// Whether the rows of all writes were locked before the numbers were taken.
    private let hasLocked: Bool
    /// What is read and written in sets, if the writes are many and none has failed.
    private let sets: WriteSets?
    /// The database's state once this is committed.
    var after: DatabaseState { numbers.after }
    private var allowance: WriteAllowance
    /// What the writes change in the digests of the tables, by their names in the database.
    private var digests: [String: TableDigest] = [:]
    /// The bytes of rows that the job has read and written.
    private var work = 0
    /// A job with more work continues in another transaction, so that others need not wait for it.
    private static let workLimit = 4 << 20
    /// An atomic group can't continue in another transaction.
    private static let groupLimit = 64 << 20

    private var dialect: SQLDialect { store.dialect }

    /// Takes its position in the order of changes; without a line, it locks its rows in order first. If the tables differ
    /// from the known ones, it reads them again.
    init(
        _ store: SQLStore, _ connection: any SQLConnection, _ jobs: [WriteJob], isCareful: Bool,
        after failure: StoreFailure?
    ) throws(StoreFailure) {
        (self.store, self.connection, self.isCareful) = (store, connection, isCareful)
        let count = jobs.reduce(0) { $0 + $1.count }
        hasLocked = store.numbers == .ticks && count > 1
        if case .changed? = failure { try store.refresh(connection) }
        let known = store.currentCatalogue.rights
        let sets = store.dialect == .postgres && count > 1 ? WriteSets(connection) : nil
        self.sets = isCareful ? nil : sets
        let writes = sets == nil ? [] : jobs.flatMap { $0.groups.joined().map(\.write) }
        if hasLocked {
            try sets?.find(writes, store, locks: true)
            try self.sets?.readReceipts(writes)
        }
        numbers = try IssuedNumbers(count, store, connection)
        stamp = Stamp(change: 0, time: numbers.time)
        groupEnd = 0
        if numbers.schema > store.currentCatalogue.number { try store.refresh(connection) }
        catalogue = store.currentCatalogue
        // By other rules, the rights that rows give were not locked.
        if hasLocked, catalogue.rights != known { throw .contest }
        allowance = WriteAllowance(store.limits)
        if !hasLocked {
            try self.sets?.find(writes, store, locks: false)
            try self.sets?.readReceipts(writes)
        }
        try self.sets?.read(writes, catalogue)
    }

    /// Carries out a job's groups, or as many of the first ones as reach the work limit.
    mutating func write(_ job: WriteJob) throws(StoreFailure) -> WriteProgress {
        var progress = WriteProgress(job.allowance)
        (allowance, work) = (job.allowance, 0)
        for group in job.groups where work < StoreTransaction.workLimit && !progress.isStopped {
            progress.outcomes.append(try write(group, job))
            progress.isStopped = job.stopsAtRefusal && progress.outcomes.last?.contains(where: \.isRefused) == true
        }
        progress.allowance = allowance
        return progress
    }

    /// Carries out a group: completely, or not at all.
    private mutating func write(_ group: [PreparedWrite], _ job: WriteJob) throws(StoreFailure) -> [WriteOutcome] {
        groupEnd = numbers.last(of: group.count)
        isSingle = group.count == 1
        if isSingle, !isCareful { return [try write(group[0], job)] }
        try sets?.store(catalogue)
        try edges.store(connection, dialect)
        let before = self
        try connection.execute("SAVEPOINT \"group\"")
        var outcomes: [WriteOutcome] = []
        for write in group {
            var outcome: WriteOutcome
            do throws(StoreFailure) {
                outcome = try self.write(write, job)
            } catch {
                // If the database has ended the transaction, there is no savepoint to return to.
                guard isCareful, (try? connection.execute("ROLLBACK TO SAVEPOINT \"group\"")) != nil else {
                    throw error
                }
                outcome = .failed(store.told(error, write.write.table))
            }
            if work - before.work > StoreTransaction.groupLimit { outcome = .refused(.groupTooLarge, nil) }
            outcomes.append(outcome)
            guard outcome.isRefused else { continue }
            try connection.execute("ROLLBACK TO SAVEPOINT \"group\"")
            // Their locks are gone, too.
            edges.forget()
            try connection.execute("RELEASE SAVEPOINT \"group\"")
            // Numbers are not issued twice, and added columns count, even those that were rolled back.
            let (used, columns, done) = (numbers, allowance.columns, work)
            self = before
            (numbers, allowance.columns, work) = (used, columns, done)
            return group.indices.map { $0 == outcomes.count - 1 ? outcome : .groupRefused }
        }
        try connection.execute("RELEASE SAVEPOINT \"group\"")
        return outcomes
    }

    private mutating func write(_ prepared: PreparedWrite, _ job: WriteJob) throws(StoreFailure) -> WriteOutcome {
        let outcome = try decided(prepared)
        guard let row = outcome.row else { return outcome }
        work += row.size
        let isTold = outcome.isRefused || job.wantsRows
        return isTold && allowance.answer.takes(row) ? outcome : outcome.bare
    }

    private mutating func decided(_ prepared: PreparedWrite) throws(StoreFailure) -> WriteOutcome {
        stamp = try numbers.next(connection)
        let write = prepared.write
        guard let statements = catalogue.tables[write.table] else { throw store.tableChanged(write.table) }
        let schema = statements.schema
        let source = SQLRights(
            connection: connection, dialect: dialect, rights: catalogue.rights[write.table] ?? TableRights(),
            table: write.table, locks: store.numbers == .ticks, known: edges)
        let judge = RightsJudge(schema.definition, source.rights, write.caller, source)
        if let known = try remembered(write, statements) { return try told(known, judge, statements) }
        guard schema.mayHave(id: write.id) else { return .refused(write.refusalOfID(schema), nil) }
        let mayBegin = store.limits.mayBegin(schema, allowance.columns)
        func decide(_ existing: TableRow?) throws(StoreFailure) -> DecidedWrite {
            try prepared.decide(
                on: existing, schema, stamp, mayBegin: mayBegin, rowLimit: store.limits.answerBytes, judge)
        }
        let isPlain = schema.definition.rules.isEmpty && source.rights == TableRights()
        let set = isSingle && sets?.has(write.table) == true ? sets : nil
        // What others decide about a row may depend on the rows before.
        if set == nil { try sets?.store(catalogue) }
        if case .insert = write.kind, schema.isOwn, isPlain, set == nil,
            let outcome = try insertNew(decide(nil), statements)
        {
            if !outcome.isRefused {
                sets?.forget(write.id, of: write.table)
                note(nil, outcome, schema)
                try remember(outcome, of: write)
            }
            return outcome
        }
        let existing = try row(write.id, statements)
        if let existing { try takeNumber(after: existing, write.table, isPlain: isPlain) }
        work += existing?.size ?? 0
        let decided = try decide(existing)
        var outcome = decided.outcome
        if outcome.isRefused {
            // Without a line, the same operation may have been carried out while this one waited for the row.
            if set == nil, let key = write.operation { sets?.forget(key) }
            return store.numbers == .ticks ? try remembered(write, statements) ?? outcome : outcome
        }
        let grown = decided.table === schema ? statements : TableSQL(decided.table, dialect)
        try add(decided.item.newColumns, to: grown)
        let places = existing.map { schema.placesChanged(from: $0.columns, to: outcome.columns) }
        if try !put(outcome, grown, set) {
            try apply(outcome, grown, only: places ?? schema.placesSet(by: decided.item))
            sets?.forget(write.id, of: write.table)
        }
        if !schema.isOwn { outcome = try stored(outcome, existing, grown) }
        note(existing, outcome, grown.schema)
        if !isPlain, let row = outcome.row {
            let end = Stamp(change: groupEnd, time: stamp.time)
            try source.note(
                RightsChange(source.rights, from: existing, to: row), row.id, end, withLater: set != nil)
        }
        try remember(outcome, of: write)
        return try judge.told(outcome)
    }

    /// Without a line, takes a later number if another transaction changed the row since this one took its numbers, or used
    /// a right that the row gives: what it wrote comes before the end of the right.
    private mutating func takeNumber(after row: TableRow, _ table: String, isPlain: Bool) throws(StoreFailure) {
        guard store.numbers == .ticks else { return }
        var isLate = RowVersion.change(row.version) ?? 0 > stamp.change
        if !isPlain, !hasLocked, try store.lockEdges(of: [row.id], table, connection) { isLate = true }
        guard isLate else { return }
        // All writes of a group give and take rights at one number. Repeated, the row is locked before it is taken.
        if !isSingle, !isPlain { throw .contest }
        stamp = try numbers.fresh(connection)
        if isSingle { groupEnd = stamp.change }
    }

    /// The outcome as the caller may see it.
    private func told(
        _ outcome: WriteOutcome, _ judge: RightsJudge<SQLRights>, _ statements: TableSQL
    ) throws(StoreFailure) -> WriteOutcome {
        guard judge.mayHaveLost, let id = outcome.row?.id else { return outcome }
        return try judge.told(outcome, now: try row(id, statements))
    }

    private mutating func note(_ existing: TableRow?, _ outcome: WriteOutcome, _ schema: ServedTable) {
        let table = schema.definition.source
        digests[table, default: TableDigest()].remove(existing, schema)
        if case .done(_, let row) = outcome { digests[table, default: TableDigest()].add(row, schema) }
    }

    /// Must be called after the last write.
    func finish() throws(StoreFailure) {
        try sets?.store(catalogue)
        try sets?.storeReceipts()
        try edges.store(connection, dialect)
        for (table, digest) in digests.sorted(by: { $0.key < $1.key }) where !digest.isEmpty {
            try connection.later(
                store.numbers == .ticks
                    ? StateSQL.addInSlot(digest, to: table) : StateSQL.add(digest, to: table, dialect))
        }
        try connection.flush()
    }

    /// Inserts a row without first checking whether it exists, which usually it does not. Returns nil if that was not
    /// possible or did not happen: then the row must be read. Adopted tables may have rules that this would hide.
    private func insertNew(_ decided: DecidedWrite, _ statements: TableSQL) throws(StoreFailure) -> WriteOutcome? {
        guard case .done(_, let row) = decided.outcome else { return decided.outcome }
        guard decided.item.newColumns.isEmpty else { return nil }
        return try connection.change(statements.insertNew(row, stamp)) == 1 ? decided.outcome : nil
    }

    /// Stores the outcome of an operation, for its repeats.
    private mutating func remember(_ outcome: WriteOutcome, of write: TableWrite) throws(StoreFailure) {
        if let key = write.operation, let row = outcome.row {
            let isKept = row.size <= min(store.limits.rememberedBytes, allowance.memory)
            if isKept { allowance.memory -= row.size }
            if let (kind, text) = OperationMemory.texts(isKept ? outcome : outcome.bare) {
                try remember(key, Receipt(table: write.table, kind: kind, row: text))
            }
        }
        hasEffect = true
    }

    private func remember(_ key: OperationKey, _ receipt: Receipt) throws(StoreFailure) {
        if isSingle, let sets { return sets.remember(key, receipt, time: stamp.time) }
        sets?.forget(key)
        try later(StateSQL.remember(key, time: stamp.time, receipt))
    }

    private func row(_ id: String, _ statements: TableSQL) throws(StoreFailure) -> TableRow? {
        if let known = sets?.row(id, of: statements.schema.name) { return known.value }
        return try connection.first(statements.row(id: id, locks: store.numbers == .ticks)) { statements.row($0) }
    }

    /// The outcome of an earlier write with the same operation id.
    private func remembered(_ write: TableWrite, _ statements: TableSQL) throws(StoreFailure) -> WriteOutcome? {
        guard let key = write.operation, let receipt = try receipt(key) else { return nil }
        guard let outcome = OperationMemory.outcome(kind: receipt.kind, text: receipt.row),
            receipt.table == write.table, write.couldBecome(outcome)
        else { return .operationIDReused }
        guard let row = outcome.row, row.isBare else { return outcome }
        // The row was too large to keep; it may still be unchanged.
        let now = try self.row(row.id, statements)
        return now?.version == row.version ? now.map { outcome.with($0) } : outcome
    }

    private func receipt(_ key: OperationKey) throws(StoreFailure) -> Receipt? {
        if let known = sets?.receipt(key) { return known.value }
        return try connection.first(StateSQL.operation(key)) { row in
            Receipt(table: row.value(0).text, kind: row.value(1).text, row: row.value(2).text)
        }
    }

    /// Lets the outcome be stored together with others; false if it must be stored at once.
    private func put(
        _ outcome: WriteOutcome, _ statements: TableSQL, _ sets: WriteSets?
    ) throws(StoreFailure) -> Bool {
        guard let sets, case .done(let effect, let row) = outcome else { return false }
        let definition = statements.schema.definition
        if effect == .deleted, !definition.softDelete {
            try sets.remove(RemovedRow(row, definition, stamp), from: definition.name, catalogue)
            return true
        }
        try sets.put(row, stamp.change, in: definition.name, isNew: effect == .inserted, catalogue)
        return true
    }

    /// - Parameter places: The columns that a statement on an adopted table names.
    private func apply(
        _ outcome: WriteOutcome, _ statements: TableSQL, only places: [Int]
    ) throws(StoreFailure) {
        switch outcome {
        case .done(.inserted, let row) where store.numbers == .ticks && statements.schema.isOwn:
            // Another transaction may have inserted it meanwhile.
            if try connection.change(statements.insertNew(row, stamp)) != 1 { throw .contest }
        case .done(.inserted, let row): try later(statements.insert(row, stamp, only: places))
        case .done(.changed, let row), .done(.undeleted, let row):
            try later(statements.update(row, stamp, only: places))
        case .done(.deleted, let row):
            let definition = statements.schema.definition
            if definition.softDelete { return try later(statements.update(row, stamp, only: places)) }
            try later(statements.remove(id: row.id))
            let removed = RemovedRow(row, definition, stamp)
            try later(StateSQL.insertTombstones(of: [removed], in: definition.name, dialect))
        case .refused, .failed: break
        }
    }

    /// Runs a statement with the next one, unless a group's failure must affect only the group.
    private func later(_ statement: SQLStatement) throws(StoreFailure) {
        if isCareful { try connection.run(statement) } else { try connection.later(statement) }
    }

    /// The outcome with the row as an adopted table has stored it. Its triggers, rules and policies may change a row.
    /// If they skipped it, or took its number, it would never be among the changes: then it is refused.
    private func stored(
        _ outcome: WriteOutcome, _ existing: TableRow?, _ statements: TableSQL
    ) throws(StoreFailure) -> WriteOutcome {
        guard case .done(let effect, let wanted) = outcome else { return outcome }
        let table = statements.schema.definition
        let row = try row(wanted.id, statements)
        if effect == .deleted, !table.softDelete {
            if row == nil { return outcome }
        } else if let row, row.version != existing?.version {
            if row.version == wanted.version { return outcome.with(row) }
            // A trigger may take a later number from the same source.
            let mark = try connection.state(store.numbers, dialect).issued
            let number = RowVersion.change(row.version) ?? 0
            if number > stamp.change, number <= mark { return outcome.with(row) }
            throw .refused(
                .trigger(
                    FailureReason(
                        .constraint,
                        "a trigger of table \(table.source) sets \(statements.schema.source(of: .version)), "
                            + "which only the server may set")))
        }
        throw .refused(
            .trigger(
                FailureReason(.constraint, "table \(table.source) did not store a row: a trigger or a rule skipped it"))
        )
    }

    private mutating func add(_ columns: [Column], to grown: TableSQL) throws(StoreFailure) {
        guard !columns.isEmpty else { return }
        // Without a line, another transaction may have changed the columns meanwhile.
        if store.numbers == .ticks, let found = try connection.first(StateSQL.lockedSchema, count: 1),
            found[0].integer > catalogue.number
        {
            throw .changed("columns were added to table \(grown.schema.name)")
        }
        allowance.columns -= columns.count
        let name = grown.schema.name
        try sets?.store(catalogue)
        sets?.forgetRows(of: name)
        let installer = SchemaInstaller(definitions: [], dialect: dialect)
        do throws(StoreFailure) {
            try installer.add(columns, to: grown.schema.definition, connection)
        } catch .refused(let refusal) where refusal.cause?.kind == .permission {
            let names = columns.map(\.name).joined(separator: ", ")
            throw .refused(
                Refusal(
                    400, "unknown-column",
                    "Table \(name) has no column \(names), and the server's role in the database may not add columns",
                    refusal.cause))
        }
        catalogue.tables[name] = grown
        catalogue.number += 1
    }
}

extension Refusal {
    fileprivate static let groupTooLarge = Refusal(
        413, "group-too-large", "The operations of a group read and write more than 64 MiB of rows")
}
