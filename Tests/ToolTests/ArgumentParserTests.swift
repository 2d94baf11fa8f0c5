// The parsing of a command line, and the errors for wrong ones.

import SegmentLog
import SynclineCore
import Testing

@testable import SynclineTool

@Suite struct ArgumentParserTests {
    private func arguments(_ words: String...) throws -> Arguments {
        guard case .run(let arguments) = try ArgumentParser.parse(words) else {
            throw ToolError("test", "no command was meant")
        }
        return arguments
    }

    private func refusal(_ words: String...) -> ToolError? {
        do throws(ToolError) {
            _ = try ArgumentParser.parse(words)
            return nil
        } catch {
            return error
        }
    }

    @Test func `the longest run of words names the command`() throws {
        #expect(try arguments("inspect").command.name == "inspect")
        #expect(try arguments("inspect", "frames").command.name == "inspect frames")
        #expect(try arguments("inspect", "frames", "@41").operands == ["@41"])
    }

    @Test func `options stand before, between and after`() throws {
        let all = try arguments("--json", "inspect", "-s", "a", "frames", "@41", "--limit=7", "--segment", "2")
        #expect(all.flag("json"))
        #expect(all.value("store") == "a")
        #expect(try all.number("limit") == 7)
        #expect(try all.number("segment") == 2)
        #expect(try all.address(at: 0) == Address("@41"))
    }

    @Test(arguments: [["-n5"], ["-n", "5"], ["--limit", "5"], ["--limit=5"]])
    func `a value may be joined to its option or follow it`(words: [String]) throws {
        guard case .run(let arguments) = try ArgumentParser.parse(["inspect", "frames"] + words) else { return }
        #expect(try arguments.number("limit") == 5)
    }

    @Test func `short options may share a dash`() throws {
        let all = try arguments("raw", "cat", "-fs", "log")
        #expect(all.flag("follow"))
        #expect(all.value("store") == "log")
    }

    @Test func `after two dashes everything is an operand`() throws {
        #expect(try arguments("bench", "history", "--", "--json").operands == ["--json"])
    }

    @Test func `a negative number and a statement with a comment are values`() throws {
        for value in ["-5", "-.5", "-1e3", "-- newest first\nselect 1", "--all = 1\nselect 1"] {
            #expect(try arguments("sql", "select ?", value, "--json").operands == ["select ?", value])
        }
        for word in ["-x", "--newest", "-.", "--5"] {
            #expect(refusal("sql", "select ?", word)?.hint?.contains("Write `--` before") == true, "\(word)")
        }
        #expect(try arguments("query", "t", "--filter=n gt 5").value("filter") == "n gt 5")
    }

    @Test func `a name of a command after an operand is an operand`() throws {
        #expect(try arguments("help", "inspect", "frames").operands == ["inspect", "frames"])
    }

    @Test func `help is asked for at any place`() throws {
        for words in [["--help"], ["raw", "-h"], ["inspect", "frames", "@41", "--help"]] {
            guard case .help(let path) = try ArgumentParser.parse(words) else {
                Issue.record("\(words) is a call for help")
                continue
            }
            #expect(path == Array(words.prefix { !$0.hasPrefix("-") && !$0.hasPrefix("@") }))
        }
    }

    @Test func `a typing mistake is recognised`() {
        #expect(refusal("inspct")?.hint == "Did you mean `inspect`?")
        #expect(refusal("inspect", "frmaes")?.hint == "Did you mean `inspect frames`?")
        #expect(refusal("verify", "--depe")?.hint == "Did you mean `--deep`?")
        #expect(refusal("raw", "append", "--durability", "durabel")?.hint == "Did you mean `durable`?")
        #expect(refusal("segments")?.hint == "Did you mean `inspect segments`?")
        #expect(refusal("completions", "zhs")?.hint == "Did you mean `zsh`?")
    }

    @Test func `a word that resembles no known word gets no suggestion`() {
        #expect(refusal("xyzzy")?.hint == "Try `syncline --help`.")
    }

    @Test func `every refusal is a usage error with a hint or a list`() {
        let lines: [[String]] = [
            ["raw"], ["raw", "cat", "--from"], ["verify", "--deep=yes"], ["verify", "more"], ["completions"],
            ["inspect", "-x"], ["inspect", "frames", "a", "b"],
        ]
        for words in lines {
            do throws(ToolError) {
                _ = try ArgumentParser.parse(words)
                Issue.record("\(words) was taken")
            } catch {
                #expect(error.exit == .usage && error.code == "usage" && error.hint != nil)
            }
        }
    }

    @Test func `an invalid number is refused with its bounds`() throws {
        let all = try arguments("raw", "append", "--batch", "0")
        #expect(throws: ToolError.usage("--batch takes a number, 1 to 10, not `0`")) {
            try all.number("batch", in: 1...10)
        }
    }

    @Test func `the distance of words counts swaps once`() {
        #expect(Suggestion.distance("frames", "frames") == 0)
        #expect(Suggestion.distance("frmaes", "frames") == 1)
        #expect(Suggestion.distance("frame", "frames") == 1)
        #expect(Suggestion.distance("", "abc") == 3)
        #expect(Suggestion.nearest(to: "comp", in: ["completions", "compact"]) == nil)
        #expect(Suggestion.nearest(to: "compl", in: ["completions", "compact"]) == "completions")
    }

    @Test func `options that have no effect together are refused with advice`() throws {
        for (words, message) in [
            (["replay", "--from", "@3"], "--from has no effect without --bisect"),
            (["replay", "--bisect", "t/a", "--policy", "merge"], "--bisect has no effect with --policy"),
            (["replay", "--step", "--without", "@3"], "--step has no effect with --without"),
            (["inspect", "operations", "--table", "t"], "--table has no effect without --list"),
            (["sync", "--interval", "5"], "--interval has no effect without --watch"),
            (["pull", "t", "--overlap", "5"], "--overlap has no effect without --query-id"),
            (["cursors", "--reset", "t/q", "--at", "@3"], "--reset has no effect with --at"),
        ] {
            do throws(ToolError) {
                _ = try ArgumentParser.parse(words)
                Issue.record("\(words) was taken")
            } catch {
                #expect(error.message == message)
                #expect(error.exit == .usage && error.hint != nil)
            }
        }
        #expect(try arguments("replay", "--policy", "merge", "--without", "@3", "--to", "@9").has("to"))
    }
}

@Suite struct AddressTests {
    private static let first = SequenceNumber(rawValue: 41)

    @Test(
        arguments: [
            ("@41", .records(.number(first))), ("@-1", .records(.fromEnd(1))), ("s7", .segment(7)),
            ("@41..57", .records(.range(SequenceRange(first: first, last: SequenceNumber(rawValue: 57))))),
            ("s7:5209663", .position(LogPosition(segment: 7, offset: 5_209_663))),
        ] as [(String, Address)])
    func `an address says which records or which place`(text: String, address: Address) {
        #expect(Address(text) == address)
    }

    @Test(arguments: [
        "", "41", "@", "@0", "@-0", "@41..", "@57..41", "@41.57", "@+1", "s", "s0", "s7:", "s7:-1", "x7",
        "@99999999999999999999",
    ])
    func `anything else is not valid`(text: String) {
        #expect(Address(text) == nil)
    }
}
