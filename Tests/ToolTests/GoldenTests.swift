// The output of every read command, for people, in a pipe and as JSON, compared with files. SYNCLINE_UPDATE_GOLDEN=1
// writes them again; review the differences.

import Foundation
import Testing

@testable import SynclineTool

@Suite struct GoldenTests {
    private static let lines = [
        "log", "log -n 3", "log @4..6 --redact", "log --kind answer --table todoitem", "tail -n 2", "show @12",
        "log todoitem/b", "log --row todoitem/a -n 3 --redact", "log tomorrow",
        "show todoitem/b", "show todoitem/a@4", "show ~1", "show s1:512", "show ~9", "diff @4", "diff @4 @10 --stat",
        "diff @-1", "diff @4 @10 --redact", "blame todoitem/a", "blame todoitem/a.text", "blame todoitem/b --at @4",
        "blame todoitem/x", "why todoitem/a", "why todoitem/b", "why todoitem/b.text --at @16 --redact",
        "why todoitem/d", "why todoitem/b --at @7", "why todoitm/a", "why todoitem/a.txt", "hold", "push --dry-run",
        "replay", "replay --bisect todoitem/c", "replay --bisect pending\\ ge\\ 99",
        "replay --bisect conflicts\\ ge\\ 1", "replay --policy server-wins", "replay --without @5", "pending",
        "pending --at @6", "conflicts", "conflicts --redact", "cursors", "get todoitem a", "get todoitem a --at @4",
        "get todoitem/a@4",
        "query todoitem --filter n\\ gt\\ 1 --count", "inspect", "inspect segments", "inspect frames -n 3",
        "inspect events", "inspect tables", "inspect indexes", "inspect outbox", "inspect operations",
        "inspect operations --list", "inspect checkpoints", "stats", "stats --prometheus", "verify", "repair --dry-run",
        "export", "export --format csv", "export --format sql", "export --format events --table todoitem",
        "frobnicate", "log --kindd x", "show nothing", "blame",
    ]

    private static var folder: URL {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Golden")
    }

    @Test(arguments: lines)
    func `a command prints what it printed`(line: String) async throws {
        let log = try TestLog.story()
        let before = try log.bytes
        var text = "$ syncline \(line)\n"
        for (name, options, isTerminal) in [
            ("people", ["--color=always"], true), ("pipe", [], false), ("json", ["--json"], false),
        ] {
            let call = await Call.tool(words: ShellWords.split(line) + options, on: log, isTerminal: isTerminal)
            text += "\n--- \(name), exit \(call.exit.rawValue)\n" + call.output
            if !call.errors.isEmpty { text += "--- errors\n" + call.errors }
        }
        #expect(try log.bytes == before, "a command that only looks wrote")
        // Escapes are written so that the files are safe to show.
        text = text.replacingOccurrences(of: "\u{1b}", with: "␛")
        let name = line.map { $0.isLetter || $0.isNumber || $0 == "-" ? $0 : "_" }
        let file = Self.folder.appendingPathComponent(String(name) + ".txt")
        if ProcessInfo.processInfo.environment["SYNCLINE_UPDATE_GOLDEN"] == "1" {
            try text.write(to: file, atomically: true, encoding: .utf8)
        }
        let golden = try String(contentsOf: file, encoding: .utf8)
        #expect(text == golden, "SYNCLINE_UPDATE_GOLDEN=1 writes \(file.lastPathComponent) again")
    }

    @Test func `every golden file belongs to a command that is tested`() throws {
        let names = try FileManager.default.contentsOfDirectory(atPath: Self.folder.path)
        #expect(names.count == Self.lines.count)
    }
}
