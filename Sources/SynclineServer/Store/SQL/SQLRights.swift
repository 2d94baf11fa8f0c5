// The edges and stays in a database, as rights are computed from them.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

/// The edges that a transaction has read: the writes of a batch, and earlier rules, mostly need the same ones.
final class KnownEdges {
    fileprivate struct Key: Hashable {
        var step: RuleEdge
        var from: ExactString?
        var to: ExactString?
    }

    fileprivate var found: [Key: [RightEdge]] = [:]

    func forget() { found = [:] }
}

struct SQLRights: RightsSource {
    let connection: any SQLConnection
    let dialect: SQLDialect
    let rights: TableRights
    let table: String
    /// Whether edges are kept as they are until the transaction ends, so that none ends before what it permits is done.
    var locks = false
    var known: KnownEdges?

    func edges(_ step: RuleEdge, from: String, to: String) throws(StoreFailure) -> [RightEdge] {
        try edges(step, from, to)
    }

    func edges(_ step: RuleEdge, from: String) throws(StoreFailure) -> [RightEdge] { try edges(step, from, nil) }

    func edges(_ step: RuleEdge, to: String) throws(StoreFailure) -> [RightEdge] { try edges(step, nil, to) }

    private func edges(_ step: RuleEdge, _ from: String?, _ to: String?) throws(StoreFailure) -> [RightEdge] {
        let key = KnownEdges.Key(step: step, from: from.map { ExactString($0) }, to: to.map { ExactString($0) })
        if let found = known?.found[key] { return found }
        var found: [RightEdge] = []
        try connection.run(RightsSQL.edges(step, from: from, to: to, locks: locks, dialect)) { row in
            found.append(
                RightEdge(RuleEnds(from: row.value(0).text, to: row.value(1).text), RightInterval(row, at: 2)))
            return true
        }
        known?.found[key] = found
        return found
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
        var found: [ExactString: [RowStay]] = [:]
        try connection.run(RightsSQL.stays(Array(buckets.keys), ids: ids, dialect)) { row in
            guard let bucket = buckets[row.value(0).integer] else { return true }
            var stay = RowStay(bucket, row.value(1).text, RightInterval(row, at: 3))
            stay.endedByDeletion = row.value(7).integer != 0
            found[ExactString(row.value(2).text), default: []].append(stay)
            return true
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
            try connection.run(statements.names(of: bucket, after: change, through: last)) { row in
                found.insert(NamedBucket(bucket, ExactString(row.value(0).text)))
                return true
            }
        }
        let statement = RightsSQL.left(
            Array(buckets.keys), after: change, by: statements.changedIDs(after: change, through: last), dialect)
        try connection.run(statement) { row in
            if let bucket = buckets[row.value(0).integer] {
                found.insert(NamedBucket(bucket, ExactString(row.value(1).text)))
            }
            return true
        }
        return found
    }

    /// Records what a write of a row changed.
    func note(_ change: RightsChange, _ id: String, _ stamp: Stamp) throws(StoreFailure) {
        if !change.ended.isEmpty || !change.begun.isEmpty { known?.forget() }
        for step in change.ended { try connection.run(RightsSQL.end(step, row: id, stamp, dialect)) }
        for (step, ends) in change.begun {
            try connection.run(RightsSQL.begin(step, ends, row: id, stamp, dialect))
        }
        for bucket in change.left {
            let number = RightsSQL.number(bucket, of: table)
            try connection.run(RightsSQL.leave(number, id: id, byDeletion: change.isDeletion, stamp, dialect))
        }
        for (bucket, name) in change.entered {
            try connection.run(RightsSQL.enter(RightsSQL.number(bucket, of: table), name, id: id, stamp, dialect))
        }
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
