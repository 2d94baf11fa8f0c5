// The SQL of a source of numbers. Writers of a sequence do not wait for each other. A tick says that every number up to it
// was taken by transactions older than its fence, so a reader stops at the newest tick whose fence no running transaction
// precedes (docs/decisions/0072-ticks-order-changes-without-a-line.md).

import SynclineTables

extension NumberSource {
    /// The latest number that was issued.
    var issued: String {
        self == .line ? #"(SELECT "change" FROM "syncline_state")"# : #"(SELECT last_value FROM "syncline_changes")"#
    }

    /// Takes numbers and a time. Selects the numbers, the time, the schema number, the epoch and the origin.
    /// - Parameter clock: The time, if it is not the database's own.
    func stamp(_ count: Int, now: Int64, clock: Int64?, _ dialect: SQLDialect) -> SQLStatement {
        if self == .line { return StateSQL.stamp(count, now: now, dialect) }
        return """
            SELECT t."changes"::text, t."time", s."schema", s."epoch", \(StateSQL.comparedOrigin(dialect)) \
            FROM "syncline_state" s, syncline_stamp(\(.integer(Int64(count))), \
            nullif(\(.integer(clock ?? -1)), -1)) t WHERE s."one" = 1
            """
    }

    /// Selects the columns of a `DatabaseState`.
    func state(_ dialect: SQLDialect) -> SQLStatement {
        let origin = StateSQL.comparedOrigin(dialect)
        if self == .line {
            return #"SELECT "epoch", "change", "purged", \#(origin), "change", "change" FROM "syncline_state""#
        }
        return """
            SELECT s."epoch", coalesce(h."change", 0), s."purged", \(origin), q.last_value, \
            coalesce((SELECT max("change") FROM "syncline_ticks"), 0), coalesce(h."time", 0), s."change" \
            FROM "syncline_state" s CROSS JOIN "syncline_changes" q LEFT JOIN LATERAL (\(NumberSource.horizon)) h ON true
            """
    }

    /// Begins a transaction of writes. Without a line, rules change while no such transaction runs: those that begin later
    /// see the new ones.
    /// - Parameter inSets: Whether it finds and updates rows in sets. Their plans are kept, also if they were made while a
    ///   table was small: they must use its indexes.
    func beginWrites(_ dialect: SQLDialect, inSets: Bool) -> String {
        if dialect == .sqlite { return dialect.beginWriting }
        var calls = self == .line ? [] : ["pg_advisory_xact_lock_shared(\(NumberSource.rulesLock))"]
        if inSets {
            calls += ["enable_seqscan", "enable_hashjoin", "enable_mergejoin", "jit"].map {
                "set_config('\($0)', 'off', true)"
            }
        }
        return calls.isEmpty ? dialect.beginWriting : "\(dialect.beginWriting); SELECT \(calls.joined(separator: ", "))"
    }

    /// The same for a change of the rules.
    func beginRules(_ dialect: SQLDialect) -> String {
        self == .line
            ? dialect.beginWriting : "\(dialect.beginWriting); SELECT pg_advisory_xact_lock(\(NumberSource.rulesLock))"
    }

    /// Makes a tick: one message, so that the lock is never held while the server has its turn. The first of the two
    /// transactions needs no sync of its own.
    /// - Parameter clock: The time, if it is not the database's own.
    static func tick(clock: Int64?) -> String {
        let begin = SQLDialect.postgres.beginWriting
        return """
            \(begin); SET LOCAL synchronous_commit = off; SELECT syncline_close(\(clock.map(String.init) ?? "NULL")); \
            COMMIT; \(begin); SELECT syncline_tick(); COMMIT
            """
    }

    /// Where other processes hear of a tick.
    static let channel = "syncline_ticks"

    /// Selects the oldest transaction that has an id, as a process or a prepared transaction, and how long changes wait.
    static let holder: SQLStatement = """
        SELECT coalesce('prepared transaction ' || p.gid, 'process ' || l.pid, ''), \
        coalesce(\(NumberSource.clock) - (SELECT min("time") FROM "syncline_ticks" \
        WHERE "fence" > pg_snapshot_xmin(pg_current_snapshot())), 0) \
        FROM pg_locks l LEFT JOIN pg_prepared_xacts p ON p.transaction = l.transactionid \
        WHERE l.locktype = 'transactionid' AND l.granted AND l.mode = 'ExclusiveLock' \
        ORDER BY age(l.transactionid) DESC LIMIT 1
        """

    /// The newest tick that is complete: each transaction with a number or a time up to it is over.
    private static let horizon = """
        SELECT "change", "time" FROM "syncline_ticks" WHERE "fence" <= pg_snapshot_xmin(pg_current_snapshot()) \
        ORDER BY "change" DESC LIMIT 1
        """

    /// Makes this database a new one for clients: what they knew of it is no longer valid, and no number or time that
    /// they may have seen is issued again. The schema number, by which other processes learn of this, is not reused.
    func renew(epoch: String, _ dialect: SQLDialect) -> [SQLStatement] {
        let changes = String(RowVersion.changesOfAnEpoch)
        var statements: [SQLStatement] = [
            """
            UPDATE "syncline_state" SET "schema" = "schema" + 1048576, "epoch" = \(.text(epoch)), \
            "origin" = \(StateSQL.origin(dialect))\(self == .line ? ", \"change\" = \"change\" + \(changes)" : "")
            """
        ]
        if self == .ticks {
            statements += [
                """
                SELECT setval('syncline_changes', c.last_value + \(changes)), \
                setval('syncline_floor', f.last_value + 10000) FROM "syncline_changes" c, "syncline_floor" f
                """,
                #"DELETE FROM "syncline_ticks""#,
            ]
        }
        return statements
    }

    // MARK: Making

    /// Creates what the source needs in PostgreSQL.
    var create: [String] {
        if self == .line { return [NumberSource.takeFromLine] }
        return [
            #"CREATE SEQUENCE "syncline_changes" AS bigint CACHE 1"#,
            #"CREATE SEQUENCE "syncline_closed" AS bigint CACHE 1"#,
            #"CREATE SEQUENCE "syncline_floor" AS bigint MINVALUE 0 CACHE 1"#,
            """
            SELECT setval('syncline_changes', "change"), setval('syncline_closed', "change"), \
            setval('syncline_floor', "time") FROM "syncline_state"
            """,
            """
            CREATE TABLE "syncline_ticks" ("change" bigint NOT NULL PRIMARY KEY, "time" bigint NOT NULL, \
            "fence" xid8 NOT NULL)
            """,
            """
            INSERT INTO "syncline_ticks" SELECT "change", "time", pg_current_xact_id() FROM "syncline_state"
            """,
            NumberSource.stampFunction, NumberSource.take, NumberSource.close, NumberSource.tick,
        ] + NumberSource.guardLine
    }

    /// Takes the place of the other source, while no program writes.
    var replace: [String] {
        let setting = #"UPDATE "syncline_state" SET "numbers" = '\#(rawValue)'"#
        if self == .ticks { return [setting] + create }
        return [
            #"DROP TRIGGER "syncline_no_line" ON "syncline_state""#,
            """
            \(setting), "change" = (SELECT last_value FROM "syncline_changes"), \
            "time" = (SELECT last_value FROM "syncline_floor")
            """,
            #"DROP TABLE "syncline_ticks""#, #"DROP SEQUENCE "syncline_changes", "syncline_closed", "syncline_floor""#,
            "DROP FUNCTION syncline_stamp, syncline_close, syncline_tick, syncline_no_line",
        ] + create
    }

    private static let clock = "floor(date_part('epoch', clock_timestamp()) * 1000)::bigint"

    /// The transaction's id comes before its time, and both before its numbers: ticks rely on this order. A clock that is
    /// not the database's raises the floor, so that no two times are the same. Expressions are faster here than queries.
    private static let stampFunction = """
        CREATE OR REPLACE FUNCTION syncline_stamp("count" bigint, "clock" bigint, OUT "changes" bigint[], \
        OUT "time" bigint) LANGUAGE plpgsql AS $$
        DECLARE
            lowest bigint;
        BEGIN
            PERFORM pg_current_xact_id();
            lowest := pg_sequence_last_value('syncline_floor') + 1;
            IF lowest IS NULL THEN
                RAISE insufficient_privilege USING MESSAGE = 'permission denied for sequence syncline_floor';
            END IF;
            "time" := greatest(coalesce("clock", \(clock)), lowest);
            IF "clock" IS NOT NULL THEN
                PERFORM setval('syncline_floor', "time");
            END IF;
            IF "count" = 1 THEN
                "changes" := ARRAY[nextval('syncline_changes')];
            ELSE
                SELECT array_agg(nextval('syncline_changes')) INTO "changes" FROM generate_series(1, "count");
            END IF;
        END $$
        """

    /// For triggers, by which other programs take a number and a time, and tell the sweep that a table was changed.
    private static let take = """
        CREATE OR REPLACE FUNCTION syncline_take(source text, OUT "change" bigint, OUT "time" bigint) \
        LANGUAGE plpgsql AS $$
        BEGIN
            SELECT s."changes"[1], s."time" INTO "change", "time" FROM syncline_stamp(1, NULL) s;
            -- A row of its own, so that it waits for no other transaction.
            INSERT INTO "syncline_digests" SELECT source, -pg_current_xact_id()::text::bigint, 0, 0, 0
                FROM "syncline_digests" WHERE "table" = source AND "slot" = 0 ON CONFLICT DO NOTHING;
        END $$
        """

    private static let takeFromLine = """
        CREATE OR REPLACE FUNCTION syncline_take(source text, OUT "change" bigint, OUT "time" bigint) \
        LANGUAGE plpgsql AS $$
        #variable_conflict use_column
        BEGIN
            UPDATE "syncline_state" SET "change" = "change" + 1, "time" = greatest("time" + 1, \(clock))
                RETURNING "change", "time" INTO "change", "time";
            UPDATE "syncline_digests" SET "isKnown" = 0 WHERE "table" = source;
        END $$
        """

    /// Reads the latest number, then closes the present instant: changes up to the number have times up to the floor, and
    /// later times are greater. It is a transaction of its own, because a tick must read both before it gets its id.
    /// Only one process at a time closes or ticks. Each query here reads a few rows at one end of the ticks.
    private static let close = """
        CREATE OR REPLACE FUNCTION syncline_close("clock" bigint) RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
            latest bigint;
            present bigint;
            last "syncline_ticks";
            held bigint;
        BEGIN
            PERFORM pg_advisory_xact_lock(\(lock));
            SELECT last_value INTO latest FROM "syncline_changes";
            present := coalesce("clock", \(clock));
            SELECT * INTO last FROM "syncline_ticks" ORDER BY "change" DESC LIMIT 1;
            SELECT "time" INTO held FROM "syncline_ticks"
                WHERE "change" > coalesce((SELECT h."change" FROM (\(horizon)) h), 0) ORDER BY "change" LIMIT 1;
            -- While an old transaction holds all ticks back, one a second is enough.
            IF latest > coalesce(last."change", 0)
                AND (coalesce(held, present) >= present - 1000 OR last."time" <= present - 1000)
            THEN
                PERFORM setval('syncline_floor', CASE WHEN "clock" IS NULL THEN greatest(present, last_value + 1)
                    ELSE last_value END) FROM "syncline_floor";
                PERFORM setval('syncline_closed', latest);
            END IF;
        END $$
        """

    /// Records the number and the instant that were closed, and then takes its id as the fence. It is durable before a reader sees
    /// it, so what a reader has seen is durable, too. Of the ticks before the latest complete one, those of the last second
    /// are kept, and five a second of the last minute, for standbys. Once a second, the others are removed.
    private static let tick = """
        CREATE OR REPLACE FUNCTION syncline_tick() RETURNS void LANGUAGE plpgsql AS $$
        DECLARE
            latest bigint;
            closed bigint;
            last "syncline_ticks";
        BEGIN
            PERFORM pg_advisory_xact_lock(\(lock));
            SELECT c.last_value, f.last_value INTO latest, closed FROM "syncline_closed" c, "syncline_floor" f;
            SELECT * INTO last FROM "syncline_ticks" ORDER BY "change" DESC LIMIT 1;
            IF last."change" >= latest THEN
                RETURN;
            END IF;
            IF current_setting('synchronous_commit') = 'off' THEN
                PERFORM set_config('synchronous_commit', 'on', true);
            END IF;
            INSERT INTO "syncline_ticks" VALUES (latest, closed, pg_current_xact_id());
            PERFORM pg_notify('\(channel)', latest::text);
            IF closed / 1000 > last."time" / 1000 THEN
                DELETE FROM "syncline_ticks" WHERE "change" < (SELECT h."change" FROM (\(horizon)) h)
                    AND ("time" < closed - 60000 OR "time" < closed - 1000 AND "change" NOT IN (
                        SELECT min("change") FROM "syncline_ticks" GROUP BY "time" / 200));
            END IF;
        END $$
        """

    private static let lock = "1937337966"
    private static let rulesLock = "1937337967"

    /// A program that still takes numbers from the row would give them a second time.
    private static let guardLine = [
        """
        CREATE OR REPLACE FUNCTION syncline_no_line() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            RAISE EXCEPTION 'take numbers from syncline_take()';
        END $$
        """,
        """
        CREATE TRIGGER syncline_no_line BEFORE UPDATE ON "syncline_state" FOR EACH ROW \
        WHEN (NEW."change" <> OLD."change" OR NEW."time" <> OLD."time") EXECUTE FUNCTION syncline_no_line()
        """,
    ]
}
