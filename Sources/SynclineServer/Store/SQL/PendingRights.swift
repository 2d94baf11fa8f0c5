// The changes of rights that a transaction has not recorded yet: PostgreSQL takes those of many writes together.

import SynclineGround
import SynclineTables

struct PendingRights {
    private var stays = PendingTimes()
    private var edges = PendingTimes()

    mutating func note(_ change: RightsChange, of table: String, row id: String, _ stamp: Stamp) {
        for (step, _) in change.ended { edges.end(RightsSQL.number(step), id, stamp) }
        for (step, ends) in change.begun { begin(step, ends, row: id, stamp) }
        for bucket in change.left {
            stays.end(RightsSQL.number(bucket, of: table), id, stamp, byDeletion: change.isDeletion)
        }
        for (bucket, name) in change.entered { enter(bucket, of: table, name, row: id, stamp) }
    }

    mutating func begin(_ step: RuleEdge, _ ends: RuleEnds, row id: String, _ stamp: Stamp) {
        edges.begin(RightTime(group: RightsSQL.number(step), row: id, name: ends.from, other: ends.to, begin: stamp))
    }

    mutating func enter(_ bucket: RuleBucket, of table: String, _ name: String, row id: String, _ stamp: Stamp) {
        stays.begin(RightTime(group: RightsSQL.number(bucket, of: table), row: id, name: name, begin: stamp))
    }

    mutating func store(_ connection: any SQLConnection, _ dialect: SQLDialect) throws(StoreFailure) {
        if edges.isEmpty, stays.isEmpty { return }
        if !edges.ended.isEmpty { try run(RightsSQL.endEdges, edges.ended, connection, dialect) }
        if !edges.begun.isEmpty { try run(RightsSQL.beginEdges, edges.begun, connection, dialect) }
        if !stays.ended.isEmpty { try run(RightsSQL.endStays, stays.ended, connection, dialect) }
        if !stays.begun.isEmpty { try run(RightsSQL.beginStays, stays.begun, connection, dialect) }
        (stays, edges) = (PendingTimes(), PendingTimes())
    }

    private func run<Change>(
        _ statement: (ArraySlice<Change>, SQLDialect) -> SQLStatement, _ changes: [Change],
        _ connection: any SQLConnection, _ dialect: SQLDialect
    ) throws(StoreFailure) {
        if dialect == .postgres { return try connection.later(statement(changes[...], dialect)) }
        for place in changes.indices { try connection.run(statement(changes[place...place], dialect)) }
    }
}

/// A time in which a row was in a bucket, or made a step: `group` is the number of either.
struct RightTime {
    var group: Int64
    var row: String
    /// The name of the bucket, or that from which the step leads.
    var name: String
    /// The name to which it leads.
    var other = ""
    var begin: Stamp
    var end: Stamp?
    var endedByDeletion = false
}

/// The end of a time that is recorded.
struct RightEnd {
    var group: Int64
    var row: String
    var stamp: Stamp
    var byDeletion: Bool
}

/// The times that began, and those that ended, in one table. One that does both is in `begun`.
private struct PendingTimes {
    private struct Key: Hashable {
        let group: Int64
        let row: ExactString
    }

    private(set) var begun: [RightTime] = []
    private(set) var ended: [RightEnd] = []
    /// Those of `begun` that last.
    private var open: [Key: Int] = [:]

    var isEmpty: Bool { begun.isEmpty && ended.isEmpty }

    mutating func begin(_ time: RightTime) {
        open[Key(group: time.group, row: ExactString(time.row))] = begun.count
        begun.append(time)
    }

    mutating func end(_ group: Int64, _ row: String, _ stamp: Stamp, byDeletion: Bool = false) {
        guard let place = open.removeValue(forKey: Key(group: group, row: ExactString(row))) else {
            return ended.append(RightEnd(group: group, row: row, stamp: stamp, byDeletion: byDeletion))
        }
        (begun[place].end, begun[place].endedByDeletion) = (stamp, byDeletion)
    }
}
