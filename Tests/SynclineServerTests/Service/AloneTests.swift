// Whatever a write breaks, the other writes of its transaction are done.

import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

@Suite struct AloneTests {
    /// Makes the database fail in a different way for each string that is inserted.
    private func traps(_ backend: TestBackend) -> [String] {
        backend == .sqlite
            ? [
                #"""
                CREATE TRIGGER "raises" BEFORE INSERT ON "t" WHEN NEW."text" = 'raises'
                BEGIN SELECT RAISE(ABORT, 'no'); END
                """#,
                #"""
                CREATE TRIGGER "ends" BEFORE INSERT ON "t" WHEN NEW."text" = 'ends'
                BEGIN SELECT RAISE(ROLLBACK, 'no'); END
                """#,
                #"""
                CREATE TRIGGER "breaks" BEFORE INSERT ON "t" WHEN NEW."text" = 'breaks'
                BEGIN SELECT json('{'); END
                """#,
            ]
            : [
                #"""
                CREATE FUNCTION trap() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF NEW."text" = 'raises' THEN RAISE EXCEPTION 'no'; END IF;
                IF NEW."text" = 'breaks' THEN INSERT INTO "missing" VALUES (1); END IF;
                RETURN NEW; END $$
                """#,
                #"CREATE TRIGGER "trap" BEFORE INSERT ON "t" FOR EACH ROW EXECUTE FUNCTION trap()"#,
                #"""
                CREATE FUNCTION late() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
                IF NEW."text" = 'ends' THEN RAISE EXCEPTION 'late'; END IF; RETURN NULL; END $$
                """#,
                #"""
                CREATE CONSTRAINT TRIGGER "late" AFTER INSERT ON "t" INITIALLY DEFERRED
                FOR EACH ROW EXECUTE FUNCTION late()
                """#,
            ]
    }

    private func write(_ id: String, _ text: String) -> TableWrite {
        TableWrite(.insert(Row([.init("text", .string(text))])), table: "t", id: id, serverProtocol: .zumo2)
    }

    private func statuses(_ outcomes: [[WriteOutcome]]) -> [[Int]] {
        outcomes.map { group in
            group.map { outcome in
                switch outcome {
                case .refused(let refusal, _): refusal.status
                case .failed(let failure): failure.refusal.status
                default: 201
                }
            }
        }
    }

    @Test(arguments: TestBackend.available, ["raises", "ends", "breaks"])
    func `a write that the database does not carry out fails alone`(_ backend: TestBackend, _ trap: String) throws {
        let desk = try ServiceDesk(backend, tables: #"{"t":{"columns":{"text":"string"}}}"#)
        try desk.store.database.carryOut(traps(backend))
        let status = trap == "breaks" ? 500 : 409
        let groups = [
            [write("a", "fine")], [write("b", trap)], [write("c", "fine"), write("d", trap)], [write("e", "fine")],
        ]
        let outcomes = try desk.store.write(groups, stopsAtRefusal: false)
        let found = statuses(outcomes)
        #expect(found[0] == [201] && found[1] == [status] && found[3] == [201], "\(found)")
        #expect(found[2].allSatisfy { $0 >= 400 }, "\(found)")
        #expect(try desk.ask("GET", "/tables/t?$orderby=id").ids == ["a", "e"])
        let stopping = try desk.store.write(
            [[write("f", "fine")], [write("g", trap)], [write("h", "fine")]], stopsAtRefusal: true)
        #expect(statuses(stopping) == [[201], [status], [424]])
        #expect(try desk.ask("GET", "/tables/t?$orderby=id").ids == ["a", "e", "f"])
        #expect(try desk.ask("POST", "/tables/t", #"{"id":"z","text":"\#(trap)"}"#).status == status)
    }

    @Test(arguments: TestBackend.available)
    func `requests that share a transaction do not share their failures`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend, tables: #"{"t":{"columns":{"text":"string"}}}"#)
        try desk.store.database.carryOut(traps(backend))
        let jobs = [("a", "fine"), ("b", "breaks"), ("c", "ends"), ("d", "fine"), ("e", "raises")].map { id, text in
            WriteJob(
                [[PreparedWrite(write(id, text))]], WriteAllowance(desk.store.limits), stopsAtRefusal: false,
                wantsRows: true)
        }
        desk.store.perform(jobs)
        let succeeded = jobs.map { job in
            if case .success(let done)? = job.result { !done.outcomes[0][0].isRefused } else { false }
        }
        #expect(succeeded == [true, false, false, true, false])
        #expect(try desk.ask("GET", "/tables/t?$orderby=id").ids == ["a", "d"])
    }

    @Test(arguments: TestBackend.available)
    func `a column that must have a value, added by hand, refuses only the rows without one`(
        _ backend: TestBackend
    ) throws {
        let desk = try ServiceDesk(backend)
        // SQLite adds no such column without a default.
        let rule =
            backend == .sqlite
            ? #"ALTER TABLE "todoitem" ADD COLUMN "must" TEXT CHECK ("must" IS NOT NULL OR "complete" IS NULL)"#
            : #"ALTER TABLE "todoitem" ADD COLUMN "must" text NOT NULL"#
        try desk.store.database.carryOut([rule])
        let operations = #"""
            {"operation":"insert","table":"todoitem","item":{"id":"a","complete":true}},
            {"operation":"insert","table":"hard","item":{"id":"b"}}
            """#
        let answer = try desk.ask("POST", "/tables/$batch", #"{"operations":[\#(operations)]}"#)
        #expect(answer.json["results"]?[0]?["code"] == .string("constraint"), "\(answer.text)")
        #expect(answer.json["results"]?[1]?["status"] == .integer(201))
    }
}
