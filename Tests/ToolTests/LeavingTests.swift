// Leaving: a store with pending, refused and waiting changes is written to one file, which SQLite reads without this
// project's code, and its rows move to other servers.

import CSQLite
import Foundation
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct LeavingTests {
    private let folder: TemporaryFolder
    private let network: SimulatedNetwork

    private func call(_ words: String..., in store: String = "store", input: String = "") async -> Call {
        await Call.tool(words: words + ["-s", folder.path + "/" + store], input: input, transport: network)
    }

    /// Rows with every kind of value, of which one is changed, one deleted, one in conflict and one new.
    init() async throws {
        folder = try TemporaryFolder()
        let server = SimulatedServer(.datasync3)
        network = SimulatedNetwork(server)
        let rows = try [
            #"{"id":"a","text":"milk","n":7,"big":12345678901234567890.12,"due":"2026-05-19T21:30:00.1234567+02:00"}"#,
            #"{"id":"b","text":"it's \"=1+1\"\n;","n":-0.1,"tags":["x",{"y":null}],"done":true}"#,
            #"{"id":"c","text":"before","n":0}"#, #"{"id":"d","text":"","n":null}"#,
            #"{"id":"f","text":"\u202e","n":9223372036854775807}"#,
        ].map { try Value(json: $0.utf8) }
        server.setTable("todo", rows: rows)
        server.setTable("Select", rows: [try Value(json: #"{"id":"1","order by":"x"}"#.utf8)])
        _ = await call("init", "--backend", "http://127.0.0.1:9", "--protocol", ServerProtocol.datasync3.rawValue)
        for table in ["todo", "Select"] { #expect(await call("sync", table).exit == .done) }
        server.upsert([try Value(json: #"{"id":"c","text":"theirs","n":1}"#.utf8)], in: "todo")
        #expect(await call("update", "todo", #"{"id":"c","text":"mine"}"#).exit == .done)
        #expect(await call("push").exit != .done)
        #expect(await call("update", "todo", #"{"id":"a","n":8}"#).exit == .done)
        #expect(await call("delete", "todo", "d").exit == .done)
        #expect(await call("insert", "todo", #"{"id":"e","text":"new"}"#).exit == .done)
    }

    /// The rows of the result of a statement.
    private func rows(_ statement: String, of file: String) throws -> [[String?]] {
        var (handle, prepared): (OpaquePointer?, OpaquePointer?)
        #expect(sqlite3_open(file, &handle) == SQLITE_OK)
        defer { sqlite3_close_v2(handle) }
        try #require(sqlite3_prepare_v2(handle, statement, -1, &prepared, nil) == SQLITE_OK, "\(statement)")
        defer { sqlite3_finalize(prepared) }
        var rows: [[String?]] = []
        while sqlite3_step(prepared) == SQLITE_ROW {
            rows.append(
                (0..<sqlite3_column_count(prepared)).map { column in
                    sqlite3_column_text(prepared, column).map { text in
                        let count = Int(sqlite3_column_bytes(prepared, column))
                        return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
                    }
                })
        }
        return rows
    }

    @Test func `SQLite reads everything that is in a store`() async throws {
        let statements = await call("export", "--format", "sql")
        #expect(statements.exit == .done)
        let file = folder.path + "/out.db"
        var handle: OpaquePointer?
        #expect(sqlite3_open(file, &handle) == SQLITE_OK)
        #expect(sqlite3_exec(handle, statements.output, nil, nil, nil) == SQLITE_OK)
        sqlite3_close_v2(handle)
        let found = try rows("SELECT id, text, n, big, due, tags, done FROM todo ORDER BY id", of: file)
        #expect(
            found == [
                ["a", "milk", "8", "12345678901234567890.12", "2026-05-19T21:30:00.1234567+02:00", nil, nil],
                ["b", "it's \"=1+1\"\n;", "-0.1", nil, nil, #"["x",{"y":null}]"#, "1"],
                ["c", "mine", "1", nil, nil, nil, nil], ["e", "new", nil, nil, nil, nil, nil],
                ["f", "\u{202e}", "9223372036854775807", nil, nil, nil, nil],
            ])
        #expect(try rows(#"SELECT "order by" FROM "Select""#, of: file) == [["x"]])
        let waiting = try rows("SELECT itemId, properties FROM MS_TableOperations ORDER BY itemId", of: file)
        #expect(waiting.map { $0[0] } == ["a", "c", "d", "e"])
        #expect(waiting[2][1]?.contains(#""type":2"#) == true)
        #expect(try rows("SELECT properties FROM MS_TableOperationErrors", of: file)[0][0]?.contains("theirs") == true)
        #expect(try rows(#"SELECT "table" FROM MS_TableConfig ORDER BY 1"#, of: file) == [["Select"], ["todo"]])
    }

    @Test func `a file of the events becomes the same store`() async throws {
        let events = await call("export", "--format", "events").output
        #expect(await call("import", in: "copy", input: events).exit == .done)
        for words in [["export"], ["pending", "--json"], ["conflicts", "--json"], ["log", "--json"]] {
            let (here, there) = (
                await Call.tool(words: words + ["-s", folder.path + "/store"]),
                await Call.tool(words: words + ["-s", folder.path + "/copy"])
            )
            #expect(here.exit == there.exit && here.output == there.output, "\(words)")
        }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `the rows move to another server`(speaking: ServerProtocol) async throws {
        let server = SimulatedServer(speaking)
        for table in ["todo", "Select"] { server.setTable(table, rows: []) }
        let other = SimulatedNetwork(server)
        func move(_ words: String..., input: String = "") async -> Call {
            await Call.tool(words: words + ["-s", folder.path + "/moved"], input: input, transport: other)
        }
        let rows = await call("export").output
        _ = await move("init", "--backend", "http://127.0.0.1:9", "--protocol", speaking.rawValue)
        #expect(await move("import", input: rows).exit == .done)
        #expect(await move("push").exit == .done)
        func plain(_ rows: [Value]) -> Set<String> {
            Set(
                rows.map { row in
                    guard case .object(let members) = row else { return "" }
                    let names = Item.systemColumns
                    return Value.object(members.filter { !names.contains($0.name) }).json
                })
        }
        let expected = try rows.split(separator: "\n").map { try Value(json: $0.utf8) }.map { line in
            (line[member: "table"], line[member: "row"] ?? .null)
        }
        for table in ["todo", "Select"] {
            let mine = expected.filter { $0.0 == .string(table) }.map(\.1)
            #expect(mine.count == (table == "todo" ? 5 : 1))
            #expect(plain(server.rows(of: table)) == plain(mine), "\(table)")
        }
    }
}
