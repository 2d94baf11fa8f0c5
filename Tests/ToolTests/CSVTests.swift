// CSV out and in again: rows come back as they were, whatever is in them.

import Foundation
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct CSVTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    private func call(_ store: String, _ words: String..., input: String = "") async -> Call {
        await Call.tool(words: words + ["-s", folder.path + "/" + store], input: input)
    }

    /// Rows as JSON Lines, stored, exported as CSV, imported elsewhere, and exported again.
    private func roundTrip(_ rows: String) async throws -> (csv: String, before: String, after: String) {
        for store in ["one", "two"] {
            #expect(await call(store, "init").exit == .done)
        }
        let stored = await call("one", "insert", "t", "-", input: rows)
        #expect(stored.exit == .done, "\(stored.errors)")
        let csv = await call("one", "export", "--format", "csv", "--table", "t").output
        let read = await call("two", "import", "--format", "csv", "--table", "t", input: csv)
        #expect(read.exit == .done, "\(csv)\n\(read.errors)")
        return (csv, try sorted(await call("one", "export").output), try sorted(await call("two", "export").output))
    }

    /// Rows whose columns are sorted: a heading has one order for all of them.
    private func sorted(_ lines: String) throws -> String {
        try lines.split(separator: "\n").map { line in
            guard case .object(let columns)? = try Value(json: line.utf8)[member: "row"] else { return String(line) }
            return Value.object(columns.sorted { $0.name < $1.name }).json
        }.joined(separator: "\n")
    }

    @Test func `cells that a spreadsheet would run come back without their marks`() async throws {
        let rows = [
            #"{"id":"=1","text":"=1+1","n":-5}"#, #"{"id":"-2","text":"'=1+1","n":"-5"}"#,
            #"{"id":"@3","text":"'tis","n":"5"}"#, #"{"id":"4","text":"''-x","n":"true"}"#,
            #"{"id":"'5","text":"","n":true}"#, #"{"id":"6","text":"[1]","n":[1,{"a":"=x"}]}"#,
            #"{"id":"7","text":"a, \"b\"\nc\r\n","n":1.5}"#, #"{"id":"8","text":"null","n":" 7"}"#,
        ]
        let (csv, before, after) = try await roundTrip(rows.joined(separator: "\n"))
        #expect(before == after)
        #expect(csv.contains("'=1+1") && csv.contains(",-5\n") && csv.contains(",'-5\n") && csv.contains(#","5""#))
    }

    @Test(arguments: 0..<40) func `random rows come back as they were`(seed: Int) async throws {
        var chance = Chance(seed: UInt64(seed))
        let pieces = [
            "=", "'", "\"", ",", "\n", "\r", "-", "1", ".5", "e3", "true", "null", "[", "]", "{", "}", " ", "é", "a:",
        ]
        func text() -> String { (0..<chance.below(5)).map { _ in chance.pick(pieces) }.joined() }
        func value() -> Value {
            switch chance.below(8) {
            case 0: .integer(Int64(chance.below(2000) - 1000))
            case 1: .double(Double(chance.below(1000)) / 8)
            case 2: .bool(chance.once(in: 2))
            case 3: .array([.string(text()), .integer(1)])
            case 4: .object([.init("k", .string(text()))])
            default: .string(text())
            }
        }
        let names = ["a", "=b", "c,d", "e\"f"]
        let rows = (0..<20).map { number in
            Value.object(
                [.init("id", .string("\(chance.pick(["", "=", "'", "-1", "7"]))x\(number)"))]
                    + names.filter { _ in !chance.once(in: 4) }.map { .init($0, value()) }
            ).json
        }
        let (csv, before, after) = try await roundTrip(rows.joined(separator: "\n"))
        #expect(before == after, "seed \(seed)\n\(csv)")
    }

    @Test func `a file that a spreadsheet wrote is read`() async throws {
        #expect(await call("one", "init").exit == .done)
        let csv = "\u{feff}id,text,n\r\na,\"x, \"\"y\"\"\",3\r\nb,,\r\n\r\n"
        #expect(await call("one", "import", "--format", "csv", "--table", "t", input: csv).output == "2 rows\n")
        #expect(
            await call("one", "query", "t").output == #"{"id":"a","text":"x, \"y\"","n":3}"# + "\n" + #"{"id":"b"}"#
                + "\n")
    }

    @Test func `a quotation mark before an accent ends no cell and no string`() async throws {
        let text = "x\"\u{301},'\u{301}"
        let trip = try await roundTrip(#"{"id":"a","text":"x\"\u0301,'\u0301"}"#)
        #expect(trip.before == trip.after)
        #expect(trip.csv.unicodeScalars.elementsEqual("id,text\na,\"x\"\"\u{301},'\u{301}\"\n".unicodeScalars))
        #expect(
            SQLText.literal(.string(text)).unicodeScalars.elementsEqual("'x\"\u{301},''\u{301}'".unicodeScalars))
        for word in ["'\u{301}", "\u{301}' x"] {
            #expect(ShellWords.split(shellWord(word) + " y") == [word, "y"])
        }
        #expect(shellWord("'\u{301}").unicodeScalars.elementsEqual("''\\''\u{301}'".unicodeScalars))
    }

    @Test func `a line that is not CSV is named, and nothing is stored`() async throws {
        #expect(await call("one", "init").exit == .done)
        for (csv, what) in [
            ("id,n\na,1\nb\n", "line 3 is not a line of CSV: it has 1 cell, and the heading has 2"),
            ("id,n\na,\"1\n2", "a quotation mark is missing"), ("id,n\na,\"1\"2\n", "text follows a quotation mark"),
            ("id,id\n", "the heading names a column twice"),
        ] {
            let call = await call("one", "import", "--format", "csv", "--table", "t", input: csv)
            #expect(call.exit == .failed && call.errors.contains(what), "\(call.errors)")
        }
        #expect(await call("one", "query", "t", "--json").output == "[]\n")
        let nameless = await call("one", "import", "--format", "csv", input: "id\na\n")
        #expect(nameless.exit == .usage && nameless.errors.contains("--format csv needs --table"))
    }
}
