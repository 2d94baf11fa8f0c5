// The statements about the rights of rows: the times in which rows were in buckets, and in which rows of other tables led
// from one name to another.

import SynclineCore
import SynclineGround
import SynclineTables

enum RightsSQL {
    static let tables = ["syncline_edges", "syncline_stays", "syncline_rules"]

    static func create(_ dialect: SQLDialect) -> [String] {
        let (big, text) = (dialect.bigInteger, dialect.type(.string))
        return [
            """
            CREATE TABLE IF NOT EXISTS "syncline_edges" ("step" \(big) NOT NULL, "row" \(text) NOT NULL, \
            "from" \(text) NOT NULL, "to" \(text) NOT NULL, "begin" \(big) NOT NULL, "beginTime" \(big) NOT NULL, \
            "end" \(big), "endTime" \(big))
            """,
            #"CREATE INDEX IF NOT EXISTS "syncline_edges_from" ON "syncline_edges" ("step", "from", "to")"#,
            #"CREATE INDEX IF NOT EXISTS "syncline_edges_to" ON "syncline_edges" ("step", "to")"#,
            #"CREATE INDEX IF NOT EXISTS "syncline_edges_row" ON "syncline_edges" ("step", "row") WHERE "end" IS NULL"#,
            """
            CREATE TABLE IF NOT EXISTS "syncline_stays" ("bucket" \(big) NOT NULL, "name" \(text) NOT NULL, \
            "id" \(text) NOT NULL, "touched" \(big) NOT NULL, "touchedTime" \(big) NOT NULL, \
            "entered" \(big) NOT NULL, "enteredTime" \(big) NOT NULL, "left" \(big), "leftTime" \(big), \
            "byDeletion" \(big) NOT NULL)
            """,
            #"CREATE INDEX IF NOT EXISTS "syncline_stays_id" ON "syncline_stays" ("bucket", "id")"#,
            #"CREATE INDEX IF NOT EXISTS "syncline_stays_name" ON "syncline_stays" ("bucket", "name", "id")"#,
            index(.touched, of: .number, isOpen: true), index(.touched, of: .time, isOpen: true),
            index(.left, of: .number, isOpen: false), index(.left, of: .time, isOpen: false),
            """
            CREATE TABLE IF NOT EXISTS "syncline_rules" ("table" \(text) NOT NULL, "rule" \(text) NOT NULL, \
            "begin" \(big) NOT NULL, "beginTime" \(big) NOT NULL, "end" \(big), "endTime" \(big))
            """,
        ]
    }

    /// The order in which stays are read.
    enum Axis {
        case number, time

        func value(of stamp: Stamp) -> Int64 { self == .number ? stamp.change : stamp.time }

        fileprivate func column(_ moment: Moment) -> String {
            "\"\(moment.rawValue)\(self == .number ? "" : "Time")\""
        }
    }

    fileprivate enum Moment: String {
        case touched, left
    }

    private static func index(_ moment: Moment, of axis: Axis, isOpen: Bool) -> String {
        """
        CREATE INDEX IF NOT EXISTS "syncline_stays_\(moment.rawValue)_\(axis)" ON "syncline_stays" \
        ("bucket", "name", \(axis.column(moment)), "id") WHERE "left" IS \(isOpen ? "NULL" : "NOT NULL")
        """
    }

    /// The number of a bucket: rules that say the same of a table have the same ones.
    static func number(_ bucket: RuleBucket, of table: String) -> Int64 {
        Int64(bitPattern: hash64(of: "\(table)\n\(bucket.text)"))
    }

    static func number(_ step: RuleEdge) -> Int64 { Int64(bitPattern: hash64(of: step.text)) }

    // MARK: Edges

    static func edges(
        _ step: RuleEdge, from: String?, to: String?, locks: Bool, _ dialect: SQLDialect
    ) -> SQLStatement {
        var conditions: [SQLText] = [#""step" = \#(.integer(number(step)))"#]
        if let from { conditions.append(#""from" = \#(.text(from))"#) }
        if let to { conditions.append(#""to" = \#(.text(to))"#) }
        return SQLStatement(
            dialect,
            """
            SELECT "from", "to", "begin", "beginTime", "end", "endTime" FROM "syncline_edges" \
            WHERE \(conditions, separator: " AND ")\(locks ? " FOR SHARE" : "")
            """)
    }

    /// Waits for the writes that edges of some rows permit, and for no later ones.
    static func lock(_ steps: [RuleEdge], rows: [String], _ dialect: SQLDialect) -> SQLStatement {
        let numbers = steps.map { "\(.integer(number($0)))" as SQLText }
        return SQLStatement(
            dialect,
            """
            SELECT 1 FROM "syncline_edges" WHERE "step" IN (\(numbers, separator: ", ")) \
            AND "row" = ANY (\(untyped: .text(SQLDialect.list(rows)))) AND "end" IS NULL \
            ORDER BY "step", "row" FOR NO KEY UPDATE
            """)
    }

    static func begin(_ step: RuleEdge, _ ends: RuleEnds, row: String, _ stamp: Stamp, _ dialect: SQLDialect)
        -> SQLStatement
    {
        SQLStatement(
            dialect,
            """
            INSERT INTO "syncline_edges" VALUES (\(.integer(number(step))), \(.text(row)), \(.text(ends.from)), \
            \(.text(ends.to)), \(.integer(stamp.change)), \(.integer(stamp.time)), NULL, NULL)
            """)
    }

    /// - Parameter row: Nil for all rows.
    static func end(_ step: RuleEdge, row: String?, _ stamp: Stamp, _ dialect: SQLDialect) -> SQLStatement {
        let condition: SQLText = row.map { #" AND "row" = \#(.text($0))"# } ?? ""
        return SQLStatement(
            dialect,
            """
            UPDATE "syncline_edges" SET "end" = \(.integer(stamp.change)), "endTime" = \(.integer(stamp.time)) \
            WHERE "step" = \(.integer(number(step)))\(condition) AND "end" IS NULL
            """)
    }

    // MARK: Stays

    private static let stay =
        """
        "bucket", "name", "id", "touched", "touchedTime", "entered", "enteredTime", "left", "leftTime", "byDeletion"
        """

    static func stays(_ buckets: [Int64], ids: [String], _ dialect: SQLDialect) -> SQLStatement {
        let numbers = buckets.map { "\(.integer($0))" as SQLText }
        return SQLStatement(
            dialect,
            """
            SELECT \(stay) FROM "syncline_stays" WHERE "bucket" IN (\(numbers, separator: ", ")) \
            AND \(dialect.isAmong(ids, #""id""#))
            """)
    }

    /// The buckets of some rows after a number, and those that they left since.
    static func touched(
        _ buckets: [Int64], after change: Int64, by ids: SQLText, _ dialect: SQLDialect
    ) -> SQLStatement {
        let numbers = buckets.map { "\(.integer($0))" as SQLText }
        return SQLStatement(
            dialect,
            """
            SELECT DISTINCT "bucket", "name" FROM "syncline_stays" WHERE "bucket" IN (\(numbers, separator: ", ")) \
            AND "id" IN (\(ids)) AND ("left" IS NULL OR "left" > \(.integer(change)))
            """)
    }

    /// - Parameters:
    ///   - stamp: When the stay begins.
    ///   - time: When the row was last changed.
    static func enter(
        _ bucket: Int64, _ name: String, id: String, _ stamp: Stamp, changedAt time: Int64, _ dialect: SQLDialect
    ) -> SQLStatement {
        SQLStatement(
            dialect,
            """
            INSERT INTO "syncline_stays" VALUES (\(.integer(bucket)), \(.text(name)), \(.text(id)), \
            \(.integer(stamp.change)), \(.integer(max(stamp.time, time))), \(.integer(stamp.change)), \
            \(.integer(stamp.time)), NULL, NULL, 0)
            """)
    }

    /// - Parameter id: Nil for all rows.
    static func leave(
        _ bucket: Int64, id: String?, byDeletion: Bool, _ stamp: Stamp, _ dialect: SQLDialect
    ) -> SQLStatement {
        let condition: SQLText = id.map { #" AND "id" = \#(.text($0))"# } ?? ""
        return SQLStatement(
            dialect,
            """
            UPDATE "syncline_stays" SET "left" = \(.integer(stamp.change)), "leftTime" = \(.integer(stamp.time)), \
            "byDeletion" = \(.integer(byDeletion ? 1 : 0)) \
            WHERE "bucket" = \(.integer(bucket))\(condition) AND "left" IS NULL
            """)
    }

    /// In a group, the row may have entered at a later number.
    static func touch(_ bucket: Int64, id: String, _ stamp: Stamp, _ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(
            dialect,
            """
            UPDATE "syncline_stays" SET "touched" = \(dialect.larger)("touched", \(.integer(stamp.change))), \
            "touchedTime" = \(dialect.larger)("enteredTime", \(.integer(stamp.time))) \
            WHERE "bucket" = \(.integer(bucket)) AND "id" = \(.text(id)) AND "left" IS NULL
            """)
    }

    /// The places after which stays are wanted, and at most how many.
    struct Window {
        var axis: Axis
        var since: Int64
        var sinceID: String?
        var until: Int64 = .max
        var limit: Int

        fileprivate func condition(_ moment: Moment) -> SQLText {
            let column = axis.column(moment)
            let after: SQLText =
                sinceID.map { "(\(column), \"id\") > (\(.integer(since)), \(.text($0)))" }
                ?? "\(column) > \(.integer(since))"
            return "\(after) AND \(column) <= \(.integer(until))"
        }

        /// Whether a place is in it.
        func has(_ place: Int64) -> Bool {
            place <= until && (place > since || place == since && sinceID != nil)
        }
    }

    /// Those of some names of a bucket where something happened since a window begins.
    static func active(_ names: [String], of bucket: Int64, _ window: Window, _ dialect: SQLDialect) -> SQLStatement {
        func happened(_ moment: Moment, isOpen: Bool) -> SQLText {
            """
            EXISTS (SELECT 1 FROM "syncline_stays" WHERE "bucket" = \(.integer(bucket)) AND "name" = "value" \
            AND "left" IS \(isOpen ? "NULL" : "NOT NULL") AND \(window.axis.column(moment)) >= \(.integer(window.since)))
            """
        }
        return SQLStatement(
            dialect,
            """
            SELECT "value" FROM \(dialect.rows(of: names)) \
            WHERE \(happened(.touched, isOpen: true)) OR \(happened(.left, isOpen: false))
            """)
    }

    private static func inBucket(_ span: BucketSpan) -> SQLText {
        #" FROM "syncline_stays" WHERE "bucket" = \#(.integer(span.bucket)) AND "name" = \#(.text(span.name.text))"#
    }

    /// The rows that were last changed within a window.
    static func touched(_ span: BucketSpan, _ window: Window, _ dialect: SQLDialect) -> SQLStatement {
        let column = window.axis.column(.touched)
        return SQLStatement(
            dialect,
            """
            SELECT \(stay)\(inBucket(span)) AND "left" IS NULL AND \(window.condition(.touched)) \
            AND \(column) > \(.integer(window.axis.value(of: span.interval.begin))) \
            ORDER BY \(column), "id" LIMIT \(.integer(Int64(window.limit)))
            """)
    }

    /// The rows that the caller gained with a right, and that nothing has changed since.
    static func gained(_ span: BucketSpan, after id: String?, _ window: Window, _ dialect: SQLDialect) -> SQLStatement {
        let rest: SQLText = id.map { #" AND "id" > \#(.text($0))"# } ?? ""
        return SQLStatement(
            dialect,
            """
            SELECT \(stay)\(inBucket(span)) AND "left" IS NULL \
            AND \(window.axis.column(.touched)) <= \(.integer(window.axis.value(of: span.interval.begin)))\(rest) \
            ORDER BY "id" LIMIT \(.integer(Int64(window.limit)))
            """)
    }

    /// The rows that left within a window.
    static func left(_ span: BucketSpan, _ window: Window, _ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(
            dialect,
            """
            SELECT \(stay)\(inBucket(span)) AND "left" IS NOT NULL AND \(window.condition(.left)) \
            ORDER BY \(window.axis.column(.left)), "id" LIMIT \(.integer(Int64(window.limit)))
            """)
    }

    /// The rows that were there when a right ended.
    static func lost(_ span: BucketSpan, after id: String?, limit: Int, _ dialect: SQLDialect) -> SQLStatement {
        let rest: SQLText = id.map { #" AND "id" > \#(.text($0))"# } ?? ""
        let end = span.interval.end?.change ?? .max
        return SQLStatement(
            dialect,
            """
            SELECT \(stay)\(inBucket(span)) AND "entered" < \(.integer(end)) \
            AND ("left" IS NULL OR "left" > \(.integer(span.interval.begin.change)))\(rest) \
            ORDER BY "id" LIMIT \(.integer(Int64(limit)))
            """)
    }

    /// The condition for the rows of a table that a caller sees by a rule.
    static func condition(_ rule: RowRule, _ subject: String, of table: ServedTable, _ dialect: SQLDialect) -> SQLText {
        let alternatives = rule.alternatives.map { alternative -> SQLText in
            let bucket = alternative.bucket
            guard bucket.column != nil else { return condition(bucket.conditions, table, dialect) }
            var names: SQLText = #" = \#(.text(subject))"#
            for step in alternative.path {
                names = """
                     IN (SELECT "to" FROM "syncline_edges" WHERE "step" = \(.integer(number(step))) \
                    AND "from"\(names) AND "end" IS NULL)
                    """
            }
            return """
                \(SQLDialect.quoted(table.source(of: .id))) IN (SELECT "id" FROM "syncline_stays" \
                WHERE "bucket" = \(.integer(number(bucket, of: table.name))) AND "left" IS NULL AND "name"\(names))
                """
        }
        return "(\(alternatives, separator: " OR "))"
    }

    private static func condition(
        _ conditions: [RuleCondition], _ table: ServedTable, _ dialect: SQLDialect
    ) -> SQLText {
        let parts = conditions.map { condition -> SQLText in
            let column = SQLDialect.quoted(table.source(of: condition.column))
            if case .string(let text) = condition.value { return "\(column) = \(.text(text))" }
            return "\(column) = \(.bool(condition.value == .bool(true)))"
        }
        return parts.isEmpty ? "1 = 1" : "(\(parts, separator: " AND "))"
    }

    /// Forgets what ended before a time.
    static func forgetEdges(before time: Int64, _ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(dialect, #"DELETE FROM "syncline_edges" WHERE "endTime" < \#(.integer(time))"#)
    }

    static func forgetStays(before time: Int64, _ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(dialect, #"DELETE FROM "syncline_stays" WHERE "leftTime" < \#(.integer(time))"#)
    }

    /// The latest end before a time.
    static func latestEnd(before time: Int64, _ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(
            dialect,
            """
            SELECT \(dialect.larger)(\
            coalesce((SELECT max("end") FROM "syncline_edges" WHERE "endTime" < \(.integer(time))), 0), \
            coalesce((SELECT max("left") FROM "syncline_stays" WHERE "leftTime" < \(.integer(time))), 0))
            """)
    }

    // MARK: Rules

    static func rules(_ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(
            dialect,
            #"SELECT "table", "rule", "begin", "beginTime", "end", "endTime" FROM "syncline_rules" ORDER BY "begin""#)
    }

    static func beginRule(_ rule: String, of table: String, _ stamp: Stamp, _ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(
            dialect,
            """
            INSERT INTO "syncline_rules" VALUES (\(.text(table)), \(.text(rule)), \(.integer(stamp.change)), \
            \(.integer(stamp.time)), NULL, NULL)
            """)
    }

    static func endRule(of table: String, _ stamp: Stamp, _ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(
            dialect,
            """
            UPDATE "syncline_rules" SET "end" = \(.integer(stamp.change)), "endTime" = \(.integer(stamp.time)) \
            WHERE "table" = \(.text(table)) AND "end" IS NULL
            """)
    }
}

/// A time in which a caller had the right to a bucket.
struct BucketSpan: Hashable {
    var bucket: Int64
    var name: ExactString
    var interval: RightInterval

    /// The same of all times.
    var inBucket: BucketSpan { BucketSpan(bucket: bucket, name: name, interval: .always) }
}
