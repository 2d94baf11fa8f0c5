// Output, character by character: JSON, escapes, numbers, times, colour.

import SegmentLog
import SynclineGround
import Testing

@testable import SynclineTool

@Suite struct TextTests {
    @Test func `JSON keeps the order of its keys and escapes unsafe characters`() {
        let value: JSONValue = [
            "z": .number(1), "a": ["x", .null, .boolean(true)], "text": "a\"\\\n\u{1b}[31m\u{9b}é\u{202e}",
            "none": .optional(nil),
        ]
        #expect(value.text == #"{"z":1,"a":["x",null,true],"text":"a\"\\\n\u001b[31m\u009bé\u202e","none":null}"#)
    }

    @Test func `control characters of a value do not reach a terminal`() {
        #expect(escaped("a\tb\u{1b}[2J\u{7f}é") == "a\\tb\\u{1b}[2J\\u{7f}é")
        #expect(escaped(bytes: [0x61, 0xff, 0x0a, 0x00]) == "a\\xff\\x0a\\x00")
    }

    @Test(arguments: [
        ("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg=="), ("fooba", "Zm9vYmE="),
    ])
    func `bytes are written in base 64`(text: String, expected: String) {
        #expect(Base64.encode(Array(text.utf8)) == expected)
    }

    @Test(arguments: [
        (0, "1970-01-01T00:00:00.000Z"), (1_700_000_000_123, "2023-11-14T22:13:20.123Z"),
        (951_782_400_000, "2000-02-29T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
        (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
    ])
    func `a time is a date of the calendar`(milliseconds: Int64, expected: String) {
        #expect(WallTime(rawValue: milliseconds).text == expected)
    }

    @Test func `numbers are easy to read`() {
        #expect(grouped(5_209_663) == "5,209,663")
        #expect(grouped(12) == "12")
        #expect(humanBytes(1023) == "1023 B")
        #expect(humanBytes(1536) == "1.5 KiB")
        #expect(humanBytes(150 << 20) == "150 MiB")
        #expect(humanBytes(1_048_524) == "1.0 MiB")
        #expect(decimal(2.005, places: 1) == "2.0")
        #expect(decimal(-0.01, places: 1) == "0.0")
        #expect(decimal(0.996, places: 2) == "1.00")
        #expect(counted(1, "segment") == "1 segment")
        #expect(counted(2000, "segment") == "2,000 segments")
    }

    @Test func `colour follows the option, then the variables, then the terminal`() {
        func colour(_ option: String?, _ variables: [String: String], _ isTerminal: Bool) -> Bool {
            TextStyle.colour(option, Environment(variables: variables), isTerminal: isTerminal)
        }
        #expect(colour(nil, [:], true) && !colour(nil, [:], false))
        #expect(colour("always", ["NO_COLOR": "1"], false) && !colour("never", ["CLICOLOR_FORCE": "1"], true))
        #expect(!colour("auto", ["NO_COLOR": "1", "CLICOLOR_FORCE": "1"], true))
        #expect(colour(nil, ["NO_COLOR": ""], true))
        #expect(colour(nil, ["CLICOLOR_FORCE": "1"], false) && !colour(nil, ["CLICOLOR_FORCE": "0"], false))
        #expect(!colour(nil, ["TERM": "dumb"], true))
    }

    @Test func `the store is the one named, that of the environment, or the nearest upwards`() throws {
        func find(_ words: [String], _ environment: Environment, _ folders: Set<String>) throws -> String? {
            guard case .run(let arguments) = try ArgumentParser.parse(["verify"] + words) else { return nil }
            return try StoreLocation.find(arguments, environment, isDirectory: folders.contains).path
        }
        let here = Environment(directory: "/home/a/b")
        var named = here
        named.variables["SYNCLINE_STORE"] = "/named"
        let folders: Set = ["/home/.syncline", "/home/a/.syncline"]
        #expect(try find(["-s", "x"], named, folders) == "x")
        #expect(try find([], named, folders) == "/named")
        #expect(try find([], here, folders) == "/home/a/.syncline")
        #expect(try find([], here, ["/.syncline"]) == "/.syncline")
        #expect(throws: ToolError.self) { try find([], here, []) }
    }

    @Test func `a list is an array, lines, or a table whose columns keep their places`() throws {
        func write(_ form: OutputForm, _ rows: Int) throws -> String {
            let sink = MemorySink()
            let output = Output(sink, form: form, style: TextStyle(isForPeople: false, hasColour: false))
            var list = try ListWriter(output, [Column("NAME"), Column("SIZE", .right), Column("NOTE")])
            for row in 0..<rows { try list.row([Cell("r\(row)"), Cell(""), Cell("n")], json: ["row": .number(row)]) }
            try list.line("! lost", json: ["damage": "lost"])
            try list.finish()
            return sink.text
        }
        #expect(try write(.json, 1) == "[\n{\"row\":0},\n{\"damage\":\"lost\"}\n]\n")
        #expect(try write(.jsonLines, 1) == "{\"row\":0}\n{\"damage\":\"lost\"}\n")
        #expect(try write(.plain, 2) == "NAME  SIZE  NOTE\nr0          n\nr1          n\n! lost\n")
        #expect(try write(.plain, 2000).split(separator: "\n").count == 2002)
    }

    @Test func `progress is shown only on a terminal`() {
        let sink = MemorySink()
        let style = TextStyle(isForPeople: false, hasColour: false)
        let progress = Narration(sink, style: style, isTerminal: false).progress("verifying", total: 10)
        progress.advance(by: 5)
        progress.finish()
        let quick = Narration(sink, style: style, isTerminal: true).progress("verifying", total: 10)
        quick.advance(by: 5)
        quick.finish()
        #expect(sink.text == "", "what is done at once needs none")
    }
}
