// The file of another client is only read, and an import makes a whole store or none.

import Foundation
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineSQL

@Suite(.timeLimit(.minutes(10))) struct ForeignFileTests {
    private let directory: TemporaryDirectory
    private let file: CoreDataFixture

    init() throws {
        directory = try TemporaryDirectory()
        file = try CoreDataFixture(directory)
    }

    private func bytes(_ path: String) throws -> [UInt8] { [UInt8](try Data(contentsOf: URL(filePath: path))) }

    private func foreign(_ path: String? = nil, _ client: ForeignClient = .msclient) -> ForeignStore {
        ForeignStore(
            at: path ?? file.path, from: client, tables: client == .msclient ? CoreDataFixture.tables : [])
    }

    private var storePath: String { directory.path + "/store" }

    /// The names of everything in the directory.
    private func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory.path).sorted()
    }

    private func refusal(
        _ store: ForeignStore, _ configuration: SyncConfiguration = .init()
    ) async -> SyncError? {
        await #expect(throws: SyncError.self) { try await store.makeStore(at: storePath, configuration) }
    }

    @Test func `changes that are only in the write-ahead log are imported, and no file is changed`() async throws {
        let writer = try PlainSQLite(file.path)
        try writer.run("PRAGMA journal_mode = WAL")
        // While this connection reads in this mode, the last one that writes does not empty the log.
        try writer.run("SELECT count(*) FROM ZTODOITEM")
        try file.add("a", ["ZTEXT": "'milk'"])
        try file.add(operation: 1, 0, "a")
        let before = try bytes(file.path)
        let log = try bytes(file.path + "-wal")
        #expect(!log.isEmpty)
        let report = try await foreign().makeStore(at: storePath)
        #expect(report.operations == 1)
        #expect(try bytes(file.path) == before)
        #expect(try bytes(file.path + "-wal") == log)
        try withExtendedLifetime(writer) { _ = try writer.run("SELECT 1") }
    }

    @Test func `a transaction that was not committed is undone in the copy`() async throws {
        for number in 0..<200 {
            try file.add("r\(number)", ["ZTEXT": "'\(String(repeating: "old ", count: 100))'"])
        }
        // The same file as it is while an app writes: some pages are new, and the journal has the old ones.
        let writer = try PlainSQLite(file.path)
        try writer.run("PRAGMA cache_size = 5")
        try writer.run("BEGIN")
        try writer.run("UPDATE ZTODOITEM SET ZTEXT = replace(ZTEXT, 'old', 'new')")
        let copy = directory.path + "/torn.sqlite"
        for companion in ["", "-journal"] {
            try FileManager.default.copyItem(atPath: file.path + companion, toPath: copy + companion)
        }
        try writer.run("ROLLBACK")
        let torn = try bytes(copy)
        #expect(torn != (try bytes(file.path)))
        #expect(try await foreign(copy).makeStore(at: storePath).tables.first?.rows == 200)
        let database = try await SyncDatabase.open(at: storePath)
        let new = try await database.rows(of: "TodoItem").query(RowQuery(table: "TodoItem")).rows.filter {
            if case .string(let text)? = $0.columns["text"] { text.contains("new") } else { true }
        }
        #expect(new.isEmpty)
        #expect(try bytes(copy) == torn)
        try await database.close()
    }

    @Test func `tables larger than a part are imported whole`() async throws {
        try file.run(
            """
            WITH RECURSIVE n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 1201)
            INSERT INTO ZTODOITEM (Z_ENT, ZID, ZTEXT, ZVERSION) SELECT 4, 'r' || i, 'text ' || i, 'v' || i FROM n
            """)
        #expect(try await foreign().makeStore(at: storePath).tables == [.init(name: "TodoItem", rows: 1201)])
        let database = try await SyncDatabase.open(at: storePath)
        #expect(try await database.rows(of: "TodoItem").get(id: "r1201")?.columns["text"] == "text 1201")
        #expect(try await database.rows(of: "TodoItem").query(RowQuery(table: "TodoItem")).rows.count == 1201)
        try await database.close()
    }

    @Test func `files of another kind are refused by the first table or column that they lack`() async throws {
        let plain = directory.path + "/plain.sqlite"
        try PlainSQLite(plain).add("t", columns: ["id"], rows: [["a"]])
        #expect(
            await refusal(foreign(plain))?.message
                == "the file has no table ZMS_TABLEOPERATIONS, so it is not a store of MSClient")
        #expect(
            await refusal(foreign(plain, .datasync))?.message
                == """
                the file has no table DatasyncOperationsQueue, so it is not a file of the Datasync Community Toolkit \
                or of Microsoft.Datasync.Client
                """)
        try file.run("ALTER TABLE ZMS_TABLEOPERATIONS RENAME COLUMN ZITEMID TO ZITEM")
        #expect(
            await refusal(foreign())?.message
                == "the table ZMS_TABLEOPERATIONS has no column ZITEMID, so the file is not a store of MSClient")
        let text = directory.path + "/text"
        try Data("not a database, but long enough to look at".utf8).write(to: URL(filePath: text))
        #expect(await refusal(foreign(text))?.code == .storeCorrupt)
        #expect(await refusal(foreign(directory.path))?.code == .ioError)
        #expect(await refusal(foreign(directory.path + "/missing"))?.code == .ioError)
        #expect(try names() == ["Todo List.sqlite", "plain.sqlite", "text"])
    }

    @Test func `a damaged file is refused, and nothing is left of the attempt`() async throws {
        for number in 0..<300 { try file.add("r\(number)", ["ZTEXT": "'\(String(repeating: "x", count: 200))'"]) }
        var damaged = try bytes(file.path)
        let page = 4096 * (damaged.count / 4096 / 2)
        for place in page..<page + 2000 { damaged[place] = 0xa5 }
        try Data(damaged).write(to: URL(filePath: file.path))
        let error = await refusal(foreign())
        #expect(error?.code == .storeCorrupt)
        #expect(error?.message.contains(file.path) == true)
        #expect(try names() == ["Todo List.sqlite"])
    }

    @Test func `damage that reading does not meet is found, too`() async throws {
        try file.run("CREATE INDEX Z_TodoItem_text ON ZTODOITEM (ZTEXT)")
        try file.add("a", ["ZTEXT": "'milk and bread'"])
        var damaged = try bytes(file.path)
        let text = Array("milk and bread".utf8)
        // In the row or in the index: one of them is wrong now.
        let place = try #require(
            (0..<damaged.count - text.count).first { Array(damaged[$0..<$0 + text.count]) == text })
        damaged[place] = UInt8(ascii: "s")
        try Data(damaged).write(to: URL(filePath: file.path))
        #expect(await refusal(foreign())?.code == .storeCorrupt)
    }

    @Test func `the copy that is read has no name`() throws {
        try file.add("a", ["ZTEXT": "'milk'"])
        let copy = try ForeignFile(file.path)
        #expect(try copy.run("SELECT ZTEXT FROM ZTODOITEM") == [["milk"]])
        // The folders of other tests, which run at the same time, have other files or none.
        let temporary = FileManager.default.temporaryDirectory.path
        let mine = try FileManager.default.contentsOfDirectory(atPath: temporary).filter { folder in
            guard folder.hasPrefix("syncline-import-") else { return false }
            return (try? bytes("\(temporary)/\(folder)/copy.sqlite")) == (try? bytes(file.path))
        }
        #expect(mine.isEmpty)
        #expect(try copy.run("SELECT count(*) FROM ZMS_TABLEOPERATIONS") == [[0]])
    }

    @Test func `an import that fails midway leaves no store, and the next one can succeed`() async throws {
        try file.add("a", ["ZTEXT": "'milk'"])
        let strict = SyncConfiguration(schema: SyncSchema(version: 1, tables: [TableSchema("other")], isStrict: true))
        #expect(await refusal(foreign(), strict)?.code == .unknownTable)
        #expect(try names() == ["Todo List.sqlite"])
        // What a process left that was killed.
        let left = storePath + ".import-1"
        try FileManager.default.createDirectory(atPath: left, withIntermediateDirectories: true)
        try Data().write(to: URL(filePath: left + "/LOCK"))
        _ = try await foreign().makeStore(at: storePath)
        #expect(try names() == ["Todo List.sqlite", "store"])
        #expect(await refusal(foreign())?.code == .storeExists)
    }

    @Test func `a check reads everything and makes nothing`() async throws {
        try file.add("a", ["ZTEXT": "'milk'", "ZCOMPLETE": "5"])
        try file.add(operation: 1, 0, "a")
        let report = try await foreign().check()
        #expect(report.operations == 1)
        #expect(report.left.map(\.reason) == [.value(column: "complete")])
        #expect(try names() == ["Todo List.sqlite"])
        #expect(try await foreign().makeStore(at: storePath) == report)
    }

    @Test(arguments: 0..<UInt64(6))
    func `a file with any wrong bytes is refused or imported`(seed: UInt64) async throws {
        for number in 0..<5 {
            try file.add("r\(number)", ["ZTEXT": "'text'", "ZVERSION": "'1'", "ZCREATEDAT": "1.5"])
            try file.add(operation: number, number % 3, "r\(number)", item: #"{"id":"r\#(number)"}"#)
        }
        var chance = Chance(seed: seed)
        let whole = try bytes(file.path)
        var outcomes: Set<String> = []
        for _ in 0..<25 {
            var wrong = whole
            for _ in 0...chance.below(3) { wrong[chance.below(wrong.count)] = UInt8(chance.below(256)) }
            if chance.below(5) == 0 { wrong.removeLast(chance.below(wrong.count)) }
            try Data(wrong).write(to: URL(filePath: file.path))
            do throws(SyncError) {
                let report = try await foreign().check()
                outcomes.insert(report.left.isEmpty ? "whole" : "in part")
            } catch {
                #expect([.storeCorrupt, .invalidConfiguration].contains(error.code), "seed \(seed): \(error)")
                outcomes.insert("refused")
            }
        }
        #expect(outcomes.contains("refused"), "seed \(seed)")
        #expect(outcomes.count > 1, "seed \(seed)")
    }

    /// What MSClient would have sent, from its rules and nothing else.
    private func expected(_ rows: [String: String], _ operations: [(type: Int, id: String, version: Int?)]) -> [String]
    {
        operations.map { operation in
            let text = rows[operation.id] ?? ""
            let condition = operation.version.map { #" if "\#($0)""# } ?? ""
            switch operation.type {
            case 0: return #"POST /tables/TodoItem {"id":"\#(operation.id)","text":"\#(text)"}"#
            case 1: return #"PATCH /tables/TodoItem/\#(operation.id)\#(condition) {"text":"\#(text)"}"#
            default: return "DELETE /tables/TodoItem/\(operation.id)\(condition)"
            }
        }
    }

    @Test(arguments: 0..<UInt64(12))
    func `a push of any queue sends what MSClient would have sent`(seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        var rows: [String: String] = [:]
        var onServer: [Value] = []
        var operations: [(type: Int, id: String, version: Int?)] = []
        for number in 0..<(1 + chance.below(30)) {
            let id = "r\(number)"
            let version = chance.below(3) == 0 ? nil : number + 1
            let type = chance.below(4)
            if type != 0 {
                onServer.append(
                    .object([
                        .init("id", .string(id)), .init("text", "theirs"), .init("version", .string("\(number + 1)")),
                    ]))
            }
            if type < 3 { operations.append((type, id, type == 0 ? nil : version)) }
            if type != 2 {
                rows[id] = "text \(chance.below(100))"
                try file.add(
                    id,
                    [
                        "ZTEXT": "'\(rows[id] ?? "")'",
                        "ZVERSION": version.map { type == 0 ? "NULL" : "'\($0)'" } ?? "NULL",
                    ])
            }
        }
        for place in operations.indices.reversed() { operations.swapAt(place, chance.below(place + 1)) }
        for (number, operation) in operations.enumerated() {
            let version = operation.version.map { #","version":"\#($0)""# } ?? ""
            let item = operation.type == 2 ? #"{"id":"\#(operation.id)"\#(version)}"# : nil
            try file.add(operation: number + 1, operation.type, operation.id, item: item)
        }
        let columns = CoreDataFixture.tables[0].columns.map { $0.name == "text" ? $0 : ForeignColumn($0.name, .skip) }
        let store = try await ImportedStore(
            file.path, .msclient, [ForeignTable("TodoItem", columns: columns)], directory, "TodoItem", rows: onServer)
        #expect(store.report.left.isEmpty, "seed \(seed)")
        #expect(try await store.database.push().outcome == .complete, "seed \(seed)")
        #expect(store.sent == expected(rows, operations), "seed \(seed)")
        _ = try await store.database.pull("TodoItem", PullSettings(queryID: "all"))
        let found = try await store.database.rows(of: "TodoItem").query(RowQuery(table: "TodoItem")).rows
        let deleted = Set(operations.filter { $0.type == 2 }.map(\.id))
        let wanted = Set(rows.keys).union(
            onServer.compactMap { row in
                if case .string(let id)? = row[member: "id"] { id } else { nil }
            }
        ).subtracting(deleted)
        #expect(Set(found.map(\.id)) == wanted, "seed \(seed)")
        try await store.database.close()
    }
}
