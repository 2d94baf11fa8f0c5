// The numbers and the time that a transaction took, and the state of the database at that moment.

import SynclineGround
import SynclineTables

struct IssuedNumbers {
    private(set) var time: Int64
    let schema: Int64
    /// The database's state once the transaction is committed.
    private(set) var after: DatabaseState
    private var rest: ArraySlice<Int64>
    private let store: SQLStore

    init(_ count: Int, _ store: SQLStore, _ connection: any SQLConnection) throws(StoreFailure) {
        self.store = store
        // Everything that is known by now was committed before these numbers are taken.
        let known = store.continuity.withLock { $0 }
        let environment = store.environment
        let statement = store.numbers.stamp(
            max(1, count), now: environment.now(), clock: environment.databaseClock, store.dialect)
        guard let values = try connection.first(statement, count: 5) else {
            throw .broken("the server's own table is missing")
        }
        rest = store.numbers.taken(max(1, count), values[0])[...]
        guard let first = rest.first, let last = rest.last else { throw .broken("the database gave no numbers") }
        (time, schema) = (values[1].integer, values[2].integer)
        var state = DatabaseState(
            epoch: values[3].text, change: first - 1,
            origin: DatabaseState.Origin(rawValue: values[4].integer) ?? .other)
        try known.check(state)
        state.change = last
        after = state
    }

    /// The stamp of the next change.
    mutating func next(_ connection: any SQLConnection) throws(StoreFailure) -> Stamp {
        guard let number = rest.popFirst() else { return try fresh(connection) }
        return Stamp(change: number, time: time)
    }

    /// The number of the last of the next changes, if none of them takes a later one.
    func last(of count: Int) -> Int64 { rest.prefix(count).last ?? after.change }

    /// A stamp that is taken now.
    mutating func fresh(_ connection: any SQLConnection) throws(StoreFailure) -> Stamp {
        var new = try IssuedNumbers(1, store, connection)
        let stamp = try new.next(connection)
        (time, after) = (stamp.time, new.after)
        return stamp
    }
}

extension NumberSource {
    /// The numbers that a stamp gave: a line says the last one.
    func taken(_ count: Int, _ value: SQLValue) -> [Int64] {
        if self == .line { return Array((value.integer - Int64(count) + 1)...value.integer) }
        var (numbers, number) = ([] as [Int64], 0 as Int64)
        numbers.reserveCapacity(count)
        for byte in value.text.utf8.dropFirst() {
            // Each number ends with a comma or the bracket.
            if byte &- 0x30 < 10 {
                number = number &* 10 &+ Int64(byte &- 0x30)
            } else {
                numbers.append(number)
                number = 0
            }
        }
        return numbers
    }
}

extension SQLStore {
    /// Locks the rows of writes and their edges.
    func lock(
        _ ids: [String], _ table: String, _ statements: TableSQL, _ connection: any SQLConnection
    ) throws(StoreFailure) {
        if ids.count > 1, statements.mayLock { try connection.run(statements.lock(ids)) }
        _ = try lockEdges(of: ids, table, connection)
    }

    /// Whether rows of a table give rights.
    func hasEdges(_ table: String) -> Bool { currentCatalogue.rights[table]?.steps.isEmpty == false }

    /// Locks the edges of some rows, so that rights by them end after all writes that they permitted. Returns whether there
    /// are some.
    func lockEdges(
        of ids: [String], _ table: String, _ connection: any SQLConnection
    ) throws(StoreFailure) -> Bool {
        guard let steps = currentCatalogue.rights[table]?.steps, !steps.isEmpty, !ids.isEmpty else { return false }
        return try !connection.all(RightsSQL.lock(steps, rows: ids)) { _ in }.isEmpty
    }
}
