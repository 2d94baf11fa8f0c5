// Moments in words, from a fixed clock, and in the commands that take a moment.

import SynclineCore
import Testing

@testable import SynclineTool

@Suite struct TimeWordsTests {
    /// Saturday, 28 November 2026, 10:30:05 in UTC.
    private static let now = Timestamp("2026-11-28T10:30:05.250Z")?.instant.milliseconds ?? 0

    @Test(arguments: [
        ("now", "2026-11-28T10:30:05.250Z"), ("today", "2026-11-28T00:00:00.000Z"),
        ("yesterday", "2026-11-27T00:00:00.000Z"), ("Yesterday 9:30", "2026-11-27T09:30:00.000Z"),
        ("today 23:59:59", "2026-11-28T23:59:59.000Z"), ("10:30", "2026-11-28T10:30:00.000Z"),
        ("10:30:05.250", "2026-11-28T10:30:05.250Z"), ("10:31", "2026-11-27T10:31:00.000Z"),
        ("0:00", "2026-11-28T00:00:00.000Z"), ("2 hours ago", "2026-11-28T08:30:05.250Z"),
        ("an hour  ago", "2026-11-28T09:30:05.250Z"), ("90s ago", "2026-11-28T10:28:35.250Z"),
        ("3 days ago", "2026-11-25T10:30:05.250Z"), ("a week ago", "2026-11-21T10:30:05.250Z"),
        ("15 min ago", "2026-11-28T10:15:05.250Z"), ("2026-02-28", "2026-02-28T00:00:00.000Z"),
        ("2026-02-28 11:00", "2026-02-28T11:00:00.000Z"), ("2024-02-29", "2024-02-29T00:00:00.000Z"),
        ("999999 weeks ago", nil),
    ])
    func `words mean a moment`(text: String, moment: String?) throws {
        let found = try #require(TimeWords(text, now: Self.now))
        if let moment { #expect(Timestamp(.init(milliseconds: found.time)).description == moment) }
        #expect(found.isDay == ["today", "yesterday", "2026-02-28", "2024-02-29"].contains(text.lowercased()))
    }

    @Test(arguments: [
        "", " ", "tomorrow", "yesterdy", "24:00", "11:60", "11:0", "11", "11:00:60", "11:00:00.5", "-1:00", "2 hours",
        "ago", "hours ago", "two hours ago", "1.5 hours ago", "-2 hours ago", "9999999 days ago", "2 fortnights ago",
        "2025-02-29", "2026-13-01", "26-01-01", "yesterday 25:00", "yesterday ago", "now ago", "@41", "t/a", "١١:٠٠",
    ])
    func `other words do not`(text: String) {
        #expect(TimeWords(text, now: Self.now) == nil)
    }

    @Test func `a day before 1970 has its midnight`() {
        #expect(TimeWords("today", now: -1)?.time == -86_400_000)
        #expect(TimeWords("23:59", now: -1)?.time == -60_000)
    }

    @Test func `commands take words for a moment`() async throws {
        // The story begins at 22:13:20 the day before, and has an event a minute.
        let log = try TestLog.story(hours: -24)
        func events(_ words: String...) async throws -> [String] {
            try await Call.tool(words: ["log", "--json"] + words, on: log).array().compactMap {
                $0["address"] as? String
            }
        }
        #expect(try await events("yesterday").count == 20)
        #expect(try await events("2023-11-13") == events("yesterday"))
        #expect(try await events("22:15..22:17") == ["@3", "@4"])
        #expect(try await events("--since", "22:20") == (8...20).map { "@\($0)" })
        #expect(try await events("--since", "23 hours ago").isEmpty)
        #expect(try await events("--since", "@19") == ["@19", "@20"])
        #expect(try await events("--since", "yesterday", "@4..5") == ["@4", "@5"])
        #expect(await Call.tool("get", "todoitem/a", "--at", "yesterday 22:17", on: log).output.contains(#""milk""#))
        #expect(await Call.tool("get", "todoitem/a", "--at", "24 hours ago", on: log).exit == .no)
        #expect(await Call.tool("diff", "yesterday 22:17", "now", "--stat", on: log).output.contains("added"))
        #expect(try await events("today").isEmpty)
        #expect(try await events("1969-12-31").isEmpty)
        for words in [["log", "22:20"], ["get", "todoitem/a", "--at", "tomorrow"], ["diff", "24:00"]] {
            let call = await Call.tool(words: words, on: log)
            #expect(call.exit == .usage && call.errors.contains("hint"), "\(call.errors)")
        }
        let wrong = await Call.tool("get", "todoitem/a", "--at", "25:00", on: log)
        #expect(wrong.errors.contains("`25:00` is not a valid moment") && wrong.errors.contains("yesterday"))
    }
}
