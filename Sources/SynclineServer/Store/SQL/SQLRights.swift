// The edges and stays in a database, as rights are computed from them.

import SynclineGround
import SynclineTables

/// The edges that a transaction has read: the writes of a batch, and earlier rules, mostly need the same ones. What these
/// writes change is recorded before anything is read from the database.
final class KnownEdges {
    private struct Key: Hashable {
        let step: RuleEdge
        let from, to: ExactString?

        init(_ step: RuleEdge, _ from: String?, _ to: String?) {
            (self.step, self.from, self.to) = (step, from.map { ExactString($0) }, to.map { ExactString($0) })
        }

        /// The questions of whose answers an edge is a part.
        static func all(_ step: RuleEdge, _ ends: RuleEnds) -> [Key] {
            [
                Key(step, ends.from, ends.to), Key(step, ends.from, nil), Key(step, nil, ends.to), Key(step, nil, nil),
            ]
        }
    }

    private var found: [Key: [RightEdge]] = [:]
    /// What was asked for together with the next statement.
    private var ahead: Set<Key> = []
    private var pending = PendingRights()

    func forget() { found = [:] }

    fileprivate func lookAhead(
        _ step: RuleEdge, from: String, _ statement: SQLStatement, _ connection: any SQLConnection,
        _ schema: @escaping (Int64) -> Void
    ) throws(StoreFailure) {
        let key = Key(step, from, nil)
        (found[key], _) = ([], ahead.insert(key))
        try connection.later(statement) { [self] row in
            schema(row.value(0).integer)
            if row.value(1) != .null { found[key]?.append(RightEdge(row, at: 1)) }
        }
    }

    fileprivate func edges(
        _ step: RuleEdge, _ from: String?, _ to: String?, _ connection: any SQLConnection,
        _ read: () throws(StoreFailure) -> [RightEdge]
    ) throws(StoreFailure) -> [RightEdge] {
        let key = Key(step, from, to)
        if ahead.contains(key) {
            try connection.flush()
            ahead = []
        }
        if let known = found[key] { return known }
        let edges = try read()
        found[key] = edges
        return edges
    }

    fileprivate func note(_ change: RightsChange, of table: String, row id: String, _ stamp: Stamp) {
        for (step, ends) in change.ended {
            for key in Key.all(step, ends) { found[key] = nil }
        }
        for (step, ends) in change.begun {
            let edge = RightEdge(ends, RightInterval(from: stamp, to: nil))
            for key in Key.all(step, ends) { found[key]?.append(edge) }
        }
        pending.note(change, of: table, row: id, stamp)
    }

    /// Records what writes have changed so far.
    func store(_ connection: any SQLConnection, _ dialect: SQLDialect) throws(StoreFailure) {
        try pending.store(connection, dialect)
    }
}

struct SQLRights: RightsSource {
    let connection: any SQLConnection
    let dialect: SQLDialect
    let rights: TableRights
    let table: String
    /// Whether edges are kept as they are until the transaction ends, so that none ends before what it permits is done.
    var locks = false
    var known = KnownEdges()

    func edges(_ step: RuleEdge, from: String, to: String) throws(StoreFailure) -> [RightEdge] {
        try edges(step, from, to)
    }

    func edges(_ step: RuleEdge, from: String) throws(StoreFailure) -> [RightEdge] { try edges(step, from, nil) }

    func edges(_ step: RuleEdge, to: String) throws(StoreFailure) -> [RightEdge] { try edges(step, nil, to) }

    private func edges(_ step: RuleEdge, _ from: String?, _ to: String?) throws(StoreFailure) -> [RightEdge] {
        try known.edges(step, from, to, connection) { () throws(StoreFailure) in
            try known.store(connection, dialect)
            return try connection.all(RightsSQL.edges(step, from: from, to: to, locks: locks)) { RightEdge($0) }
        }
    }

    /// Reads edges from a name together with the next statement, and the number of the columns. They are of this transaction.
    func lookAhead(
        _ step: RuleEdge, from: String, schema: @escaping (Int64) -> Void
    ) throws(StoreFailure) {
        let statement = RightsSQL.edgesAndSchema(step, from: from)
        try known.lookAhead(step, from: from, statement, connection, schema)
    }

    /// The buckets of the table's rules, by their numbers.
    private var buckets: [Int64: RuleBucket] {
        Dictionary(
            rights.terms.map { (RightsSQL.number($0.alternative.bucket, of: table), $0.alternative.bucket) }
        ) { first, _ in first }
    }

    func stays(_ table: String, id: String) throws(StoreFailure) -> [RowStay] {
        try stays(of: [id])[ExactString(id)] ?? []
    }

    /// The stays of some rows, by their ids.
    func stays(of ids: [String]) throws(StoreFailure) -> [ExactString: [RowStay]] {
        let buckets = buckets
        if buckets.isEmpty || ids.isEmpty { return [:] }
        try known.store(connection, dialect)
        var found: [ExactString: [RowStay]] = [:]
        try connection.forEachRow(of: RightsSQL.stays(Array(buckets.keys), ids: ids, dialect)) { row in
            guard let bucket = buckets[row.value(0).integer] else { return }
            var stay = RowStay(bucket, row.value(1).text, RightInterval(row, at: 3))
            stay.endedByDeletion = row.value(7).integer != 0
            found[ExactString(row.value(2).text), default: []].append(stay)
        }
        return found
    }

    /// The buckets in which rows are or were that changed after a number, up to another.
    func touched(
        _ statements: TableSQL, after change: Int64, through last: Int64
    ) throws(StoreFailure) -> Set<NamedBucket> {
        let buckets = buckets
        if buckets.isEmpty { return [] }
        var found: Set<NamedBucket> = []
        for bucket in buckets.values {
            try connection.forEachRow(of: statements.names(of: bucket, after: change, through: last)) { row in
                found.insert(NamedBucket(bucket, ExactString(row.value(0).text)))
            }
        }
        let statement = RightsSQL.left(
            Array(buckets.keys), after: change, by: statements.changedIDs(after: change, through: last))
        try connection.forEachRow(of: statement) { row in
            if let bucket = buckets[row.value(0).integer] {
                found.insert(NamedBucket(bucket, ExactString(row.value(1).text)))
            }
        }
        return found
    }

    /// Notes what a write of a row changed; with that of later writes if there are any.
    func note(_ change: RightsChange, _ id: String, _ stamp: Stamp, withLater: Bool) throws(StoreFailure) {
        known.note(change, of: table, row: id, stamp)
        if !withLater { try known.store(connection, dialect) }
    }
}

extension RightEdge {
    fileprivate init(_ row: any SQLRow, at place: Int = 0) {
        let ends = RuleEnds(from: row.value(place).text, to: row.value(place + 1).text)
        self.init(ends, RightInterval(row, at: place + 2))
    }
}

extension RightInterval {
    /// The interval in four columns of a row.
    init(_ row: any SQLRow, at place: Int) {
        let isOpen = row.value(place + 2) == .null
        self.init(
            from: Stamp(change: row.value(place).integer, time: row.value(place + 1).integer),
            to: isOpen ? nil : Stamp(change: row.value(place + 2).integer, time: row.value(place + 3).integer))
    }
}
