// A process that follows a store beside the one that has it open for writing: what it sees, what it may do, and what
// happens to its changes.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct FollowerTests {
    private let disk = MemoryStorage(granularity: .sector)

    private func app(strict tables: [String]? = nil) async throws -> SyncDatabase {
        let database = try await SyncDatabase.open(disk, .process("app"))
        if let tables { try await database.setStrictTables(tables) }
        return database
    }

    private func follower(_ name: String = "widget") async throws -> SyncDatabase {
        try await SyncDatabase.follow(disk, .process(name))
    }

    private func rows(_ database: SyncDatabase) async throws -> [String: Value] {
        var rows: [String: Value] = [:]
        for row in try await database.rows(of: "t").query(RowQuery(table: "t")).rows {
            rows[row.id] = row.columns["n"]
        }
        return rows
    }

    @Test func `it sees what the other process writes after a refresh, and its own changes at once`() async throws {
        let app = try await app()
        try await app.rows(of: "t").insert(.item("a", ["n": 1]))
        let widget = try await follower()
        #expect(try await rows(widget) == ["a": 1])
        try await app.rows(of: "t").update(.item("a", ["n": 2]))
        try await widget.rows(of: "t").insert(.item("b", ["n": 3]))
        #expect(try await rows(widget) == ["a": 1, "b": 3])
        try await widget.refresh()
        #expect(try await rows(widget) == ["a": 2, "b": 3])
        #expect(try await rows(app) == ["a": 2])
        try await app.refresh()
        #expect(try await rows(app) == ["a": 2, "b": 3])
        #expect(try await app.pending().map(\.id) == ["a", "b"])
        #expect(try Tributaries.all(disk) == [])
        try await widget.refresh()
        #expect(try await rows(widget) == ["a": 2, "b": 3])
    }

    @Test func `its transactions keep their names`() async throws {
        let app = try await app()
        let widget = try await follower()
        try await widget.transaction("Tick off") { try $0.insert("t", .item("a", ["n": 1])) }
        try await widget.transaction { try $0.insert("t", .item("b", ["n": 2])) }
        try await app.refresh()
        #expect(try await app.undoSteps().undo.map(\.name) == [nil, "Tick off"])
    }

    @Test func `a model's table works before the app has declared its columns, and has their types afterwards`()
        async throws
    {
        struct Entry: SyncModel {
            static let table = "t"
            var id: String
            var due: Date
        }
        let app = try await app()
        try await app.rows(of: "t").insert(.item("a", ["due": "2026-03-01T12:00:00+02:00"]))
        let widget = try await follower()
        let entries = try widget.table(Entry.self)
        try await entries.insert(Entry(id: "b", due: Date(timeIntervalSince1970: 1_772_361_000)))
        #expect(try widget.columnTypes(of: "t").isEmpty)
        let typed = try app.table(Entry.self)
        try await app.refresh()
        try await widget.refresh()
        #expect(try widget.columnTypes(of: "t") == ["due": .date])
        // 10:00 and 10:30 in UTC.
        #expect(try await typed.order(by: \.due).get().map(\.id) == ["a", "b"])
        #expect(try await entries.order(by: \.due).get().map(\.id) == ["a", "b"])
        try await app.close()
    }

    @Test func `its changes wait while no process has the store open, and a new follower shows them`() async throws {
        try await app().close()
        let first = try await follower("one")
        try await first.transaction { transaction in
            try transaction.insert("t", .item("a", ["n": 1]))
            try transaction.insert("t", .item("b", ["n": 2]))
        }
        try await first.rows(of: "t").update(.item("a", ["n": 5]))
        try await first.close()
        let second = try await follower("two")
        #expect(try await rows(second) == ["a": 5, "b": 2])
        let app = try await app()
        #expect(try await rows(app) == ["a": 5, "b": 2])
        try await app.undo()
        #expect(try await rows(app) == ["a": 1, "b": 2])
    }

    @Test func `a live query of a follower shows what either process changes`() async throws {
        let app = try await app()
        let widget = try await follower()
        var results = widget.rows(of: "t").observe(RowQuery(table: "t")).makeAsyncIterator()
        #expect(try await results.next()?.rows.count == 0)
        try await widget.rows(of: "t").insert(.item("a", [:]))
        #expect(try await results.next()?.rows.map(\.id) == ["a"])
        try await app.rows(of: "t").insert(.item("b", [:]))
        try await widget.refresh()
        #expect(try await results.next()?.rows.map(\.id).sorted() == ["a", "b"])
    }

    @Test func `only rows can be changed by a follower`() async throws {
        let app = try await app()
        try await app.rows(of: "t").insert(.item("a", [:]))
        let widget = try await follower()
        let calls: [@Sendable () async throws -> Void] = [
            { try await widget.set("backend", "http://localhost") }, { _ = try await widget.undo() },
            { _ = try await widget.push() }, { _ = try await widget.pull("t") }, { try await widget.checkpoint() },
            { _ = try await widget.compact() }, { _ = try await widget.purge(table: "t", force: true) },
        ]
        for (number, call) in calls.enumerated() {
            let error = await #expect(throws: SyncError.self, "call \(number)") { try await call() }
            #expect(error?.code == .follower, "call \(number)")
        }
        #expect(try await widget.pending().count == 1)
        let first = try await widget.history(at: 1)
        #expect(try await first.get("t", id: "a") == nil)
    }

    @Test func `changes keep the order of cause and effect between processes`() async throws {
        try await app().close()
        // The names of processes say nothing of the order.
        for number in 0..<20 {
            let first = try await follower("first\(number)")
            try await first.rows(of: "t").update(.item("a", ["n": .integer(Int64(number))]))
        }
        #expect(try await rows(try await app()) == ["a": 19])
    }

    @Test func `a file that was put there during a listing makes later ones wait`() throws {
        let storage = ProcessStorage(disk)
        try disk.createDirectory("tributaries")
        func add(_ number: UInt64) throws {
            try WholeFile(TributaryName(number: number, process: 1).path, in: disk).replace(with: [])
        }
        try add(1)
        try add(3)
        let calls = Countdown(1)
        storage.beforeEachCall { [disk] in
            guard calls.isZeroNow else { return }
            try? WholeFile(TributaryName(number: 2, process: 1).path, in: disk).replace(with: [])
        }
        #expect(try Tributaries.waiting(storage).map(\.number) == [1])
        #expect(try Tributaries.waiting(storage).map(\.number) == [1, 2, 3])
    }

    @Test func `changes that are refused stay, and those of other processes are made`() async throws {
        let app = try await app()
        let (first, second) = (try await follower("one"), try await follower("two"))
        try await first.rows(of: "other").insert(.item("x", [:]))
        try await first.rows(of: "t").insert(.item("a", ["n": 1]))
        try await second.rows(of: "t").insert(.item("b", ["n": 2]))
        try await app.setStrictTables(["t"])
        let error = await #expect(throws: SyncError.self) { try await app.refresh() }
        #expect(error?.code == .unknownTable && error?.address?.hasPrefix("tributaries/") == true)
        #expect(try await rows(app) == ["b": 2])
        #expect(try Tributaries.all(disk).count == 2)
        try await app.setStrictTables(nil)
        try await app.refresh()
        #expect(try await rows(app) == ["a": 1, "b": 2])
    }

    @Test func `a damaged file is named and stays, and the rest is made`() async throws {
        let app = try await app()
        let (first, second) = (try await follower("one"), try await follower("two"))
        try await first.rows(of: "t").insert(.item("a", ["n": 1]))
        try await second.rows(of: "t").insert(.item("b", ["n": 2]))
        let name = try #require(try Tributaries.all(disk).first)
        try disk.flipBit(in: name.path, at: 40, bit: 3)
        let error = await #expect(throws: SyncError.self) { try await app.refresh() }
        #expect(error?.code == .storeCorrupt && error?.address == name.path)
        #expect(try await rows(app).count == 1)
        #expect(try Tributaries.all(disk) == [name])
        #expect(try await rows(try await follower("three")).count == 1)
    }

    @Test func `a file is read as it was written, or not at all`() throws {
        let file = TributaryFile(
            identity: LogIdentity(high: 7, low: 9), read: 12, schema: 3,
            events: [[1, 2, 3], [], Array(repeating: 4, count: 300)])
        let bytes = file.bytes
        let read = try TributaryFile(reading: bytes)
        #expect(read.identity == file.identity && read.events == file.events)
        for end in bytes.indices {
            #expect(throws: (any Error).self) { try TributaryFile(reading: Array(bytes[..<end])) }
        }
        for index in bytes.indices {
            for bit in 0..<8 {
                var changed = bytes
                changed[index] ^= 1 << bit
                #expect(throws: (any Error).self) { try TributaryFile(reading: changed) }
            }
        }
        let name = TributaryName(number: 0x2a, process: 0xffff_ffff_ffff_fff0)
        #expect(TributaryName(file: "000000000000002a-fffffffffffffff0.changes") == name)
        for wrong in [
            "2a-fffffffffffffff0.changes", "x.changes", "000000000000002a.changes", name.text,
            name.text + ".changes.tmp",
        ] {
            #expect(TributaryName(file: wrong) == nil)
        }
    }

    @Test func `a store with changes that wait is erased only with force, and then its followers can't write`()
        async throws
    {
        try await app().close()
        let widget = try await follower()
        try await widget.rows(of: "t").insert(.item("a", [:]))
        let error = await #expect(throws: SyncError.self) { try await SyncDatabase.erase(disk) }
        #expect(error?.code == .pendingChanges)
        try await SyncDatabase.erase(disk, force: true)
        #expect(try disk.names(in: "") == [])
        let gone = await #expect(throws: SyncError.self) { try await widget.rows(of: "t").insert(.item("b", [:])) }
        #expect(gone?.code == .storeReplaced)
        let app = try await app()
        #expect(try await app.tables() == [])
    }

    @Test func `changes for a store that was erased are not made in the next one`() async throws {
        try await app().close()
        let widget = try await follower()
        try await widget.rows(of: "t").insert(.item("a", [:]))
        let name = try #require(try Tributaries.all(disk).first)
        let bytes = try #require(disk.contents(of: name.path))
        try await SyncDatabase.erase(disk, force: true)
        try disk.createDirectory("tributaries")
        try WholeFile(name.path, in: disk).replace(with: bytes)
        let app = try await app()
        #expect(try await app.tables() == [])
        #expect(try Tributaries.all(disk) == [])
    }

    @Test func `a follower of a store that was replaced by another ends, and shows neither`() async throws {
        let app = try await app()
        try await app.rows(of: "t").insert(.item("mine", [:]))
        let widget = try await follower()
        var results = widget.rows(of: "t").observe(RowQuery(table: "t")).makeAsyncIterator()
        #expect(try await results.next()?.rows.map(\.id) == ["mine"])
        try await app.erase(force: true)
        let other = try await self.app()
        try await other.rows(of: "t").insert(.item("theirs", [:]))
        let calls: [(String, @Sendable () async throws -> Void)] = [
            ("refresh", { try await widget.refresh() }),
            ("get", { _ = try await widget.rows(of: "t").get(id: "mine") }),
            ("insert", { try await widget.rows(of: "t").insert(.item("mine", [:])) }),
            ("refresh", { try await widget.refresh() }),
        ]
        for (name, call) in calls {
            let error = await #expect(throws: SyncError.self, "\(name)") { try await call() }
            #expect(error?.code == .storeReplaced, "\(name)")
        }
        #expect(try await results.next() == nil)
        #expect(try await follower().rows(of: "t").query(RowQuery(table: "t")).rows.map(\.id) == ["theirs"])
    }

    @Test func `there is nothing to follow without a store`() async throws {
        let error = await #expect(throws: SyncError.self) { _ = try await follower() }
        #expect(error?.code == .noStore)
        #expect(try disk.names(in: "") == [])
    }
}
