// `search`: a string in the rows of a store, and in its events.

import Foundation
import SegmentLog
import Testing

@testable import SynclineTool

@Suite struct SearchCommandTests {
    private func places(_ words: String..., on log: TestLog) async throws -> [String] {
        let call = await Call.tool(words: ["search", "--json"] + words, on: log)
        return try call.array().map {
            "\($0["event"] as? String ?? "now") \($0["table"] ?? "")/\($0["id"] ?? "").\($0["column"] ?? "")"
        }
    }

    @Test func `a string is found where it is and where it was`() async throws {
        let log = try TestLog.story()
        #expect(
            try await places("MILK", on: log) == [
                "now todoitem/a.text", "@4 todoitem/a.text", "@5 todoitem/a.text", "@12 todoitem/a.text",
                "@13 todoitem/a.text", "@15 todoitem/a.text",
            ])
        #expect(try await places("wheat", on: log).filter { $0.hasPrefix("now") } == [])
        #expect(try await places("soy", on: log) == ["@12 todoitem/a.text"])
        #expect(try await places("soy", "--rows", on: log).isEmpty)
        #expect(try await places("milk", "--history", "--since", "@13", on: log).count == 2)
        #expect(try await places("milk", "--at", "@4", on: log) == ["now todoitem/a.text", "@4 todoitem/a.text"])
        #expect(
            try await places("milk", "-n", "2", "--history", on: log) == ["@13 todoitem/a.text", "@15 todoitem/a.text"])
        // The message of an answer, and a setting.
        #expect(try await places("was changed", on: log) == ["@12 todoitem/a.message"])
        #expect(try await places("zumo", on: log).map { $0.prefix(3) } == ["@3 "])
    }

    @Test func `what is not there is a no, and nothing is written`() async throws {
        let log = try TestLog.story()
        let before = try log.bytes
        let none = await Call.tool("search", "caviar", "--json", on: log)
        #expect(none.exit == .no && none.output == "[]\n")
        #expect(await Call.tool("search", "", on: log).exit == .usage)
        #expect(await Call.tool("search", "milk", "--rows", "--history", on: log).exit == .usage)
        #expect(await Call.tool("search", "milk", "--table", "todoitm", on: log).exit == .failed)
        let limited = await Call.tool("search", "milk", "-n", "1", on: log)
        #expect(limited.errors.contains("4 older places in events not listed"), "\(limited.errors)")
        #expect(try log.bytes == before)
    }

    @Test func `a control character does not reach the terminal, and a long string is cut around the place`()
        async throws
    {
        let log = try TestLog.story()
        let rye = await Call.tool("search", "rye", on: log)
        #expect(rye.output.contains("rye\\u{1b}[31m") && !rye.output.contains("\u{1b}"), "\(rye.output)")
        let long = String(repeating: "x", count: 5000)
        let item = "{\"id\":\"long\",\"text\":\"\(long)needle\(long)\"}"
        #expect(await Call.tool("insert", "todoitem", item, on: log).exit == .done)
        let found = await Call.tool("search", "needle", "--json", on: log)
        #expect(found.exit == .done && found.output.utf8.count < 800)
    }

    @Test func `damage leaves the rest`() async throws {
        let log = try TestLog.story()
        try log.change("00000001-0000000000000001.seg") { data in
            if let place = data.range(of: Data("salt".utf8), options: .backwards) { data[place.lowerBound] ^= 1 }
        }
        let found = await Call.tool("search", "soy", "--history", "--json", on: log)
        #expect(found.exit == .partial && found.output.contains("@12"))
    }
}
