// Rows to files and back, in each format: they come back as they were, whatever is in them; and a file that is wrong leaves
// the store as it was.

import Foundation
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline
@testable import SynclineSQL

@Suite(.timeLimit(.minutes(10))) struct RowFileTests {
    private let folder: TemporaryDirectory

    init() throws { folder = try TemporaryDirectory() }

    private static let formats = ["csv", "jsonl", "sqlite"]

    private static func format(_ name: String) -> RowFormat {
        name == "csv" ? .csv : name == "jsonl" ? .jsonLines : .sqlite
    }

    /// The rows of a table as JSON. Only JSON Lines keeps nulls.
    private func rows(_ database: SyncDatabase, _ table: String, nulls: Bool = false) async throws -> [String] {
        try await database.rows(of: table).query(RowQuery(table: table)).rows.map { row in
            // In Swift, two spellings of an accent are one name.
            let members = row.columns.members.filter { nulls || !$0.value.isNull }
                .sorted { ExactString($0.name) < ExactString($1.name) }
            return Value.object([.init("id", .string(row.id))] + members).json
        }
    }

    /// Exports the table `t`, imports the file into another store, and compares.
    private func roundTrip(_ database: SyncDatabase, _ name: String, _ comment: Comment) async throws {
        let format = Self.format(name)
        let path = folder.path + "/rows." + name
        let count = try await database.export(["t"], as: format, to: path)
        let copy = try await SyncDatabase.open(MemoryStorage())
        #expect(try await copy.importRows(into: name == "jsonl" ? nil : "t", from: path, as: format) == count, comment)
        let expected = try await rows(database, "t", nulls: name == "jsonl")
        #expect(try await rows(copy, "t", nulls: name == "jsonl") == expected, comment)
        #expect(try await copy.pending().map(\.kind) == Array(repeating: .insert, count: count), comment)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["rows." + name], comment)
    }

    private func text(_ chance: inout Chance) -> String {
        let pieces = [
            "=", "'", "\"", ",", "\n", "\r", "-", "1", ".5", "true", "null", "[", "]", "{", "}", " ", "é", "\u{301}",
            "a:", "👩‍👩‍👧", "2026-01-02T03:04:05Z",
        ]
        return (0..<chance.below(5)).map { _ in chance.pick(pieces) }.joined()
    }

    private func value(_ chance: inout Chance, kinds: [Int]) throws -> Value {
        switch chance.pick(kinds) {
        case 0: .integer(Int64(chance.below(2000) - 1000))
        case 1: .double(Double(chance.below(1000)) / 8)
        case 2: .bool(chance.once(in: 2))
        case 3: .array([.string(text(&chance)), .integer(1), .null])
        case 4: .object([.init(text(&chance), .string(text(&chance)))])
        case 5: .null
        case 6: try Value(json: chance.pick(["1.10", "-0.0", "1e300", "9223372036854775807"]).utf8)
        default: .string(text(&chance))
        }
    }

    @Test(arguments: formats, 0..<UInt64(20))
    func `random rows come back as they were`(name: String, seed: UInt64) async throws {
        var chance = Chance(seed: seed)
        let database = try await SyncDatabase.open(MemoryStorage())
        let names = ["a", "A", "=b", "c,d", "e\"f", "rowid", "é", "e\u{301}", " ", "select", "syncline_columns"]
        // A column has values of one kind, or of several.
        let kinds = Dictionary(
            names.map { ($0, chance.once(in: 2) ? [chance.below(8), 5] : Array(0..<8)) }, uniquingKeysWith: { $1 })
        for number in 0..<20 {
            var members: [Value.Member] = [.init("id", .string("\(chance.pick(["", "=", "'", "-1", "7"]))x\(number)"))]
            for column in names where !chance.once(in: 4) {
                members.append(.init(column, try value(&chance, kinds: kinds[column] ?? [7])))
            }
            try await database.rows(of: "t").insert(.object(members))
        }
        try await roundTrip(database, name, "seed \(seed)")
    }

    @Test(arguments: formats) func `typed columns come back as they were`(name: String) async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.declareColumns(
            table: "t", ["d": .date, "u": .uuid, "b": .bytes, "m": .decimal, "j": .json, "f": .boolean, "n": .number])
        try await database.rows(of: "t").insert([
            "id": "1", "d": "2026-01-02T03:04:05.678Z", "u": "00112233-4455-6677-8899-aabbccddeeff", "b": "AAEC",
            "m": try Value(json: "19.90".utf8), "j": "text", "f": true, "n": 2.5,
        ])
        try await database.rows(of: "t").insert(["id": "2", "j": ["a": [1, true, .null]], "f": false, "n": 3])
        try await roundTrip(database, name, "\(name)")
    }

    /// A server may have sent what a store refuses from an app.
    @Test(arguments: formats) func `zeros are exported, and refused by an import`(name: String) async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        let row = Row([.init("a\0b", "x\0y"), .init("a\u{fffd}b", "z")])
        try await database.pull(
            PulledPage(table: "t", queryID: nil, rows: [PulledRow(id: "1", row: row)], cursor: nil))
        let path = folder.path + "/rows"
        #expect(try await database.export(["t"], as: Self.format(name), to: path) == 1)
        let reading = try Self.format(name).files.rows(in: FilePlace(path: path), of: name == "jsonl" ? nil : "t")
        #expect(try reading.next()?.item.json == Value.object([.init("id", "1")] + row.members).json)
        let copy = try await SyncDatabase.open(MemoryStorage())
        let error = await refusal {
            try await copy.importRows(into: name == "jsonl" ? nil : "t", from: path, as: Self.format(name))
        }
        #expect(error?.code == .invalidItem)
    }

    @Test(arguments: ["jsonl", "sqlite"]) func `a file has all tables`(name: String) async throws {
        let tables = ["todo", "Todo", "sqlite_x", "syncline_columns", "a-b", "select"]
        let database = try await SyncDatabase.open(MemoryStorage())
        for table in tables { try await database.rows(of: table).insert(["id": "1", "from": .string(table)]) }
        let path = folder.path + "/all"
        #expect(try await database.export(as: Self.format(name), to: path) == tables.count)
        let copy = try await SyncDatabase.open(MemoryStorage())
        #expect(try await copy.importRows(from: path, as: Self.format(name)) == tables.count)
        for table in tables {
            #expect(try await rows(copy, table) == [#"{"id":"1","from":"# + Value.string(table).json + "}"])
        }
        let past = try await database.history(at: EventNumber(rawValue: database.lastEvent.rawValue - 1))
        #expect(try await past.export(as: Self.format(name), to: path) == tables.count - 1)
    }

    @Test func `other programs read the SQLite file, and their files are read`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.rows(of: "todo").insert(["id": "1", "text": "milk", "done": true, "tags": ["a"]])
        let path = folder.path + "/todo.sqlite"
        try await database.export(as: .sqlite, to: path)
        #expect(try PlainSQLite(path).run("select id, text, done, tags from todo") == [["1", "milk", 1, #"["a"]"#]])

        let theirs = folder.path + "/theirs.sqlite"
        try PlainSQLite(theirs).run("create table todo (id integer primary key, text, done boolean, tags json, x blob)")
        try PlainSQLite(theirs).run("insert into todo values (7, 'milk', 0, '[1]', null), (8, '[2]', 1, 'b', x'00')")
        #expect(try await database.importRows(into: "todo", from: theirs, as: .sqlite) == 2)
        #expect(
            try await rows(database, "todo").dropFirst() == [
                #"{"id":"7","done":false,"tags":[1],"text":"milk"}"#,
                #"{"id":"8","done":true,"tags":"b","text":"[2]","x":"AA=="}"#,
            ])
        try await SQLMirror(database, at: folder.path + "/mirror.sqlite").update()
        let copy = try await SyncDatabase.open(MemoryStorage())
        #expect(try await copy.importRows(from: folder.path + "/mirror.sqlite", as: .sqlite) == 3)
    }

    // MARK: Refusals

    private func refusal(_ body: () async throws -> Void) async -> SyncError? {
        do {
            try await body()
            return nil
        } catch {
            return error as? SyncError
        }
    }

    @Test func `a file that is wrong leaves the store as it was`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.rows(of: "t").insert(["id": "known", "n": 1])
        let event = database.lastEvent
        let path = folder.path + "/file"
        let cases: [(RowFormat, String, String?, SyncError.Code, String)] = [
            (.csv, "id,n\na,1\n", nil, .invalidConfiguration, "does not name its table"),
            (.csv, "id,n\na,1\nb\n", "t", .invalidItem, "line 3 is not a line of CSV: it has 1 cell, and the"),
            (.csv, "id,n\na,\"1\n2", "t", .invalidItem, "a quotation mark is missing"),
            (.csv, "id,id\n", "t", .invalidItem, "the heading names a column twice"),
            (.csv, "id,n\na,1\na,2\n", "t", .rowExists, "t has a row with this id"),
            (.csv, "id,n\na,1\na,1\n", "t", .rowExists, "t has a row with this id"),
            (.csv, "id,n\na,1\nknown,2\n", "t", .rowExists, "t has a row with this id"),
            (.jsonLines, "{\"id\":\"a\"}\n", nil, .invalidItem, "line 1: a row must be written as"),
            (.jsonLines, "\n{\"id\":\"a\"}\n{\"id\":", "t", .invalidItem, "of line 3"),
            (.jsonLines, "{\"id\":\"a\"}\n{\"id\":7}", "t", .invalidID, "id"),
            (.sqlite, "not SQLite, but a file that is long enough", nil, .storeCorrupt, "can't be read"),
        ]
        for partSize in [1, 4 << 20] {
            for (format, content, table, code, what) in cases {
                try Data(content.utf8).write(to: URL(filePath: path))
                let place = try FilePlace(path: path)
                let error = await refusal {
                    _ = try await RowImport(database, table, place, format, partSize: partSize).run()
                }
                #expect(error?.code == code && error?.message.contains(what) == true, "\(what): \(error as Any)")
                #expect(database.lastEvent == event, "\(what)")
            }
        }
        let missing = await refusal { try await database.importRows(into: "t", from: path + "2", as: .csv) }
        #expect(missing?.code == .ioError)
    }

    @Test func `an SQLite file that was cut, or lacks what is needed, is refused`() async throws {
        let database = try await SyncDatabase.open(MemoryStorage())
        for number in 0..<2000 { try await database.rows(of: "t").insert(["id": .string("r\(number)"), "n": 1]) }
        let path = folder.path + "/file"
        try await database.export(as: .sqlite, to: path)
        let whole = try Data(contentsOf: URL(filePath: path))
        try whole.prefix(whole.count / 2).write(to: URL(filePath: path))
        let copy = try await SyncDatabase.open(MemoryStorage())
        let cut = await refusal { try await copy.importRows(from: path, as: .sqlite) }
        #expect(cut?.code == .storeCorrupt, "\(cut as Any)")
        #expect(try await copy.tables() == [])

        let other = folder.path + "/other"
        try PlainSQLite(other).run("create table a (n)")
        let absent = await refusal { try await copy.importRows(into: "b", from: other, as: .sqlite) }
        #expect(absent?.code == .unknownTable && absent?.hint == "It has a.")
        let nameless = await refusal { try await copy.importRows(from: other, as: .sqlite) }
        #expect(nameless?.code == .missingID)
    }

    @Test func `a large file is checked first, then inserted in parts`() async throws {
        let path = folder.path + "/rows.jsonl"
        var lines = (0..<100).map { "{\"id\":\"r\($0)\",\"n\":\($0)}\n" }
        try Data(lines.joined().utf8).write(to: URL(filePath: path))
        let database = try await SyncDatabase.open(MemoryStorage())
        let before = database.lastEvent.rawValue
        let place = try FilePlace(path: path)
        #expect(try await RowImport(database, "t", place, .jsonLines, partSize: 1000).run() == 100)
        #expect(database.lastEvent.rawValue - before > 5)
        #expect(try await database.rows(of: "t").count() == 100)
        // The last row has the id of the first, which is in another part.
        lines.append(lines[0])
        try Data(lines.joined().utf8).write(to: URL(filePath: path))
        let copy = try await SyncDatabase.open(MemoryStorage())
        let error = await refusal { _ = try await RowImport(copy, "t", place, .jsonLines, partSize: 1000).run() }
        #expect(error?.code == .rowExists && error?.address == "t/r0")
        #expect(try await copy.tables() == [])
    }

    @Test func `what can't be exported leaves the file as it was`() async throws {
        let path = folder.path + "/file"
        try Data("before".utf8).write(to: URL(filePath: path))
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.rows(of: "todoitem").insert(["id": "1"])
        let columns = (0..<2000).map { Value.Member("c\($0)", 1) }
        try await database.rows(of: "wide").insert(.object([.init("id", "1")] + columns))
        let cases: [(RowFormat, [String]?, SyncError.Code, String)] = [
            (.csv, nil, .invalidConfiguration, "a CSV file has the rows of one table, and there are 2"),
            (.csv, ["todoitm"], .unknownTable, "the store has no table todoitm"),
            (.sqlite, nil, .invalidItem, "the table wide has 2001 columns, and SQLite at most 2000"),
        ]
        for (format, tables, code, what) in cases {
            let error = await refusal { try await database.export(tables, as: format, to: path) }
            #expect(error?.code == code && error?.message == what, "\(error as Any)")
            #expect(try String(contentsOfFile: path, encoding: .utf8) == "before")
            #expect(try FileManager.default.contentsOfDirectory(atPath: folder.path) == ["file"])
        }
        for bad in ["", folder.path, folder.path + "/", "a\0b"] {
            let error = await refusal { try await database.export(["todoitem"], as: .csv, to: bad) }
            #expect(error?.code == .invalidConfiguration, "\(bad): \(error as Any)")
        }
        #expect(try await database.export(["todoitem"], as: .csv, to: path) == 1)
        #expect(try String(contentsOfFile: path, encoding: .utf8) == "id\n\"1\"\n")
        let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
    }
}
