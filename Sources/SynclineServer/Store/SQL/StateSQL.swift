// The server's own tables: the current change number, the columns that were added to tables, permanently deleted rows,
// and completed operations.

import SynclineCore
import SynclineTables

enum StateSQL {
    /// A server refuses a database with another format.
    static let format: Int64 = 5

    static let tables =
        [
            "syncline_state", "syncline_columns", "syncline_tombstones", "syncline_operations", "syncline_digests",
        ] + RightsSQL.tables

    static func create(_ dialect: SQLDialect) -> [String] {
        let (big, text) = (dialect.bigInteger, dialect.type(.string))
        return [
            """
            CREATE TABLE IF NOT EXISTS "syncline_state" ("one" \(big) NOT NULL PRIMARY KEY CHECK ("one" = 1), \
            "format" \(big) NOT NULL, "epoch" \(text) NOT NULL, "change" \(big) NOT NULL, "time" \(big) NOT NULL, \
            "schema" \(big) NOT NULL, "purged" \(big) NOT NULL, "origin" \(text) NOT NULL, "numbers" \(text) NOT NULL)
            """,
            """
            CREATE TABLE IF NOT EXISTS "syncline_columns" ("place" \(big) NOT NULL PRIMARY KEY, \
            "table" \(text) NOT NULL, "name" \(text) NOT NULL, "type" \(text) NOT NULL)
            """,
            """
            CREATE INDEX IF NOT EXISTS "syncline_columns_table" ON "syncline_columns" ("table", "name")
            """,
            """
            CREATE TABLE IF NOT EXISTS "syncline_tombstones" ("table" \(text) NOT NULL, "id" \(text) NOT NULL, \
            "owner" \(text) NOT NULL, "change" \(big) NOT NULL, "time" \(big) NOT NULL, \
            PRIMARY KEY ("table", "id", "owner"))
            """,
            """
            CREATE INDEX IF NOT EXISTS "syncline_tombstones_change" ON "syncline_tombstones" ("table", "change")
            """,
            """
            CREATE INDEX IF NOT EXISTS "syncline_tombstones_time" ON "syncline_tombstones" ("time")
            """,
            """
            CREATE TABLE IF NOT EXISTS "syncline_operations" ("caller" \(text) NOT NULL, "id" \(text) NOT NULL, \
            "time" \(big) NOT NULL, "table" \(text) NOT NULL, "kind" \(text) NOT NULL, "row" \(text) NOT NULL, \
            PRIMARY KEY ("caller", "id"))
            """,
            """
            CREATE INDEX IF NOT EXISTS "syncline_operations_time" ON "syncline_operations" ("time")
            """,
            """
            CREATE TABLE IF NOT EXISTS "syncline_digests" ("table" \(text) NOT NULL, "slot" \(big) NOT NULL, \
            "rows" \(big) NOT NULL, "hash" \(big) NOT NULL, "isKnown" \(big) NOT NULL, PRIMARY KEY ("table", "slot"))\
            \(dialect == .sqlite ? " WITHOUT ROWID" : "")
            """,
        ] + RightsSQL.create(dialect)
    }

    /// Joins the queue of writers.
    static let line = #"UPDATE "syncline_state" SET "change" = "change""#

    static func begin(epoch: String, _ numbers: NumberSource, _ dialect: SQLDialect) -> SQLStatement {
        """
        INSERT INTO "syncline_state" VALUES (1, \(String(format)), \(.text(epoch)), \
        \(.integer(RowVersion.firstChange(of: epoch))), 0, 0, 0, \(origin(dialect)), \
        \(.text(numbers.rawValue))) ON CONFLICT DO NOTHING
        """
    }

    /// Which history of which database this is: a promoted standby continues on another timeline, which the names of its
    /// WAL files begin with; a restored dump has another table, and a copy is another database. None of these changes
    /// with an upgrade. A standby has no timeline of its own, and an SQLite file no origin.
    static func origin(_ dialect: SQLDialect) -> String {
        if dialect == .sqlite { return "''" }
        return """
            CASE WHEN pg_is_in_recovery() THEN '' ELSE (SELECT d.oid || '.' || '"syncline_state"'::regclass::oid || '.' \
            || left(pg_walfile_name(pg_current_wal_insert_lsn()), 8) \
            FROM pg_database d WHERE d.datname = current_database()) END
            """
    }

    /// The raw value of an `Origin`.
    static func comparedOrigin(_ dialect: SQLDialect) -> String {
        let isSame = #"CASE WHEN "origin" = \#(origin(dialect)) THEN 1 ELSE 0 END"#
        return dialect == .sqlite ? isSame : "CASE WHEN pg_is_in_recovery() THEN 2 ELSE \(isSame) END"
    }

    /// Takes the next change numbers, of which the last is selected, and a time that is later than every earlier one.
    /// The row is locked until the transaction ends, which orders transactions by their numbers, in whichever process
    /// they are.
    static func stamp(_ count: Int, now: Int64, _ dialect: SQLDialect) -> SQLStatement {
        """
        UPDATE "syncline_state" SET "change" = "change" + \(.integer(Int64(count))), \
        "time" = \(dialect.larger)("time" + 1, \(.integer(now))) \
        RETURNING "change", "time", "schema", "epoch", \(comparedOrigin(dialect))
        """
    }

    /// A statement that reads the server's own table, for checks.
    static let probe: SQLStatement = #"SELECT "change" FROM "syncline_state""#

    static let formatNumber: SQLStatement = #"SELECT "format" FROM "syncline_state""#

    static let numbers: SQLStatement = #"SELECT "numbers" FROM "syncline_state""#

    /// Returns a row if the database is read-only.
    static let isReadOnly: SQLStatement = "SELECT 1 WHERE current_setting('transaction_read_only') = 'on'"

    // MARK: Columns

    /// The number that increases with each change of the columns.
    static let schema: SQLStatement = #"SELECT "schema" FROM "syncline_state""#

    // A left join, so that the number is returned even if there are no columns.
    static let columns: SQLStatement = """
        SELECT s."schema", s."epoch", c."table", c."name", c."type" FROM "syncline_state" s \
        LEFT JOIN "syncline_columns" c ON c."place" >= 0 ORDER BY c."place"
        """

    static func add(_ column: Column, to table: String) -> SQLStatement {
        """
        INSERT INTO "syncline_columns" SELECT coalesce(max("place"), 0) + 1, \(.text(table)), \
        \(.text(column.name)), \(.text(column.type.rawValue)) FROM "syncline_columns"
        """
    }

    static func remove(column: String, of table: String) -> SQLStatement {
        #"DELETE FROM "syncline_columns" WHERE "table" = \#(.text(table)) AND "name" = \#(.text(column))"#
    }

    // MARK: Tombstones

    static func insertTombstones(
        of rows: ArraySlice<RemovedRow>, in table: String, _ dialect: SQLDialect
    ) -> SQLStatement {
        let texts = [.texts(rows.map { _ in table }), .texts(rows.map(\.id)), .texts(rows.map(\.owner))] as [SQLList]
        let stamps = [.integers(rows.map(\.stamp.change)), .integers(rows.map(\.stamp.time))] as [SQLList]
        return SQLStatement(dialect, lists: texts + stamps) { rows in
            """
            INSERT INTO "syncline_tombstones" SELECT s.c1, s.c2, s.c3, s.c4, s.c5 FROM \(rows) WHERE true \
            ON CONFLICT ("table", "id", "owner") DO UPDATE SET "change" = excluded."change", "time" = excluded."time"
            """
        }
    }

    /// The tombstones of a plan, except for rows that exist again: those are reported themselves.
    static func tombstones(_ plan: ChangePlan, _ table: TableSQL) -> SQLStatement {
        """
        SELECT "id", "change", "time"\(removed(plan, table)) ORDER BY "change" \
        LIMIT \(.integer(Int64(plan.limit)))
        """
    }

    static func tombstoneCount(_ plan: ChangePlan, _ table: TableSQL) -> SQLStatement {
        "SELECT count(*)\(removed(plan, table))"
    }

    private static func removed(_ plan: ChangePlan, _ table: TableSQL) -> SQLText {
        // Rows precede a tombstone of the same number.
        let sign = plan.sinceID == nil ? ">" : ">="
        var conditions: [SQLText] = [
            #""table" = \#(.text(plan.table))"#, #""change" \#(sign) \#(.integer(plan.since))"#,
        ]
        if let until = plan.until { conditions.append(#""change" <= \#(.integer(until))"#) }
        if table.schema.definition.perUser != nil { conditions.append(#""owner" = \#(.text(plan.subject ?? ""))"#) }
        conditions.append("NOT EXISTS (\(table.rowOfTombstone))")
        return #" FROM "syncline_tombstones" WHERE \#(conditions, separator: " AND ")"#
    }

    /// The number of rows to remove at a time: other transactions wait at most this long.
    static let portion = 1000

    /// Waits for other transactions that change columns. Selects the schema number.
    static let lockedSchema: SQLStatement = #"SELECT "schema" FROM "syncline_state" FOR NO KEY UPDATE"#

    static func setPurged(_ change: Int64) -> SQLStatement {
        #"UPDATE "syncline_state" SET "purged" = \#(.integer(change)) WHERE "purged" < \#(.integer(change))"#
    }

    // MARK: Digests

    /// The parts of a digest, and whether it was ever computed from the rows. Writers that do not wait for each other
    /// count in slots of their own, and after some seconds in others: PostgreSQL passes over all versions of a row that
    /// an old transaction may see. Negative slots are marks of other programs' transactions.
    static func digest(of table: String) -> SQLStatement {
        #"SELECT "rows", "hash", "isKnown", "slot" FROM "syncline_digests" WHERE "table" = \#(.text(table))"#
    }

    /// Removes the mark of another program's transaction.
    static func forgetMark(_ slot: Int64, of table: String) -> SQLStatement {
        #"DELETE FROM "syncline_digests" WHERE "table" = \#(.text(table)) AND "slot" = \#(.integer(slot))"#
    }

    /// Notes the marks of other programs' transactions in the digests, so that they do not accumulate.
    static let collectMarks: SQLStatement = """
        WITH marks AS (DELETE FROM "syncline_digests" WHERE "slot" < 0 RETURNING "table") \
        UPDATE "syncline_digests" SET "isKnown" = 0 WHERE "slot" = 0 AND "table" IN (SELECT "table" FROM marks)
        """

    /// Removes the slots in which writers counted before a time, and selects what they counted.
    static func takeSlots(before time: Int64) -> SQLStatement {
        """
        DELETE FROM "syncline_digests" WHERE "slot" > 0 AND "slot" < \(.integer(time / slotSpan * slots)) \
        RETURNING "table", "rows", "hash"
        """
    }

    /// How many slots writers have at a time, and for how many milliseconds.
    private static let slots: Int64 = 64
    private static let slotSpan: Int64 = 10_000

    /// Begins to count a table's writes.
    static func beginDigest(of table: String) -> SQLStatement {
        #"INSERT INTO "syncline_digests" VALUES (\#(.text(table)), 0, 0, 0, 0) ON CONFLICT DO NOTHING"#
    }

    static func forgetDigest(of table: String) -> SQLStatement {
        #"DELETE FROM "syncline_digests" WHERE "table" = \#(.text(table))"#
    }

    /// Adds to a digest. The difference of the union and the intersection of two sets of bits is their exclusive or.
    static func add(
        _ digest: TableDigest, to table: String, isKnown: Bool = false, _ dialect: SQLDialect
    ) -> SQLStatement {
        // Every write does this, so its text is made once.
        let text = dialect == .sqlite ? additions.sqlite : additions.postgres
        let hash = SQLValue.integer(Int64(bitPattern: digest.hash))
        return SQLStatement(
            prepared: text,
            values: [.integer(digest.rows), hash, hash, .integer(isKnown ? 1 : 0), .text(table)])
    }

    private static let additions = (sqlite: addition.text(.sqlite), postgres: addition.text(.postgres))

    private static var addition: SQLStatement {
        let number = SQLValue.integer(0)
        return """
            UPDATE "syncline_digests" SET "rows" = "rows" + \(number), \
            "hash" = ("hash" | \(number)) - ("hash" & \(number)), "isKnown" = "isKnown" | \(number) \
            WHERE "table" = \(.text("")) AND "slot" = 0
            """
    }

    /// The same in a slot of the connection.
    static func addInSlot(_ digest: TableDigest, to table: String) -> SQLStatement {
        let hash = SQLValue.integer(Int64(bitPattern: digest.hash))
        return SQLStatement(
            prepared: slotAddition, values: [.text(table), .integer(digest.rows), hash])
    }

    private static let slotAddition = SQLStatement(
        """
        INSERT INTO "syncline_digests" AS d VALUES (\(.text("")), \
        floor(extract(epoch FROM clock_timestamp()) * 1000 / \(String(slotSpan)))::bigint * \(String(slots)) \
        + pg_backend_pid() % \(String(slots)), \(.integer(0)), \(.integer(0)), 0) \
        ON CONFLICT ("table", "slot") DO UPDATE SET "rows" = d."rows" + excluded."rows", "hash" = d."hash" # excluded."hash"
        """
    ).text(.postgres)

    // MARK: Operations

    static func operation(_ key: OperationKey) -> SQLStatement {
        """
        SELECT "table", "kind", "row" FROM "syncline_operations" \
        WHERE "caller" = \(.text(key.caller)) AND "id" = \(.text(key.id))
        """
    }

    /// Selects the caller, the id and the memory of operations that were carried out; no row if it is large.
    static func operations(_ keys: [OperationKey]) -> SQLStatement {
        let bound = BoundRows(lists: [.texts(keys.map(\.caller)), .texts(keys.map(\.id))])
        return SQLStatement(
            prepared: """
                SELECT o."caller", o."id", o."table", o."kind", CASE WHEN octet_length(o."row") <= 8192 THEN o."row" END \
                FROM \(bound.source) JOIN "syncline_operations" o ON o."caller" = s.c1 AND o."id" = s.c2
                """, rows: bound)
    }

    /// The receipts of a span.
    static func receipts(from: Int64, through to: Int64) -> SQLStatement {
        """
        SELECT "caller", "id", "time", "table", "kind", "row" FROM "syncline_operations" \
        WHERE "time" >= \(.integer(from)) AND "time" <= \(.integer(to)) ORDER BY "time", "caller", "id"
        """
    }

    /// The permanent deletions of a span.
    static func tombstones(from: Int64, through to: Int64) -> SQLStatement {
        """
        SELECT DISTINCT "table", "id", "change", "time" FROM "syncline_tombstones" \
        WHERE "time" >= \(.integer(from)) AND "time" <= \(.integer(to)) ORDER BY "change"
        """
    }

    static func remember(_ receipts: [(key: OperationKey, time: Int64, receipt: Receipt)]) -> SQLStatement {
        let bound = BoundRows(lists: [
            .texts(receipts.map(\.key.caller)), .texts(receipts.map(\.key.id)), .integers(receipts.map(\.time)),
            .texts(receipts.map(\.receipt.table)), .texts(receipts.map(\.receipt.kind)),
            .texts(receipts.map(\.receipt.row)),
        ])
        return SQLStatement(
            prepared: #"INSERT INTO "syncline_operations" SELECT * FROM \#(bound.source)"#, rows: bound)
    }

    static func remember(
        _ key: OperationKey, time: Int64, _ receipt: Receipt
    ) -> SQLStatement {
        """
        INSERT INTO "syncline_operations" VALUES (\(.text(key.caller)), \(.text(key.id)), \(.integer(time)), \
        \(.text(receipt.table)), \(.text(receipt.kind)), \(.text(receipt.row)))
        """
    }
}
