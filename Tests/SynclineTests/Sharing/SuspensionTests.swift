// An app that lets go of its store while it is suspended, and what another process does meanwhile. Also which process
// has a store that can't be opened.

import Foundation
import SegmentLog
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline

@Suite struct SuspensionTests {
    private let disk = MemoryStorage(granularity: .sector)

    @Test func `a suspended store can be read, refuses changes, and shows what others wrote when it is resumed`()
        async throws
    {
        let app = try await SyncDatabase.open(disk, .process("app"))
        try await app.rows(of: "t").insert(.item("a", [:]))
        var results = app.rows(of: "t").observe(RowQuery(table: "t")).makeAsyncIterator()
        #expect(try await results.next()?.rows.map(\.id) == ["a"])
        try await app.suspend()
        try await app.suspend()
        #expect(try await app.rows(of: "t").count() == 1)
        for call in [
            { try await app.rows(of: "t").insert(.item("b", [:])) }, { try await app.checkpoint() },
            { _ = try await app.compact() }, { _ = try await app.push() },
        ] as [@Sendable () async throws -> Void] {
            let error = await #expect(throws: SyncError.self) { try await call() }
            #expect(error?.code == .suspended)
        }
        let other = try await SyncDatabase.open(disk, .process("other"))
        try await other.rows(of: "t").insert(.item("c", [:]))
        try await other.checkpoint()
        let locked = await #expect(throws: SyncError.self) { try await app.resume() }
        #expect(locked?.code == .storeLocked)
        try await other.close()
        let widget = try await SyncDatabase.follow(disk, .process("widget"))
        try await widget.rows(of: "t").insert(.item("d", [:]))
        try await app.resume()
        try await app.resume()
        // What the other process committed may be seen before the widget's change is taken in.
        var ids: [String]?
        repeat { ids = try await results.next()?.rows.map(\.id).sorted() } while ids == ["a", "c"]
        #expect(ids == ["a", "c", "d"])
        try await app.rows(of: "t").insert(.item("b", [:]))
        try await app.close()
        #expect(try await SyncDatabase.open(disk, .process("last")).rows(of: "t").count() == 4)
    }

    @Test func `a store that another has replaced in its folder is not resumed, and nothing is written to it`()
        async throws
    {
        let app = try await SyncDatabase.open(disk, .process("app"))
        try await app.rows(of: "t").insert(.item("mine", [:]))
        try await app.suspend()
        try await SyncDatabase.erase(disk, force: true)
        for _ in 0..<2 {
            let error = await #expect(throws: SyncError.self) { try await app.resume() }
            #expect(error?.code == .storeReplaced || error?.code == .noStore)
            let refused = await #expect(throws: SyncError.self) {
                try await app.rows(of: "t").insert(.item("x", [:]))
            }
            #expect(refused?.code == .suspended)
            let other = try await SyncDatabase.open(disk, .process("other"))
            try await other.rows(of: "t").insert(.item("theirs", [:]))
            #expect(try await other.rows(of: "t").query(RowQuery(table: "t")).rows.map(\.id) == ["theirs"])
            try await other.rows(of: "t").delete(id: "theirs")
            try await other.close()
        }
        let error = await #expect(throws: SyncError.self) { try await app.resume() }
        #expect(error?.code == .storeReplaced)
        #expect(try await app.rows(of: "t").get(id: "mine") != nil)
    }

    @Test(arguments: [false, true])
    func `a backup in place of a suspended store is named, not taken for no store`(wasMoved: Bool) async throws {
        let files = FileManager.default
        let root = files.temporaryDirectory.appending(path: "restored-\(UUID().uuidString)")
        defer { try? files.removeItem(at: root) }
        let (store, backup) = (root.appending(path: "store"), root.appending(path: "backup"))
        try files.createDirectory(at: root, withIntermediateDirectories: true)
        let app = try await SyncDatabase.open(at: store.path)
        try await app.rows(of: "t").insert(.item("a", [:]))
        try await app.suspend()
        try files.copyItem(at: store, to: backup)
        if wasMoved {
            try files.moveItem(at: store, to: root.appending(path: "elsewhere"))
        } else {
            try files.removeItem(at: store)
        }
        let gone = await #expect(throws: SyncError.self) { try await app.resume() }
        #expect(gone?.code == .storeReplaced)
        try files.moveItem(at: backup, to: store)
        let error = await #expect(throws: SyncError.self) { try await app.resume() }
        #expect(error?.code == .storeReplaced)
        let again = try await SyncDatabase.open(at: store.path)
        #expect(try await again.rows(of: "t").get(id: "a") != nil)
        try await again.close()
    }

    @Test func `a store is suspended while its checkpoints are written, again and again`() async throws {
        var configuration = SyncConfiguration.test(memory: 20_000)
        configuration.environment = CountedEnvironment()
        let app = try await SyncDatabase.open(disk, configuration)
        for round in 0..<20 {
            for number in 0..<20 {
                let text = Value.string(String(repeating: "x", count: 500))
                try await app.rows(of: "t").insert(.item("\(round)-\(number)", ["text": text]))
            }
            try await app.suspend()
            let lock = try #require(try disk.lock("LOCK"))
            lock.release()
            try await app.resume()
        }
        #expect(try await app.rows(of: "t").count() == 400)
        try await app.close()
        #expect(try await SyncDatabase.open(disk, .process("last")).rows(of: "t").count() == 400)
    }

    @Test func `a store that is open is refused with the process that has it`() async throws {
        let app = try await SyncDatabase.open(disk, .process("app"))
        let error = await #expect(throws: SyncError.self) { _ = try await SyncDatabase.open(disk, .process("again")) }
        #expect(error?.code == .storeLocked)
        #expect(error?.message == "this process already has memory open")
        try await app.close()
        let lock = try #require(try disk.lock("LOCK"))
        lock.note("process 1, init")
        let other = await #expect(throws: SyncError.self) { _ = try await SyncDatabase.open(disk, .process("again")) }
        #expect(other?.message == "another writer has memory open (process 1, init)")
        lock.release()
    }

    @Test func `processes notice each other's changes in a directory`() async throws {
        let path = FileManager.default.temporaryDirectory.appending(path: "sharing-\(UUID().uuidString)").path
        defer { try? FileManager.default.removeItem(atPath: path) }
        var configuration = SyncConfiguration()
        configuration.isShared = true
        let app = try await SyncDatabase.open(at: path, configuration)
        let widget = try await SyncDatabase.follow(at: path)
        var inWidget = widget.rows(of: "t").observe(RowQuery(table: "t")).makeAsyncIterator()
        var inApp = app.rows(of: "t").observe(RowQuery(table: "t")).makeAsyncIterator()
        #expect(try await inWidget.next()?.rows.count == 0)
        #expect(try await inApp.next()?.rows.count == 0)
        try await app.rows(of: "t").insert(.item("a", [:]))
        #expect(try await inWidget.next()?.rows.map(\.id) == ["a"])
        #expect(try await inApp.next()?.rows.map(\.id) == ["a"])
        try await widget.rows(of: "t").insert(.item("b", [:]))
        #expect(try await inApp.next()?.rows.map(\.id).sorted() == ["a", "b"])
        try await widget.close()
        try await app.close()
    }
}
