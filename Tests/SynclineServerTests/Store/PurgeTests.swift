// Old entries are removed in portions, and nothing else.

import SynclineCore
import SynclineTables
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct PurgeTests {
    @Test(arguments: TestBackend.available)
    func `what ended before a time goes in several portions, and what ended later stays`(
        _ backend: TestBackend
    ) throws {
        let desk = try ServiceDesk(backend)
        let sources = [
            ("syncline_tombstones", "'hard', 'x' || n, '', n, n"),
            ("syncline_edges", "1, 'r' || n, 'f', 't', 1, 1, n, n"),
            ("syncline_stays", "1, 'b', 'x' || n, 1, 1, n, n, 0"),
        ]
        for (table, values) in sources {
            try desk.store.database.carryOut([
                """
                INSERT INTO "\(table)" WITH RECURSIVE s(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM s WHERE n < 2500) \
                SELECT \(values) FROM s
                """
            ])
        }
        // Some that have not ended, and some that ended at the same time.
        try desk.store.database.carryOut([
            #"INSERT INTO "syncline_edges" VALUES (1, 'open', 'f', 't', 1, 1, NULL, NULL)"#,
            #"INSERT INTO "syncline_stays" VALUES (1, 'b', 'open', 1, 1, NULL, NULL, 0)"#,
            #"UPDATE "syncline_edges" SET "endTime" = 1001 WHERE "end" BETWEEN 995 AND 1005"#,
            #"UPDATE "syncline_stays" SET "leftTime" = 500, "left" = 500 WHERE "left" BETWEEN 200 AND 1700"#,
        ])
        func counts() throws -> [Int64] {
            try sources.map { source in
                let statement = SQLStatement(prepared: "SELECT count(*) FROM \"\(source.0)\"", values: [])
                return try desk.store.database.read { connection throws(StoreFailure) in
                    try connection.first(statement, count: 1)?[0].integer ?? 0
                }
            }
        }
        try desk.store.purge(tombstonesBefore: 2300)
        #expect(try counts() == [201, 202, 202])
        #expect(try desk.store.mark().purged == 2299)
        try desk.store.purge(tombstonesBefore: 2300)
        try desk.store.purge(tombstonesBefore: 5)
        #expect(try counts() == [201, 202, 202])
        try desk.store.purge(tombstonesBefore: 1 << 40)
        #expect(try counts() == [0, 1, 1])
        #expect(try desk.store.mark().purged == 2500)
    }

    @Test(arguments: TestBackend.available)
    func `deleted rows go in several portions, and those restored or deleted later stay`(
        _ backend: TestBackend
    ) throws {
        let desk = try ServiceDesk(backend)
        func send(_ operation: String, _ numbers: some Sequence<Int>) throws {
            let all = numbers.map { number in
                #"{"operation":"\#(operation)","table":"todoitem","id":"\#(number)","item":{"id":"\#(number)"}}"#
            }
            let answer = try desk.ask("POST", "/tables/$batch", #"{"operations":[\#(all.joined(separator: ","))]}"#)
            #expect(answer.status == 200, "\(answer.text.prefix(300))")
        }
        func rows(_ query: String) throws -> Value? {
            try desk.ask("GET", "/tables/todoitem?$inlinecount=allpages&$top=1&\(query)").json["count"]
        }
        let portions = stride(from: 0, to: 2400, by: 200).map { $0..<$0 + 200 }
        for portion in portions { try send("insert", portion) }
        for portion in portions { try send("delete", portion) }
        try send("undelete", 300..<310)
        let time = desk.environment.now() + 5000
        desk.environment.set(now: time + 5000)
        try send("insert", 5000..<5020)
        try send("delete", 5000..<5010)
        let before = try desk.store.mark().change
        try desk.store.purge(tombstonesBefore: time)
        #expect(try rows("__includeDeleted=true") == .integer(30))
        #expect(try rows("__includeDeleted=false") == .integer(20))
        let purged = try desk.store.mark().purged
        #expect(purged > 0 && purged < before)
        // Later only the time since is searched.
        try desk.store.purge(tombstonesBefore: desk.environment.now() + 5000)
        #expect(try rows("__includeDeleted=true") == .integer(20))
        #expect(try desk.store.mark().purged == before)
        #expect(try desk.store.sweep().isEmpty)
    }
}
