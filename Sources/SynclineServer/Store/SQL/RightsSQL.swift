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
            index("edges", of: "endTime"),
            """
            CREATE TABLE IF NOT EXISTS "syncline_stays" ("bucket" \(big) NOT NULL, "name" \(text) NOT NULL, \
            "id" \(text) NOT NULL, "entered" \(big) NOT NULL, "enteredTime" \(big) NOT NULL, "left" \(big), \
            "leftTime" \(big), "byDeletion" \(big) NOT NULL, PRIMARY KEY ("bucket", "id", "name", "entered"))\
            \(dialect == .sqlite ? " WITHOUT ROWID" : "")
            """,
            index("id", #""id""#), index("left", #""left", "id""#), index("left_time", #""leftTime", "id""#),
            index("stays", of: "leftTime"),
            """
            CREATE TABLE IF NOT EXISTS "syncline_rules" ("table" \(text) NOT NULL, "rule" \(text) NOT NULL, \
            "begin" \(big) NOT NULL, "beginTime" \(big) NOT NULL, "end" \(big), "endTime" \(big))
            """,
        ]
    }

    /// An index of the stays that ended. Those that last follow from the rows.
    private static func index(_ name: String, _ keys: String) -> String {
        """
        CREATE INDEX IF NOT EXISTS "syncline_stays_\(name)" ON "syncline_stays" ("bucket", "name", \(keys)) \
        WHERE "left" IS NOT NULL
        """
    }

    /// An index of the times at which entries ended.
    private static func index(_ table: String, of end: String) -> String {
        #"CREATE INDEX IF NOT EXISTS "syncline_\#(table)_\#(end)" ON "syncline_\#(table)" ("\#(end)") WHERE "\#(end)" IS NOT NULL"#
    }

    /// The number of a bucket: rules that say the same of a table have the same ones.
    static func number(_ bucket: RuleBucket, of table: String) -> Int64 {
        Int64(bitPattern: hash64(of: "\(table)\n\(bucket.text)"))
    }

    static func number(_ step: RuleEdge) -> Int64 { Int64(bitPattern: hash64(of: step.text)) }

    // MARK: Edges

    static func edges(
        _ step: RuleEdge, from: String?, to: String?, locks: Bool
    ) -> SQLStatement {
        var conditions: [SQLText] = [#""step" = \#(.integer(number(step)))"#]
        if let from { conditions.append(#""from" = \#(.text(from))"#) }
        if let to { conditions.append(#""to" = \#(.text(to))"#) }
        return """
            SELECT "from", "to", "begin", "beginTime", "end", "endTime" FROM "syncline_edges" \
            WHERE \(conditions, separator: " AND ")\(locks ? " FOR SHARE" : "")
            """
    }

    /// The edges from a name, and first the number that increases with each change of the columns.
    static func edgesAndSchema(_ step: RuleEdge, from: String) -> SQLStatement {
        """
        SELECT s."schema", "from", "to", "begin", "beginTime", "end", "endTime" FROM "syncline_state" s \
        LEFT JOIN "syncline_edges" ON "step" = \(.integer(number(step))) AND "from" = \(.text(from))
        """
    }

    /// Waits for the writes that edges of some rows permit, and for no later ones.
    static func lock(_ steps: [RuleEdge], rows: [String]) -> SQLStatement {
        let numbers = steps.map { "\(.integer(number($0)))" as SQLText }
        return """
            SELECT 1 FROM "syncline_edges" WHERE "step" IN (\(numbers, separator: ", ")) \
            AND "row" = ANY (\(untyped: .text(SQLDialect.list(rows)))) AND "end" IS NULL \
            ORDER BY "step", "row" FOR NO KEY UPDATE
            """
    }

    static func beginEdges(_ times: ArraySlice<RightTime>, _ dialect: SQLDialect) -> SQLStatement {
        let names = [.texts(times.map(\.row)), .texts(times.map(\.name)), .texts(times.map(\.other))] as [SQLList]
        return SQLStatement(dialect, lists: [.integers(times.map(\.group))] + names + moments(times)) { rows in
            """
            INSERT INTO "syncline_edges" SELECT s.c1, s.c2, s.c3, s.c4, s.c5, s.c6, nullif(s.c7, 0), nullif(s.c8, 0) \
            FROM \(rows)
            """
        }
    }

    static func endEdges(_ ends: ArraySlice<RightEnd>, _ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(dialect, lists: lists(ends)) { rows in
            """
            UPDATE "syncline_edges" AS "edge" SET "end" = s.c3, "endTime" = s.c4 FROM \(rows) \
            WHERE "edge"."step" = s.c1 AND "edge"."row" = s.c2 AND "edge"."end" IS NULL
            """
        }
    }

    /// Ends a step of all rows.
    static func end(_ step: RuleEdge, _ stamp: Stamp) -> SQLStatement {
        """
        UPDATE "syncline_edges" SET "end" = \(.integer(stamp.change)), "endTime" = \(.integer(stamp.time)) \
        WHERE "step" = \(.integer(number(step))) AND "end" IS NULL
        """
    }

    /// The beginnings and ends, with 0 for those that are to come.
    private static func moments(_ times: ArraySlice<RightTime>) -> [SQLList] {
        [
            .integers(times.map(\.begin.change)), .integers(times.map(\.begin.time)),
            .integers(times.map { $0.end?.change ?? 0 }), .integers(times.map { $0.end?.time ?? 0 }),
        ]
    }

    private static func lists(_ ends: ArraySlice<RightEnd>) -> [SQLList] {
        [
            .integers(ends.map(\.group)), .texts(ends.map(\.row)), .integers(ends.map(\.stamp.change)),
            .integers(ends.map(\.stamp.time)), .integers(ends.map { $0.byDeletion ? 1 : 0 }),
        ]
    }

    // MARK: Stays

    private static let stay = #""bucket", "name", "id", "entered", "enteredTime", "left", "leftTime", "byDeletion""#

    static func stays(_ buckets: [Int64], ids: [String], _ dialect: SQLDialect) -> SQLStatement {
        """
        SELECT \(stay) FROM "syncline_stays" WHERE "bucket" IN (\(list(buckets), separator: ", ")) \
        AND \(dialect.isAmong(ids, #""id""#))
        """
    }

    private static func list(_ buckets: [Int64]) -> [SQLText] { buckets.map { "\(.integer($0))" } }

    /// The buckets that some rows left after a number.
    static func left(_ buckets: [Int64], after change: Int64, by ids: SQLText) -> SQLStatement {
        """
        SELECT DISTINCT "bucket", "name" FROM "syncline_stays" WHERE \
        "bucket" IN (\(list(buckets), separator: ", ")) AND "id" IN (\(ids)) AND "left" > \(.integer(change))
        """
    }

    /// In a group, a row may come back to a bucket at the number at which it left it.
    static func beginStays(_ times: ArraySlice<RightTime>, _ dialect: SQLDialect) -> SQLStatement {
        let names = [.texts(times.map(\.name)), .texts(times.map(\.row))] as [SQLList]
        let byDeletion = [.integers(times.map { $0.endedByDeletion ? 1 : 0 })] as [SQLList]
        let lists = [.integers(times.map(\.group))] + names + moments(times) + byDeletion
        return SQLStatement(dialect, lists: lists) { rows in
            """
            INSERT INTO "syncline_stays" SELECT s.c1, s.c2, s.c3, s.c4, s.c5, nullif(s.c6, 0), nullif(s.c7, 0), s.c8 \
            FROM \(rows) WHERE true ON CONFLICT ("bucket", "id", "name", "entered") DO UPDATE SET \
            "left" = excluded."left", "leftTime" = excluded."leftTime", "byDeletion" = excluded."byDeletion"
            """
        }
    }

    static func endStays(_ ends: ArraySlice<RightEnd>, _ dialect: SQLDialect) -> SQLStatement {
        SQLStatement(dialect, lists: lists(ends)) { rows in
            """
            UPDATE "syncline_stays" AS "stay" SET "left" = s.c3, "leftTime" = s.c4, "byDeletion" = s.c5 FROM \(rows) \
            WHERE "stay"."bucket" = s.c1 AND "stay"."id" = s.c2 AND "stay"."left" IS NULL
            """
        }
    }

    /// Ends the stays of all rows in a bucket.
    static func leave(_ bucket: Int64, _ stamp: Stamp) -> SQLStatement {
        """
        UPDATE "syncline_stays" SET "left" = \(.integer(stamp.change)), "leftTime" = \(.integer(stamp.time)), \
        "byDeletion" = 0 WHERE "bucket" = \(.integer(bucket)) AND "left" IS NULL
        """
    }

    private static func ended(_ span: BucketSpan) -> SQLText {
        """
        SELECT "id", "left", "leftTime" FROM "syncline_stays" WHERE "bucket" = \(.integer(span.number)) \
        AND "name" = \(.text(span.name.text)) AND "left" IS NOT NULL
        """
    }

    /// The rows that left some buckets within a window: their ids, and when, in order.
    /// - Parameter held: Since when the caller has the right to the buckets that he sees now. A row that came back to one
    ///   of these did not leave it, however often it did before.
    static func left(
        _ spans: ArraySlice<BucketSpan>, held: [BucketSpan: Stamp], _ window: RightsWindow
    ) -> SQLStatement {
        let place = window.axis == .number ? #""left""# : #""leftTime""#
        let parts = spans.map { span -> SQLText in
            let isLast = held[span].map { " AND NOT \(hasComeBack(since: $0))" as SQLText } ?? ""
            return "\(ended(span)) AND \(window.condition(place, "\"id\"") { .integer($0) })\(isLast)"
        }
        return """
            \(parts, separator: " UNION ALL ") \
            ORDER BY \(window.axis == .number ? "2" : "3"), 1 LIMIT \(.integer(Int64(window.limit)))
            """
    }

    private static func hasComeBack(since begin: Stamp) -> SQLText {
        """
        EXISTS (SELECT 1 FROM "syncline_stays" AS "later" WHERE "later"."bucket" = "syncline_stays"."bucket" \
        AND "later"."id" = "syncline_stays"."id" AND "later"."name" = "syncline_stays"."name" \
        AND "later"."entered" >= "syncline_stays"."left" \
        AND ("later"."left" IS NULL OR "later"."left" > \(.integer(begin.change))))
        """
    }

    /// Those of some names of a bucket that have stays that ended since a window begins.
    static func moved(
        _ names: [String], of bucket: Int64, _ window: RightsWindow, _ dialect: SQLDialect
    ) -> SQLStatement {
        let name = #""names"."bucket""#
        return """
            SELECT \(name) FROM (SELECT "value" AS "bucket" FROM \(dialect.rows(of: names))) AS "names" \
            WHERE \(hasLeft(name, bucket, window))
            """
    }

    /// The rows that were there when a right ended, and left later.
    /// - Parameter next: When the next right to the bucket began: what left later was lost later, too.
    static func lost(_ span: BucketSpan, before next: Stamp?, after id: String?, limit: Int) -> SQLStatement {
        var rest: SQLText = id.map { #" AND "id" > \#(.text($0))"# } ?? ""
        if let next { rest = #"\#(rest) AND "left" <= \#(.integer(next.change))"# }
        return """
            \(ended(span)) AND "entered" < \(.integer(span.interval.end?.change ?? .max)) \
            AND "left" > \(.integer(span.interval.begin.change))\(rest) \
            ORDER BY "id" LIMIT \(.integer(Int64(limit)))
            """
    }

    /// Whether some names of a bucket have stays that ended since a window begins.
    static func hasLeft(_ name: String, _ bucket: Int64, _ window: RightsWindow) -> SQLText {
        let place = window.axis == .number ? #""left""# : #""leftTime""#
        return "\(firstLeft(name, bucket, place, "\(place) >= \(.integer(window.since))")) IS NOT NULL"
    }

    /// The place at which the first row of a bucket left within a window.
    static func firstLeft(_ name: String, _ bucket: Int64, _ window: RightsWindow) -> SQLText {
        let place = window.axis == .number ? #""left""# : #""leftTime""#
        return firstLeft(name, bucket, place, window.condition(place, #""id""#) { .integer($0) })
    }

    /// The first place at which rows left, of those that a condition holds for. Where one would ask only whether there are
    /// any, PostgreSQL reads the whole table if it expects many.
    private static func firstLeft(
        _ name: String, _ bucket: Int64, _ place: String, _ condition: SQLText
    ) -> SQLText {
        """
        (SELECT \(place) FROM "syncline_stays" WHERE "bucket" = \(.integer(bucket)) AND "name" = \(name) \
        AND "left" IS NOT NULL AND \(condition) ORDER BY \(place), "id" LIMIT 1)
        """
    }

    /// The condition for the names of the buckets to which a path leads the caller.
    static func isReached(_ alternative: RuleAlternative, by subject: String) -> SQLText {
        var names: SQLText = " = \(.text(subject))"
        for step in alternative.path {
            names = """
                 IN (SELECT "to" FROM "syncline_edges" WHERE "step" = \(.integer(number(step))) \
                AND "from"\(names) AND "end" IS NULL)
                """
        }
        return names
    }

    // MARK: Rules

    static let rules: SQLStatement =
        #"SELECT "table", "rule", "begin", "beginTime", "end", "endTime" FROM "syncline_rules" ORDER BY "begin""#

    static func beginRule(_ rule: String, of table: String, _ stamp: Stamp) -> SQLStatement {
        """
        INSERT INTO "syncline_rules" VALUES (\(.text(table)), \(.text(rule)), \(.integer(stamp.change)), \
        \(.integer(stamp.time)), NULL, NULL)
        """
    }

    static func endRule(of table: String, _ stamp: Stamp) -> SQLStatement {
        """
        UPDATE "syncline_rules" SET "end" = \(.integer(stamp.change)), "endTime" = \(.integer(stamp.time)) \
        WHERE "table" = \(.text(table)) AND "end" IS NULL
        """
    }
}
