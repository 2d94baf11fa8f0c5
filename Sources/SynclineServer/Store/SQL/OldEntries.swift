// The entries that the server forgets after some time in one of its own tables, with the statements that find and remove
// them.

import SynclineTables

struct OldEntries {
    /// What says that something was or ended: a purge of it is recorded.
    static let ends = [
        OldEntries(table: "syncline_tombstones", time: "time", change: "change"),
        OldEntries(table: "syncline_edges", time: "endTime", change: "end"),
        OldEntries(
            table: "syncline_stays", time: "leftTime", change: "left",
            key: ["bucket", "id", "name", "entered"]),
        OldEntries(table: "syncline_rules", time: "endTime", change: "end"),
    ]
    static let operations = OldEntries(table: "syncline_operations", time: "time", change: nil)

    var table: String
    /// The column by whose index they are found.
    var time: String
    /// The column of the number that a purge records.
    var change: String?
    /// Its key in SQLite.
    var key = ["rowid"]

    /// Selects the size of a portion of the oldest ones before a time, and the last time and number in it.
    func portion(before limit: Int64) -> SQLStatement {
        let number = change.map { "\"\($0)\"" } ?? "0"
        return """
            SELECT count(*), max("old"."time"), max("old"."number") FROM \
            (SELECT "\(time)" AS "time", \(number) AS "number" FROM "\(table)" WHERE "\(time)" < \(.integer(limit)) \
            ORDER BY "\(time)" LIMIT \(String(StateSQL.portion))) AS "old"
            """
    }

    /// Removes a portion. One change may have ended more: the rest of them is another portion.
    func forget(through end: Stamp, _ dialect: SQLDialect) -> SQLStatement {
        var condition: SQLText = "\"\(time)\" <= \(.integer(end.time))"
        if let change { condition = "\(condition) AND \"\(change)\" <= \(.integer(end.change))" }
        let key = dialect == .sqlite ? key.map(SQLDialect.quoted).joined(separator: ", ") : "ctid"
        let keys: SQLText = """
            SELECT \(key) FROM "\(table)" WHERE \(condition) ORDER BY "\(time)" LIMIT \(String(StateSQL.portion))
            """
        // An entry that another transaction has just changed is judged by the condition, whatever became of its place.
        return dialect == .sqlite
            ? "DELETE FROM \"\(table)\" WHERE (\(key)) IN (\(keys))"
            : "DELETE FROM \"\(table)\" WHERE ctid = ANY (ARRAY(\(keys))) AND \(condition)"
    }
}
