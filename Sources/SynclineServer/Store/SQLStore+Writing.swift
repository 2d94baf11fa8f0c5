// Writes: one transaction for all that requests bring at a time, in which each write is looked up, decided and carried out in
// turn. Nothing of it is seen, and no number is used up, before all of it is durable.

import SynclineCore
import SynclineWire

extension SQLStore {
    func write(_ groups: [[TableWrite]], stopsAtRefusal: Bool) throws(StoreFailure) -> [[WriteOutcome]] {
        let job = WriteJob(groups, stopsAtRefusal: stopsAtRefusal)
        if job.count == 0 { return groups.map { _ in [] } }
        queue.carryOut(job) { jobs in perform(jobs) }
        guard let result = job.result else { throw .broken("a write was not carried out") }
        return try result.get()
    }

    /// Finishes each job. What the database refuses takes all of a transaction back: its parts have one each, then.
    private func perform(_ jobs: [WriteJob]) {
        do throws(StoreFailure) {
            for (job, outcomes) in zip(jobs, try attempt(jobs)) { job.finish(.success(outcomes)) }
        } catch {
            guard case .refused(let refusal) = error else {
                for job in jobs { job.finish(.failure(error)) }
                return
            }
            if jobs.count > 1 {
                for job in jobs { perform([job]) }
            } else {
                for job in jobs { job.finish(apart(job, refusal)) }
            }
        }
    }

    /// A job's groups, each in a transaction of its own.
    private func apart(_ job: WriteJob, _ refusal: Refusal) -> Result<[[WriteOutcome]], StoreFailure> {
        if job.groups.count == 1 { return .success([job.groups[0].map { _ in .refused(refusal, nil) }]) }
        var outcomes: [[WriteOutcome]] = []
        var isStopped = false
        for group in job.groups {
            if isStopped {
                outcomes.append(group.map { _ in notAttempted })
                continue
            }
            let part = WriteJob([group], stopsAtRefusal: false)
            perform([part])
            switch part.result {
            case .success(let done)?: outcomes += done
            case .failure(let failure)?: return .failure(failure)
            case nil: return .failure(.broken("a write was not carried out"))
            }
            isStopped = job.stopsAtRefusal && outcomes.last?.contains(where: \.isRefused) == true
        }
        return .success(outcomes)
    }

    private var notAttempted: WriteOutcome {
        .refused(Refusal(424, "not-attempted", "An operation before this one was refused"), nil)
    }

    /// All jobs in one transaction.
    private func attempt(_ jobs: [WriteJob]) throws(StoreFailure) -> [[[WriteOutcome]]] {
        let count = jobs.reduce(0) { $0 + $1.count }
        var isKept = false
        defer { counts.note(writes: count, isKept: isKept) }
        return try database.write { connection throws(StoreFailure) in
            var grown: Catalogue?
            let start = ContinuousClock.now
            let (outcomes, hasEffect) = try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in
                var writer = try StoreTransaction(self, connection, count: count)
                counts.note(lockedAfter: start.duration(to: .now))
                var outcomes: [[[WriteOutcome]]] = []
                for job in jobs { outcomes.append(try write(job, &writer)) }
                grown = writer.catalogue
                return ((outcomes, writer.hasEffect), writer.hasEffect)
            }
            isKept = hasEffect
            if let grown { publish(grown) }
            return outcomes
        }
    }

    private func write(_ job: WriteJob, _ writer: inout StoreTransaction) throws(StoreFailure) -> [[WriteOutcome]] {
        var outcomes: [[WriteOutcome]] = []
        var isStopped = false
        for group in job.groups {
            let outcome = isStopped ? group.map { _ in notAttempted } : try writer.write(group)
            isStopped = isStopped || job.stopsAtRefusal && outcome.contains(where: \.isRefused)
            outcomes.append(outcome)
        }
        return outcomes
    }
}

/// A transaction while it is made.
private struct StoreTransaction {
    private let connection: any SQLConnection
    private let dialect: SQLDialect
    private(set) var catalogue: SQLStore.Catalogue
    private(set) var hasEffect = false
    private var stamp: Stamp

    /// Takes its place in the order of changes.
    init(_ store: SQLStore, _ connection: any SQLConnection, count: Int) throws(StoreFailure) {
        self.connection = connection
        dialect = store.dialect
        let statement = StateSQL.stamp(count, now: store.surroundings.now(), dialect)
        guard let values = try connection.first(statement, count: 3) else {
            throw .broken("the state of the store is gone")
        }
        stamp = Stamp(change: values[0].integer - Int64(count), time: values[1].integer)
        if values[2].integer > store.currentCatalogue.number { try store.refresh(connection) }
        catalogue = store.currentCatalogue
    }

    /// Carries out a group: wholly, or not at all.
    mutating func write(_ group: [TableWrite]) throws(StoreFailure) -> [WriteOutcome] {
        if group.count == 1 { return [try write(group[0])] }
        let before = self
        try connection.execute("SAVEPOINT \"group\"")
        var outcomes: [WriteOutcome] = []
        for write in group {
            let outcome = try self.write(write)
            outcomes.append(outcome)
            guard outcome.isRefused else { continue }
            try connection.execute("ROLLBACK TO SAVEPOINT \"group\"")
            try connection.execute("RELEASE SAVEPOINT \"group\"")
            // Numbers are not given twice, not even those of what was taken back.
            let used = stamp
            self = before
            stamp = used
            let failed = Refusal(424, "group-refused", "Another operation of the group was refused")
            return group.indices.map { $0 == outcomes.count - 1 ? outcome : .refused(failed, nil) }
        }
        try connection.execute("RELEASE SAVEPOINT \"group\"")
        return outcomes
    }

    private mutating func write(_ write: TableWrite) throws(StoreFailure) -> WriteOutcome {
        stamp.change += 1
        if let known = try remembered(write) { return known }
        guard let statements = catalogue.tables[write.table] else {
            return .refused(Refusal(404, "table-not-found", "There is no such table"), nil)
        }
        if let outcome = try insertNew(write, statements) {
            if !outcome.isRefused { try remember(outcome, of: write) }
            return outcome
        }
        let schema = statements.schema
        let existing = try row(write, statements)
        var write = write
        let checked: CheckedItem
        do throws(Refusal) {
            checked = try schema.check(try write.item(on: existing))
        } catch {
            // What stands before it in the order of checks is said first.
            if case .patch = write.kind {
                let outcome = write.decide(on: existing, CheckedItem(), schema, stamp)
                if outcome.isRefused { return outcome }
            }
            return .refused(error, nil)
        }
        let grown = checked.newColumns.isEmpty ? statements : TableSQL(schema.adding(checked.newColumns), dialect)
        let outcome = write.decide(on: existing, checked, grown.schema, stamp)
        if outcome.isRefused { return outcome }
        try add(checked.newColumns, to: grown)
        try apply(outcome, grown)
        try remember(outcome, of: write)
        return outcome
    }

    /// Inserts a row without looking first whether it is there, which most often it is not. Nil where that can't be done, or
    /// was not: then it must be looked at.
    private func insertNew(_ write: TableWrite, _ statements: TableSQL) throws(StoreFailure) -> WriteOutcome? {
        let schema = statements.schema
        guard case .insert(let item) = write.kind, schema.isOwn else { return nil }
        let checked: CheckedItem
        do throws(Refusal) { checked = try schema.check(item) } catch { return .refused(error, nil) }
        guard checked.newColumns.isEmpty,
            case .inserted(let row) = write.decide(on: nil, checked, schema, stamp)
        else { return nil }
        return try connection.change(statements.insertNew(row, stamp)) == 1 ? .inserted(row) : nil
    }

    /// Keeps what became of an operation, for its repeats.
    private mutating func remember(_ outcome: WriteOutcome, of write: TableWrite) throws(StoreFailure) {
        if let key = write.operation, let kind = OperationMemory.kind(outcome), let row = outcome.row {
            let text = OperationMemory.text(row)
            try connection.run(
                StateSQL.remember(key, time: stamp.time, table: write.table, kind: kind, row: text, dialect))
        }
        hasEffect = true
    }

    private func row(_ write: TableWrite, _ statements: TableSQL) throws(StoreFailure) -> TableRow? {
        var row: TableRow?
        try connection.run(statements.row(id: write.id)) { values in
            row = statements.row(values).row
            return false
        }
        return row
    }

    /// The outcome of an earlier write with the same name.
    private func remembered(_ write: TableWrite) throws(StoreFailure) -> WriteOutcome? {
        guard let key = write.operation, let values = try connection.first(StateSQL.operation(key, dialect), count: 3)
        else { return nil }
        guard let outcome = OperationMemory.outcome(kind: values[1].text, text: values[2].text),
            values[0].text == write.table, write.couldBecome(outcome)
        else {
            return .refused(
                Refusal(422, "operation-id-reused", "Another operation was sent with this operation's id before"), nil)
        }
        return outcome
    }

    private func apply(_ outcome: WriteOutcome, _ statements: TableSQL) throws(StoreFailure) {
        switch outcome {
        case .inserted(let row): try connection.run(statements.insert(row, stamp))
        case .changed(let row), .undeleted(let row): try connection.run(statements.update(row, stamp))
        case .deleted(let row):
            let definition = statements.schema.definition
            if definition.softDelete { return try connection.run(statements.update(row, stamp)) }
            try connection.run(statements.remove(id: row.id))
            var owner: String?
            if let column = definition.perUser, case .string(let text)? = row.columns[column] { owner = text }
            let name = TableRowName(table: definition.name, id: row.id)
            try connection.run(StateSQL.bury(name, owner: owner, stamp, dialect))
        case .refused: break
        }
    }

    private mutating func add(_ columns: [Column], to grown: TableSQL) throws(StoreFailure) {
        guard !columns.isEmpty else { return }
        let schema = grown.schema
        for column in columns {
            let (table, name) = (SQLDialect.quoted(schema.definition.source), SQLDialect.quoted(column.name))
            try connection.execute("ALTER TABLE \(table) ADD COLUMN \(name) \(dialect.type(column.type))")
            try connection.run(StateSQL.add(column, to: schema.name, dialect))
        }
        try connection.execute(#"UPDATE "syncline_state" SET "schema" = "schema" + 1"#)
        catalogue.tables[schema.name] = grown
        catalogue.number += 1
    }
}

extension TableWrite {
    /// The columns that it sets. A patch tells only when it is applied to the row, and then also whether it brings it back.
    fileprivate mutating func item(on row: TableRow?) throws(Refusal) -> Row {
        switch kind {
        case .insert(let item), .update(let item), .replace(let item): return item
        case .delete, .undelete: return .empty
        case .patch(let patch):
            guard let row else { return .empty }
            let patched = try PatchedRow(patch, row)
            if revives != nil { revives = !patched.isDeleted }
            return patched.columns
        }
    }
}

extension TableWrite {
    /// Whether an outcome can be that of this write: the same kind, of the same row.
    fileprivate func couldBecome(_ outcome: WriteOutcome) -> Bool {
        switch (kind, outcome) {
        // An insert without an id has a new one on every repeat.
        case (.insert, .inserted): true
        case (.update, .changed(let row)), (.replace, .changed(let row)), (.patch, .changed(let row)),
            (.delete, .deleted(let row)),
            (.undelete, .undeleted(let row)):
            Array(row.id.utf8) == Array(id.utf8)
        default: false
        }
    }
}
