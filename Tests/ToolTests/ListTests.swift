// Lists for people: what an empty one says, how wide one gets, which tables and moments it takes.

import Foundation
import SegmentLog
import Syncline
import SynclineGround
import Testing

@testable import SynclineTool

@Suite struct ListTests {
    @Test func `an empty list says so to people, beside the data`() async throws {
        let log = try TestLog.story()
        for words in [["hold"], ["query", "todoitem", "--filter", "n eq 99"], ["branch", "list"], ["diff", "@-1"]] {
            let people = await Call.tool(words: words, on: log, isTerminal: true, variables: ["NO_COLOR": "1"])
            #expect(people.output == "" && people.errors == "nothing to show\n", "\(words)")
            let pipe = await Call.tool(words: words, on: log)
            #expect(pipe.output == "" && pipe.errors == "", "\(words)")
        }
        let full = await Call.tool("pending", on: log, isTerminal: true)
        #expect(!full.errors.contains("nothing to show"))
    }

    @Test func `a plan is that of the rows, or that of their number`() async throws {
        let log = try TestLog.story()
        let query = ["query", "todoitem", "--filter", "n gt 0", "--orderby", "n", "--top", "1", "--explain"]
        let database = try await SyncDatabase.open(at: log.path)
        try await database.declareIndex(table: "todoitem", columns: ["n"])
        try await database.close()
        let rows = await Call.tool(words: query, on: log)
        #expect(rows.output.hasPrefix("uses the index on n in its order: "), "\(rows.output)")
        let count = await Call.tool(words: query + ["--count"], on: log)
        #expect(count.output.hasPrefix("uses the index on n: ") && count.output.hasSuffix(", no rows\n"))
    }

    @Test func `tables fit the terminal, and pipes get all of it`() async throws {
        let log = try TestLog.story()
        for words in [
            ["blame", "todoitem/a"], ["pending"], ["log"], ["inspect", "tables"], ["conflicts"],
            ["inspect", "segments"],
        ] {
            let people = await Call.tool(
                words: words, on: log, isTerminal: true, width: 76, variables: ["NO_COLOR": "1"])
            let widest = people.output.split(separator: "\n").map(\.count).max() ?? 0
            #expect(widest <= 76 && widest > 0, "\(words): \(people.output)")
            #expect(!(await Call.tool(words: words, on: log).output.contains("…")), "\(words)")
        }
    }

    @Test func `a narrow terminal shows fewer columns of segments, and never half a number`() async throws {
        let log = try TestLog()
        let wide = await Call.tool("inspect", "segments", on: log, isTerminal: true, width: 120)
        #expect(wide.output.contains("EPOCH") && wide.output.contains("RAW"))
        let narrow = await Call.tool("inspect", "segments", on: log, isTerminal: true, width: 79)
        #expect(!narrow.output.contains("EPOCH") && narrow.output.contains("CREATED"), "\(narrow.output)")
        #expect(narrow.output.contains("@1..3") && !narrow.output.contains("…"))
    }

    @Test func `a misspelt table is reported with a suggestion`() async throws {
        let log = try TestLog.story()
        for words in [
            ["query", "todoitm"], ["export", "--table", "todoitm"], ["log", "--table", "todoitm"],
            ["diff", "@4", "--table", "todoitm"], ["export", "--format", "events", "--table", "todoitm"],
            ["push", "--table", "todoitm"], ["push", "--dry-run", "--table", "todoitm"], ["purge", "todoitm"],
            ["inspect", "operations", "--list", "--table", "todoitm"],
        ] {
            let call = await Call.tool(words: words, on: log)
            #expect(call.exit == .failed && call.errors.contains("Did you mean `todoitem`?"), "\(words)")
        }
        // A table may have rows one day.
        let other = await Call.tool("query", "list", on: log)
        #expect(other.exit == .done && other.errors.contains("the store has no table list"))
        let fresh = try TestLog(empty: ())
        #expect(await Call.tool("init", on: fresh).exit == .done)
        let empty = await Call.tool("query", "todoitm", on: fresh)
        #expect(empty.exit == .done && empty.errors == "")
    }

    @Test func `columns that no row ever had are named, and nothing is purged by them`() async throws {
        let log = try TestLog.story()
        let filter = await Call.tool("query", "todoitem", "--filter", "txt ne 'x'", on: log)
        #expect(filter.exit == .done && filter.errors.contains("no row ever had a column txt"))
        #expect(filter.errors.contains("Did you mean `text`?"))
        for words in [["--orderby", "txt desc"], ["--select", "id,txt"]] {
            #expect(
                await Call.tool(words: ["query", "todoitem"] + words, on: log).errors.contains("`text`"), "\(words)")
        }
        let known = await Call.tool("query", "todoitem", "--filter", "version ne '9' and id ne 'x'", on: log)
        #expect(known.exit == .done && known.errors == "")
        let purge = await Call.tool("purge", "todoitem", "--force", "--filter", "txt ne 'x'", on: log)
        #expect(purge.exit == .failed && purge.errors.contains("Did you mean `text`?"))
        #expect(await Call.tool("get", "todoitem", "a", on: log).exit == .done)
    }

    @Test func `an order that can't be read is not reported as a filter`() async throws {
        for text in ["text,", ""] {
            let call = await Call.tool("query", "todoitem", "--orderby", text, on: try TestLog.story())
            #expect(call.exit == .failed && call.errors.contains("the order can't be read: the order ends too early"))
        }
    }

    @Test func `a misspelt row or field gets a suggestion`() async throws {
        let log = try TestLog.story()
        for (words, meant) in [
            (["get", "todoitm", "a"], "todoitem/a"), (["blame", "todoitm/a"], "todoitem/a"),
            (["blame", "todoitem/a.txt"], "todoitem/a.text"),
        ] {
            let people = await Call.tool(words: words, on: log, isTerminal: true, variables: ["NO_COLOR": "1"])
            #expect(people.exit == .no && people.errors.contains("hint: Did you mean `\(meant)`?"), "\(words)")
            #expect(await Call.tool(words: words, on: log).errors == "", "\(words)")
        }
    }

    @Test func `a list of events that do not exist is refused`() async throws {
        let log = try TestLog.story()
        for words in [["log", "@21"], ["log", "@3..21"], ["log", "@-21"]] {
            let call = await Call.tool(words: words, on: log)
            #expect(call.exit == .usage && call.errors.contains("the last event is @20"), "\(words)")
        }
        #expect(await Call.tool("log", "@19..20", on: log).exit == .done)
    }

    @Test func `resetting a cursor that does not exist is an error`() async throws {
        let log = try TestLog.story()
        let call = await Call.tool("cursors", "--reset", "todoitem/al", on: log)
        #expect(call.exit == .usage && call.errors.contains("Did you mean `todoitem/all`?"), "\(call.errors)")
        #expect(await Call.tool("cursors", "--reset", "todoitem/all", on: log).exit == .done)
    }

    @Test func `the events of a table that was removed remain`() async throws {
        let log = try TestLog.story()
        let item = #"{"id":"x"}"#
        #expect(await Call.tool("insert", "todoitems", item, on: log).exit == .done)
        #expect(await Call.tool("purge", "todoitems", "--force", on: log).exit == .done)
        let call = await Call.tool("log", "--table", "todoitems", on: log)
        #expect(call.exit == .done && call.output.contains("todoitems/x"))
    }

    @Test func `times are moments of rows and ends of ranges`() async throws {
        let log = try TestLog.story()
        let time = "2023-11-14T22:16:30Z"
        let then = await Call.tool("why", "todoitem/a@\(time)", on: log)
        #expect(then.output.contains("text is \"milk\""))
        #expect(then.output == (await Call.tool("why", "todoitem/a@4", on: log).output))
        let events = try await Call.tool("log", "\(time)..2023-11-14T22:18:20Z", "--json", on: log).array()
        #expect(events.map { $0["address"] as? String } == ["@5", "@6"])
        let mixed = try await Call.tool("log", "@4..2023-11-14T22:18Z", "--json", on: log).array()
        #expect(mixed.map { $0["address"] as? String } == ["@4", "@5"])
        #expect(await Call.tool("log", "2023-11-14T22:18Z..@2", on: log).exit == .usage)
    }

    @Test func `a table called like a system table has a name of its own in SQL`() async throws {
        let log = try TestLog.story()
        for table in ["ms_tableconfig", "TodoItem"] {
            #expect(await Call.tool("insert", table, #"{"id":"x"}"#, on: log).exit == .done)
        }
        let call = await Call.tool("export", "--format", "sql", on: log)
        #expect(call.output.contains(#"CREATE TABLE IF NOT EXISTS "ms_tableconfig_""#))
        #expect(call.output.contains(#"INSERT INTO "ms_tableconfig_""#) && call.output.contains(#""todoitem_""#))
        #expect(call.errors.contains("the table ms_tableconfig is called ms_tableconfig_ in the SQL"))
    }

    @Test func `readers of a log report their progress`() async throws {
        let log = try TestLog.story()
        let told = Mutex<[(done: UInt64, total: UInt64)]>([])
        let storage = POSIXStorage(directory: log.path)
        try ReadingWatch.observe({ done, total in told.withLock { $0.append((done, total)) } }) {
            _ = try StateLoader(storage).load()
        }
        let places = told.withLock { $0 }
        #expect(!places.isEmpty && places.allSatisfy { $0.done <= $0.total && $0.total == places[0].total })
        #expect(zip(places, places.dropFirst()).allSatisfy { $0.done < $1.done })
    }
}
