// Rows to an SQLite file and back, and the files that are refused.

import CSQLite
import Foundation
import Testing

@testable import SynclineTool

@Suite struct SQLiteExchangeTests {
    private let folder: TemporaryFolder
    private var file: String { folder.path + "/rows.db" }

    init() throws { folder = try TemporaryFolder() }

    private func call(_ store: String, _ words: String..., input: String = "") async -> Call {
        await Call.tool(words: words + ["-s", folder.path + "/" + store], input: input)
    }

    /// A store with rows in two tables.
    private func store() async {
        #expect(await call("one", "init").exit == .done)
        let notes = #"{"id":"a","text":"=1","done":true}"# + "\n" + #"{"id":"b","text":"tea","done":false}"#
        #expect(await call("one", "insert", "note", "-", input: notes).exit == .done)
        #expect(await call("one", "insert", "place", #"{"id":"x","at":{"north":1.5},"size":3}"#).exit == .done)
    }

    private func run(_ statements: String) {
        var database: OpaquePointer?
        #expect(sqlite3_open(file, &database) == SQLITE_OK)
        #expect(sqlite3_exec(database, statements, nil, nil, nil) == SQLITE_OK)
        sqlite3_close(database)
    }

    @Test func `an import of an exported file has the same rows`() async throws {
        await store()
        let written = await call("one", "export", "--format", "sqlite", file)
        #expect(written.exit == .done && written.output == "3 rows\n", "\(written.errors)")
        #expect(await call("two", "init").exit == .done)
        let read = await call("two", "import", "--format", "sqlite", file, "--json")
        #expect(read.exit == .done && read.output.contains(#""rows":3"#), "\(read.output) \(read.errors)")
        #expect(await call("two", "export").output == call("one", "export").output)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["one", "rows.db", "two"])
        // One table, as it was earlier, without its values.
        try FileManager.default.removeItem(atPath: file)
        #expect(await call("one", "update", "note", #"{"id":"a","text":"new"}"#).exit == .done)
        let words = ["export", "--format", "sqlite", "--table", "note", "--at", "@-1", "--redact", file]
        let part = await Call.tool(words: words + ["-s", folder.path + "/one"], input: "")
        #expect(part.output == "2 rows\n", "\(part.errors)")
        #expect(!String(decoding: try Data(contentsOf: URL(filePath: file)), as: UTF8.self).contains("tea"))
    }

    @Test func `only a new file is written`() async throws {
        await store()
        try Data("mine".utf8).write(to: URL(filePath: file))
        for words in [[file], ["-"], [], [folder.path], [folder.path + "/none/rows.db"], [file, "-o", file + "2"]] {
            let refused = await Call.tool(
                words: ["export", "--format", "sqlite"] + words + ["-s", folder.path + "/one"], input: "")
            #expect(refused.exit != .done && !refused.errors.isEmpty, "\(words)")
        }
        #expect(await call("one", "export", file).errors.contains("needs --format sqlite"))
        #expect(try Data(contentsOf: URL(filePath: file)) == Data("mine".utf8))
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path).sorted() == ["one", "rows.db"])
        #expect(await call("one", "export", "--format", "sqlite", file).errors.contains("exists"))
    }

    @Test func `a file of another kind, or whose tables do not fit, is not imported`() async throws {
        await store()
        func refused(_ words: String...) async -> String {
            let call = await Call.tool(words: ["import"] + words + ["-s", folder.path + "/one"], input: "")
            #expect(call.exit != .done, "\(words)")
            return call.errors
        }
        #expect(await refused("--format", "sqlite").contains("needs a FILE"))
        #expect(await refused("--format", "sqlite", "-").contains("`./-`"))
        #expect(await refused("--format", "sqlite", file).contains(file))
        #expect(await refused(file).contains("--format sqlite"))
        #expect(await refused(file, "--format", "sqlite", "--from", "msclient").contains("--from"))
        try Data(String(repeating: "no database ", count: 100).utf8).write(to: URL(filePath: file))
        #expect(await refused("--format", "sqlite", file).contains("not a database"))
        try FileManager.default.removeItem(atPath: file)
        run("CREATE TABLE note (id TEXT, text TEXT); INSERT INTO note VALUES ('c', 'milk'), ('a', 'there already')")
        #expect(await refused("--format", "sqlite", file).contains("note/a"))
        #expect(await refused("--format", "sqlite", file, "--table", "other").contains("other"))
        run("CREATE TABLE loose (name TEXT)")
        #expect(await refused("--format", "sqlite", file).contains("`id`"))
        #expect(await call("one", "export", "--table", "note").output.split(separator: "\n").count == 2)
        let some = await call("one", "import", "--format", "sqlite", file, "--table", "loose")
        #expect(some.exit != .done)
    }
}
