// Mirrors and full-text indexes follow a store.

import Foundation
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineSQL

@Suite(.timeLimit(.minutes(10))) struct FollowingTests {
    private static let index = FullTextIndex("item", columns: ["text"], prefixes: [2])

    @Test(arguments: 0..<UInt64(6))
    func `files are those of the state after each of many changes`(seed: UInt64) async throws {
        let directory = try TemporaryDirectory()
        var store = try await RandomStore(seed: seed)
        let path = directory.path + "/mirror.sqlite"
        for round in 0..<8 {
            try await store.live(steps: 1 + store.chance.below(8))
            #expect(try await SQLMirror(store.database, at: path).update() == store.database.lastEvent)
            try await FollowingFiles.checkMirror(path, store.database, "seed \(seed), round \(round)")
        }
        try await store.database.close()
    }

    @Test func `an update reads only what changed, and a file that does not fit is rebuilt`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/mirror.sqlite"
        let database = try await SyncDatabase.open(at: directory.path + "/store")
        for number in 0..<20 { try await database.rows(of: "item").insert(["id": .string("r\(number)"), "n": 1]) }
        let mirror = SQLMirror(database, at: path)
        try await mirror.update()
        // A change of our own shows whether the table was written again.
        try PlainSQLite(path).run("update item set n = 7 where id = 'r3'")
        try await database.rows(of: "item").update(["id": "r5", "n": 2])
        try await mirror.update()
        #expect(try PlainSQLite(path).run("select n from item where id in ('r3', 'r5') order by id") == [[7], [2]])
        // Another history: the record at that number is another one.
        try PlainSQLite(path).run("update syncline_stamp set record = '00'")
        try await mirror.update()
        try await FollowingFiles.checkMirror(path, database, "another record")
        // Another store.
        let other = try await SyncDatabase.open(MemoryStorage())
        try await other.rows(of: "list").insert(["id": "l"])
        try await SQLMirror(other, at: path).update()
        try await FollowingFiles.checkMirror(path, other, "another store")
        #expect(try PlainSQLite(path).run("select count(*) from sqlite_schema where name = 'item'") == [[0]])
        try await database.close()
    }

    @Test func `a file is updated even if history was removed`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/mirror.sqlite"
        var configuration = SyncConfiguration()
        configuration.log.segmentSize = .kibibytes(64)
        let database = try await SyncDatabase.open(at: directory.path + "/store", configuration)
        try await database.rows(of: "item").insert(["id": "a", "n": 1])
        let mirror = SQLMirror(database, at: path)
        try await mirror.update()
        for number in 0..<200 {
            let text = String(repeating: "\(number) ", count: 300)
            try await database.pull(
                PulledPage(
                    table: "item", queryID: "q", rows: [PulledRow(id: "a", row: Row([.init("text", .string(text))]))],
                    cursor: nil))
        }
        try await database.set(retention: .events(1))
        #expect(try await database.compact().firstEvent > 10)
        let events = "select count(*) from syncline_events where event"
        #expect(try await database.sql("\(events) >= 2", as: Int.self) == database.sql("\(events) > 0", as: Int.self))
        try await mirror.update()
        try await FollowingFiles.checkMirror(path, database, "after the removal")
        try await database.close()
    }

    @Test func `a file of another program is never touched, a damaged mirror is rebuilt`() async throws {
        let directory = try TemporaryDirectory()
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.rows(of: "item").insert(["id": "a", "n": 1])
        let theirs = directory.path + "/theirs.sqlite"
        try PlainSQLite(theirs).run("create table item (id)")
        let text = directory.path + "/text.txt"
        try String(repeating: "not a database\n", count: 1000).write(toFile: text, atomically: true, encoding: .utf8)
        for path in [theirs, text] {
            let before = try Data(contentsOf: URL(fileURLWithPath: path))
            let error = await #expect(throws: SyncError.self) { try await SQLMirror(database, at: path).update() }
            #expect(error?.message.contains(path) == true && error?.hint == "Choose another path.", "\(error as Any)")
            #expect(try Data(contentsOf: URL(fileURLWithPath: path)) == before)
        }
        let path = directory.path + "/mirror.sqlite"
        try await SQLMirror(database, at: path).update()
        // In write-ahead mode the last one to close the file copies everything into it.
        var bytes = try Data(contentsOf: URL(fileURLWithPath: path))
        for place in 100..<bytes.count { bytes[place] = 0x5a }
        try bytes.write(to: URL(fileURLWithPath: path))
        try await SQLMirror(database, at: path).update()
        try await FollowingFiles.checkMirror(path, database, "a damaged file")
    }

    @Test func `a mirror follows commits`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/mirror.sqlite"
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.rows(of: "item").insert(["id": "a"])
        let (events, continuation) = AsyncStream.makeStream(of: EventNumber.self)
        let mirror = SQLMirror(database, at: path)
        let task = Task { try await mirror.follow { continuation.yield($0) } }
        var seen = events.makeAsyncIterator()
        #expect(await seen.next() == database.lastEvent)
        try await database.rows(of: "item").insert(["id": "b"])
        #expect(await seen.next() == database.lastEvent)
        try await FollowingFiles.checkMirror(path, database, "followed")
        try await database.close()
        try await task.value
    }

    @Test func `a mirror that is cancelled stops following`() async throws {
        let directory = try TemporaryDirectory()
        let database = try await SyncDatabase.open(MemoryStorage())
        let (events, continuation) = AsyncStream.makeStream(of: EventNumber.self)
        let mirror = SQLMirror(database, at: directory.path + "/mirror.sqlite")
        let task = Task { try await mirror.follow { continuation.yield($0) } }
        var seen = events.makeAsyncIterator()
        #expect(await seen.next() == database.lastEvent)
        task.cancel()
        let result = await task.result
        guard case .failure(let error as SyncError) = result else {
            Issue.record("\(result)")
            return
        }
        #expect(error.code == .cancelled)
        try await database.close()
    }

    @Test func `an older state does not revert a mirror`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/mirror.sqlite"
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.rows(of: "item").insert(["id": "a", "n": 1])
        let older = try database.sqlSource
        try await database.rows(of: "item").update(["id": "a", "n": 2])
        try await SQLMirror(database, at: path).update()
        #expect(try MirrorFile(path).update(to: older) == database.lastEvent.rawValue)
        try await FollowingFiles.checkMirror(path, database, "after the older state")
        #expect(try PlainSQLite(path).run("select n from item") == [[2]])
    }

    @Test func `an update that fails leaves the file at its earlier event`() async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/mirror.sqlite"
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.rows(of: "item").insert(["id": "a", "n": 1])
        let before = try await SQLMirror(database, at: path).update().rawValue
        try await database.rows(of: "item").update(["id": "a", "n": 2])
        #expect(throws: SyncError.self) {
            try FollowingFile(path: path, content: FailingContent(), isPrivate: false).update(
                to: database.sqlSource
            ) { _, event in event }
        }
        #expect(try await FollowingFiles.checkMirror(path, database, "after the failure") == before)
    }

    @Test(arguments: [499, 500, 501, 1203])
    func `a mirror of many tables is whole, also after an update that fails`(count: Int) async throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/mirror.sqlite"
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.transaction { transaction in
            for number in 0..<count {
                for id in ["a", "b"] {
                    try transaction.insert("t\(number)", ["id": .string(id), "n": .integer(Int64(number))])
                }
                try transaction.insert("t\(number)", ["id": "c", "another \(number)": true])
            }
        }
        try await database.declareIndex(table: "t7", column: "n")
        #expect(throws: SyncError.self) {
            try FollowingFile(path: path, content: FailingContent(), isPrivate: false).update(
                to: database.sqlSource
            ) { _, event in event }
        }
        #expect(try PlainSQLite(path).run("select count(*) from sqlite_schema") == [[0]])
        let mirror = SQLMirror(database, at: path)
        try await mirror.update()
        try await FollowingFiles.checkMirror(path, database, "first")
        try await database.rows(of: "t3").update(["id": "a", "n": -1, "more": 1])
        try await database.rows(of: "one more").insert(["id": "a"])
        try await mirror.update()
        try await FollowingFiles.checkMirror(path, database, "second")
    }

    @Test func `a full disk is an error, and undoes the transaction`() throws {
        let directory = try TemporaryDirectory()
        let path = directory.path + "/full.sqlite"
        let file = try FileConnection(path)
        try file.run("CREATE TABLE item (text TEXT)")
        try file.run("INSERT INTO item VALUES ('milk')")
        // SQLite reports a file that may not grow as a full disk.
        try file.run("PRAGMA max_page_count = 4")
        let long = Value.string(String(repeating: "long ", count: 10_000))
        do throws(FileFailure) {
            try file.transaction { () throws(FileFailure) in
                try file.run("DELETE FROM item")
                try file.run("INSERT INTO item VALUES (?)", [long])
            }
            Issue.record("it was written")
        } catch {
            let error = SyncError(error)
            #expect(error.code == .diskFull && error.hint != nil && error.message.contains(path), "\(error)")
        }
        #expect(try PlainSQLite(path).run("select text from item") == [["milk"]])
    }

    @Test func `a connection keeps a limited number of statements`() throws {
        let file = try FileConnection("")
        for number in 0..<600 {
            #expect(try file.run("SELECT \(number), ?", [1]) == [[.integer(Int64(number)), 1]])
        }
        #expect(file.statements.count <= 256)
    }
}
