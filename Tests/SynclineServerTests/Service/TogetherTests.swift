// Requests that arrive together share a transaction, which only the disk notices.

import Dispatch
import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct TogetherTests {
    @Test(arguments: TestBackend.stores)
    func `each of many writers at once gets its own answer`(_ backend: TestBackend) throws {
        let desk = try ServiceDesk(backend)
        let wrong = Mutex([String]())
        let service = desk.service
        DispatchQueue.concurrentPerform(iterations: 8) { worker in
            for step in 0..<25 {
                let id = "r\(worker)-\(step)"
                guard var request = HTTPRequest("POST", target: "/tables/fixed") else { return }
                // Every fifth is refused: because of the item, or because the row exists.
                let number = step % 5 == 4 ? #""no number""# : "\(step)"
                request.body = Array(#"{"id":"\#(step % 5 == 3 ? "same" : id)","n":\#(number)}"#.utf8)
                let answer = service.answer(request, url: "http://x")
                let isFine =
                    switch step % 5 {
                    case 3: answer.status == 409 || answer.status == 201
                    case 4: answer.status == 400
                    default: answer.status == 201 && answer.json["id"] == .string(id)
                    }
                if !isFine { wrong.withLock { $0.append("\(id): \(answer.status) \(answer.text)") } }
            }
        }
        #expect(wrong.withLock { $0 } == [])
        let count = try desk.ask("GET", "/tables/fixed?$top=0&$inlinecount=allpages")
        #expect(count.json["count"] == .integer(8 * 15 + 1))
        let changes = try desk.ask("GET", "/tables/fixed/changes?since=")
        guard case .array(let rows)? = changes.json["items"] else { return }
        let times = rows.compactMap { $0["updatedAt"]?.string }
        #expect(rows.count == 121 && times == times.sorted(), "time runs as the changes do")
    }

    @Test func `a request that the database refuses does not fail the others`() throws {
        let (database, keeper) = try TestBackend.sqlite.database()
        try database.write { connection throws(StoreFailure) in
            try connection.execute(
                """
                CREATE TABLE t (id TEXT PRIMARY KEY, "updatedAt" TEXT, version INTEGER, deleted INTEGER, \
                n INTEGER CHECK (n < 5))
                """)
        }
        let settings = try configuration(#"{"tables":{"t":{}}}"#)
        let store = try SQLStore(database, settings.tables, StillEnvironment())
        func write(_ id: String, _ number: Int64) -> TableWrite {
            TableWrite(.insert(Row([.init("n", .integer(number))])), table: "t", id: id, serverProtocol: .zumo2)
        }
        let groups = [[write("a", 1)], [write("b", 9)], [write("c", 2), write("d", 9)], [write("e", 3)]]
        let outcomes = try store.write(groups, stopsAtRefusal: false)
        #expect(outcomes.map { $0.map(\.isRefused) } == [[false], [true], [true, true], [false]])
        #expect(try store.row("t", id: "c") == nil && store.row("t", id: "e") != nil)
        withExtendedLifetime(keeper) {}
    }
}
