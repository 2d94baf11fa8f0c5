// The store over either database: reads run at once, writes in the order of changes. Any process may add columns to the
// catalogue; every row is read together with the catalogue's number, so that a stale catalogue is noticed.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

final class SQLStore: TableStore {
    let database: any SQLDatabase
    let environment: any ServerEnvironment
    let dialect: SQLDialect
    let limits: RowLimits
    let queue: WriteQueue
    let counts = StoreMeasures()
    let ticks = TickQueue()
    let callers = KnownCallers()
    let replicas: Replicas
    /// For each table, the time before which its tombstones were purged.
    let purges = Mutex<[String: Int64]>([:])
    private let listener = Mutex(Listener())
    /// Told what an operator should know.
    let note: @Sendable (String) -> Void
    /// Where the database's numbers come from.
    let numbers: NumberSource
    /// The part of the history known to be committed.
    let continuity = Mutex(Continuity())
    let definitions: [TableDefinition]
    private let published: SharedReading<Published>

    /// A lock that holds a closure itself would wrap it once more with each use.
    private struct Listener {
        var call: (@Sendable () -> Void)?
    }

    /// The current catalogue: readers copy a reference.
    private final class Published: Sendable {
        let catalogue: StoreCatalogue

        init(_ catalogue: StoreCatalogue) { self.catalogue = catalogue }
    }

    /// Creates missing tables and learns the columns of existing ones.
    /// - Parameters:
    ///   - checksRows: Whether tables with rows that can't reach a client are refused.
    ///   - numbers: Where the numbers come from; nil: as the database has it.
    ///   - replicas: Streaming replicas, which may answer reads of changes.
    init(
        _ database: any SQLDatabase, _ definitions: [TableDefinition], _ environment: any ServerEnvironment,
        limits: RowLimits = .init(), renewsEpoch: Bool = false, checksRows: Bool = true,
        numbers: NumberSource? = nil, replicas: [Replica] = [],
        note: @escaping @Sendable (String) -> Void = { Diagnostics.note($0) }
    ) throws(StoreFailure) {
        self.database = database
        self.replicas = Replicas(replicas)
        (self.limits, self.note) = (limits, note)
        self.environment = environment
        self.definitions = definitions
        dialect = database.dialect
        let installer = try database.read { connection throws(StoreFailure) in
            var installer = SchemaInstaller(definitions: definitions, dialect: database.dialect, note: note)
            try installer.find(numbers, on: connection, mayChange: renewsEpoch)
            return installer
        }
        self.numbers = installer.numbers
        queue = WriteQueue(leaders: installer.numbers == .ticks ? database.writesAtATime : 1)
        let built = try installer.install(in: database, epoch: environment.newEpoch(), renewsEpoch: renewsEpoch)
        if checksRows {
            let findings = try database.read { connection throws(StoreFailure) in
                try installer.faultsOfRows(built, connection)
            }
            try StoreFailure.check(findings)
            for finding in findings { note(finding.text) }
        }
        if self.numbers == .ticks {
            let facts = try database.read { connection throws(StoreFailure) in try connection.facts() }
            for finding in facts.warnings where finding.code == "prepared-transactions" {
                note(finding.text)
            }
        }
        // A store for one of several tables leaves the rules as they are.
        let rules = RightsInstaller(definitions: definitions, dialect: database.dialect, numbers: self.numbers)
        let served = try rules.catalogue(database, built, environment, installs: checksRows)
        published = SharedReading(Published(served))
        for text in built.notes(since: StoreCatalogue(tables: [:], number: 0, epoch: built.epoch)) {
            note(text)
        }
    }

    func check() throws(StoreFailure) {
        do throws(StoreFailure) {
            try database.check()
        } catch {
            // Replicas answer without the primary.
            for replica in replicas.all where (try? replica.check()) != nil { return }
            throw error
        }
    }

    func checkWrites() throws(StoreFailure) { try database.checkWrites() }

    /// Interrupts waits for the database.
    func interrupt() {
        database.interrupt()
        for replica in replicas.all { replica.interrupt() }
    }

    /// Closes the connections that were not needed since the last call.
    func rest() {
        database.rest()
        for replica in replicas.all { replica.rest() }
    }

    /// Hears of the changes of all processes if its numbers come from ticks.
    func listen(_ body: (@Sendable () -> Void)?) {
        listener.withLock { $0.call = body }
        guard numbers == .ticks else { return }
        database.listen(
            to: NumberSource.channel,
            body.map { [ticks] body in { @Sendable ticked in if !ticks.hasSeen(ticked) { body() } } })
    }

    /// Tells the listener that readers may see more changes.
    func tellListener() { listener.withLock { $0.call }?() }

    func close() {
        listener.withLock { $0.call = nil }
        ticks.end()
        database.close()
        for replica in replicas.all { replica.close() }
    }

    /// Its own metrics.
    var measures: [Measure] {
        let pools = database.pools + replicas.all.flatMap(\.pools)
        return counts.list(waiting: queue.waiting, pools, ticks.hold) + replicas.measures
    }
    var epoch: String { inForce.catalogue.epoch }

    /// A database in the same process is read at once.
    var findsRowsAtOnce: Bool { dialect == .sqlite }

    func schema(_ table: String) -> ServedTable? { inForce.catalogue.tables[table]?.schema }

    private var inForce: Published { published.value }

    var currentCatalogue: StoreCatalogue { inForce.catalogue }

    func publish(_ new: StoreCatalogue) {
        let new = Published(new)
        published.change { current in
            if new.catalogue.number >= current.catalogue.number { current = new }
        }
    }

    /// Learns of columns that other processes created, and of manual changes to tables, which are logged.
    func refresh(_ connection: any SQLConnection) throws(StoreFailure) {
        let (old, new) = (currentCatalogue, try catalogue(connection))
        publish(new)
        for text in new.notes(since: old) { note(text) }
    }

    private func catalogue(_ connection: any SQLConnection) throws(StoreFailure) -> StoreCatalogue {
        let catalogue = try SchemaInstaller.catalogue(connection, definitions, dialect)
        let rules = RightsInstaller(definitions: definitions, dialect: dialect, numbers: numbers)
        return try rules.complete(catalogue, connection)
    }

    /// Reads the tables' structure again.
    func look() throws(StoreFailure) {
        try database.read { connection throws(StoreFailure) in try refresh(connection) }
    }

    /// The failure for a configured table that can't be used.
    func tableChanged(_ table: String) -> StoreFailure {
        .changed("table \(table) was changed")
    }

    // MARK: Reading

    /// Repeats a read with the current columns if a row shows that there are new ones, or if the table was changed by
    /// hand.
    func current<Result>(
        _ table: String, _ connection: any SQLConnection,
        _ body: (TableSQL, inout Int64) throws(StoreFailure) -> Result
    ) throws(StoreFailure) -> Result {
        var hasLooked = false
        while true {
            let now = inForce
            let known = now.catalogue.number
            var seen = known
            do throws(StoreFailure) {
                guard let statements = now.catalogue.tables[table] else { throw tableChanged(table) }
                let result = try body(statements, &seen)
                if seen <= known { return result }
            } catch {
                guard case .changed = error, !hasLooked else { throw told(error, table) }
                hasLooked = true
            }
            try refresh(connection)
        }
    }

    /// The failure to report after another look at the table.
    func told(_ failure: StoreFailure, _ table: String) -> StoreFailure {
        guard case .changed(let reason) = failure else { return failure }
        if schema(table) != nil { return .broken(reason) }
        return .refused(
            Refusal(503, "table-changed", "The database's table does not match the server's; see the server's log"))
    }

    func list(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome {
        try ticking { wanted throws(StoreFailure) in
            try database.read { connection throws(StoreFailure) in
                try learn(plan, connection)
                return try current(plan.table, connection) { statements, number throws(StoreFailure) in
                    if statements.schema.definition.rules.read != nil {
                        return try ruledList(plan, statements, connection, &number, wanted)
                    }
                    return try closed(plan, connection, wanted).map { plan throws(StoreFailure) in
                        try plainList(plan, statements, connection, &number)
                    }
                }
            }
        }
    }

    /// A list of rows as they are.
    func plainList(
        _ plan: ListPlan, _ statements: TableSQL, _ connection: any SQLConnection, _ number: inout Int64
    ) throws(StoreFailure) -> ListOutcome {
        let filter = plan.filter.map { FilterSQL($0, statements.schema, dialect) }
        if let filter, !filter.isExact {
            return try evaluated(plan, filter, statements, connection, &number)
        }
        return try selected(plan, filter, statements, connection, &number)
    }

    /// A list whose filter and window the database evaluates.
    private func selected(
        _ plan: ListPlan, _ filter: FilterSQL?, _ statements: TableSQL, _ connection: any SQLConnection,
        _ number: inout Int64
    ) throws(StoreFailure) -> ListOutcome {
        var outcome = ListOutcome()
        var seen = number
        if plan.counts, let found = try connection.first(statements.count(plan, filter), count: 2) {
            (seen, outcome.count) = (max(seen, found[0].integer), Int(found[1].integer))
        }
        // One more row than wanted shows whether there are more.
        var wider = plan
        wider.limit += 1
        var room = AnswerBudget(limits.answerBytes)
        try connection.run(statements.list(wider, filter)) { values in
            let row = statements.row(values)
            seen = max(seen, statements.catalogue(values))
            outcome.add(row, plan.limit, &room)
            return !outcome.hasMore
        }
        number = seen
        return outcome
    }

    /// A list for which the database only preselects rows for the evaluator.
    private func evaluated(
        _ plan: ListPlan, _ filter: FilterSQL, _ statements: TableSQL, _ connection: any SQLConnection,
        _ number: inout Int64
    ) throws(StoreFailure) -> ListOutcome {
        var outcome = ListOutcome()
        if plan.counts, plan.after != nil {
            // All rows are counted, including those before the page's place.
            var whole = plan
            (whole.after, whole.limit) = (nil, 0)
            outcome.count = try evaluated(whole, filter, statements, connection, &number).count
        }
        let counts = plan.counts && plan.after == nil
        let work = FilterWork(statements.schema, within: WorkLimit.current)
        var seen = number
        var matches = 0
        var room = AnswerBudget(limits.answerBytes)
        try connection.run(statements.list(plan, filter)) { values in
            let row = statements.row(values)
            seen = max(seen, statements.catalogue(values))
            guard filter.filter.matches(row, work) else { return work.failure == nil }
            matches += 1
            if matches <= plan.skip { return true }
            outcome.add(row, plan.limit, &room)
            return counts || !outcome.hasMore
        }
        try work.check(within: WorkLimit.current)
        number = seen
        if counts { outcome.count = matches }
        return outcome
    }

    /// Another process may have created a column that is unknown here.
    private func learn(_ plan: ListPlan, _ connection: any SQLConnection) throws(StoreFailure) {
        guard let schema = schema(plan.table), schema.definition.dynamicSchema else { return }
        let named = (plan.filter?.columns ?? []).union(plan.order.map(\.column).exact)
        let isKnown = named.allSatisfy {
            schema.place(ofAnyCase: $0.text) != nil || SystemColumn(anyCase: $0.text) != nil
        }
        guard !isKnown, let number = try connection.first(StateSQL.schema, count: 1) else { return }
        if number[0].integer > currentCatalogue.number { try refresh(connection) }
    }

    func mark() throws(StoreFailure) -> ChangeMark {
        try continuing { known throws(StoreFailure) in
            try ticking { wanted throws(StoreFailure) in
                try database.read { connection throws(StoreFailure) in try mark(connection, known, wanted) }
            }
        }
    }

    private func mark(
        _ connection: any SQLConnection, _ known: Continuity, _ wanted: Int64?
    ) throws(StoreFailure) -> TickedReading<ChangeMark> {
        let state = try learnState(connection, known)
        return state.late(for: wanted).map { .late($0) } ?? .done(state.mark)
    }

    /// Reads the database's state, and takes note of it.
    func learnState(_ connection: any SQLConnection, _ known: Continuity) throws(StoreFailure) -> DatabaseState {
        let state = try connection.state(numbers, dialect)
        try known.check(state)
        if state.epoch != epoch { try refresh(connection) }
        noteCommitted(state)
        replicas.choice.withLock { $0.notePrimary(state.change, state.epoch, now: .present) }
        return state
    }

    func changes(_ plan: ChangePlan) throws(StoreFailure) -> ChangeOutcome {
        if let outcome = try changesOfReplica(plan) { return outcome }
        return try continuing { known throws(StoreFailure) in
            try ticking { wanted throws(StoreFailure) in
                try database.read { connection throws(StoreFailure) in
                    try current(plan.table, connection) { statements, number throws(StoreFailure) in
                        try page(plan, statements, connection, &number) { () throws(StoreFailure) in
                            try mark(connection, known, wanted)
                        }
                    }
                }
            }
        }
    }

    /// A page of changes and the mark that the body reads, from one moment.
    func page(
        _ plan: ChangePlan, _ statements: TableSQL, _ connection: any SQLConnection, _ number: inout Int64,
        _ mark: () throws(StoreFailure) -> TickedReading<ChangeMark>
    ) throws(StoreFailure) -> TickedReading<ChangeOutcome> {
        if statements.schema.definition.rules.read != nil {
            return try ruled(statements, plan.subject, connection, &number) { read throws(StoreFailure) in
                try read.lookAhead(RightsWindow(plan), withDepartures: plan.since > 0)
                return try mark().map { mark throws(StoreFailure) in
                    try outcome(of: plan, mark) { plan throws(StoreFailure) in try read.changes(plan, mark) }
                }
            }
        }
        return try connection.reading(dialect) { () throws(StoreFailure) in
            try mark().map { mark throws(StoreFailure) in
                try outcome(of: plan, mark) { plan throws(StoreFailure) in
                    try changes(plan, mark, statements, connection, &number)
                }
            }
        }
    }

    /// What the body reads up to a mark. Numbers beyond it are not the server's: once it issues them, the rows are in order.
    private func outcome(
        of plan: ChangePlan, _ mark: ChangeMark, _ read: (ChangePlan) throws(StoreFailure) -> ChangeOutcome
    ) throws(StoreFailure) -> ChangeOutcome {
        let plan = plan.through(mark.change)
        return plan.isOver ? ChangeOutcome(count: plan.counts ? 0 : nil, mark) : try read(plan)
    }

    private func changes(
        _ plan: ChangePlan, _ mark: ChangeMark, _ statements: TableSQL, _ connection: any SQLConnection,
        _ number: inout Int64
    ) throws(StoreFailure) -> ChangeOutcome {
        let count = plan.counts ? try self.count(plan, statements, connection) : nil
        var outcome = ChangeOutcome(count: count, mark)
        let mayShareNumber = !statements.schema.isOwn
        let filter = plan.filter?.asServerReads(statements.schema)
        let work = FilterWork(statements.schema, within: WorkLimit.current)
        var wider = plan
        wider.limit += 1
        var tombstones = try self.tombstones(wider, statements, connection)[...]
        var seen = number
        var room = AnswerBudget(limits.answerBytes)
        // After the queries about the transaction: once the read is stopped while rows arrive, the connection can run
        // no more queries.
        try connection.run(statements.changes(wider)) { values in
            let row = statements.row(values)
            seen = max(seen, statements.catalogue(values))
            let change = values.value(4).integer
            while let tombstone = tombstones.first, tombstone.number < change {
                outcome.add(tombstone, plan.limit, &room)
                tombstones.removeFirst()
            }
            let isInView = filter?.matches(row, work) ?? true
            let told = TableChange(
                number: change, row: isInView ? row : row.bare, isInView: isInView, mayShareNumber: mayShareNumber)
            outcome.add(told, plan.limit, &room)
            return work.failure == nil && (!outcome.hasMore || outcome.changes.count == plan.limit)
        }
        try work.check(within: WorkLimit.current)
        for tombstone in tombstones { outcome.add(tombstone, plan.limit, &room) }
        number = seen
        return outcome
    }

    /// The permanently deleted rows.
    private func tombstones(
        _ plan: ChangePlan, _ statements: TableSQL, _ connection: any SQLConnection
    ) throws(StoreFailure) -> [TableChange] {
        if statements.schema.definition.softDelete { return [] }
        return try connection.all(StateSQL.tombstones(plan, statements)) { values in
            let change = values.value(1).integer
            let time = Stamp(change: change, time: values.value(2).integer).instant
            let row = TableRow(
                id: values.value(0).text, columns: .empty, createdAt: time, updatedAt: time,
                version: RowVersion.text(change), isDeleted: true)
            return TableChange(number: change, row: row, isInView: true)
        }
    }

    private func count(
        _ plan: ChangePlan, _ statements: TableSQL, _ connection: any SQLConnection
    ) throws(StoreFailure) -> Int {
        var count = try connection.first(statements.changeCount(plan), count: 1)?[0].integer ?? 0
        let definition = statements.schema.definition
        if !definition.softDelete {
            let tombstones = StateSQL.tombstoneCount(plan, statements)
            count += try connection.first(tombstones, count: 1)?[0].integer ?? 0
        }
        return Int(count)
    }

    // MARK: Keeping

    func drop(_ column: String, of table: TableDefinition) throws(StoreFailure) {
        let installer = SchemaInstaller(definitions: definitions, dialect: dialect)
        try database.write { connection throws(StoreFailure) in try installer.drop(column, of: table, connection) }
    }
}
