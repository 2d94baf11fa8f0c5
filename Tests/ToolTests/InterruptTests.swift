// Ctrl-C in the middle of commands that write files: nothing is left of what they had begun.

import ChildProcesses
import Foundation
import Testing

@testable import SynclineTool

@Suite struct InterruptTests {
    private func names(_ path: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: path).sorted()
    }

    /// Waits for the end of a child after a signal, which must have ended it. Its output isn't read, so it can't reach
    /// its own end before a thread of it has seen the signal.
    private func expectEnded(_ child: ChildProcess, by signal: Int32, _ what: String) {
        child.signal(signal)
        #expect(child.wait() == -signal, "\(what)")
    }

    @Test(arguments: [SIGINT, SIGTERM, SIGHUP])
    func `an interrupted import leaves neither a store nor a part of one`(signal: Int32) async throws {
        let log = try TestLog.story()
        let events = await Call.tool("export", "--format", "events", on: log).output
        let child = try ChildProcess.tool("import", "-s", log.folder.path + "/copy", on: log)
        try child.write(events)
        // It has read the events when it has taken more than a pipe and its buffer hold.
        try child.write(String(repeating: "\n", count: 1 << 20))
        #expect(try names(log.folder.path).contains { $0.hasPrefix("copy.import-") })
        expectEnded(child, by: signal, "signal \(signal)")
        #expect(try names(log.folder.path) == ["log"])
    }

    @Test func `an interrupted reading of a report leaves nothing in the temporary folder`() async throws {
        let log = try TestLog.story()
        let scratch = try TemporaryFolder()
        let file = log.folder.path + "/bug.jsonl"
        let text = String(repeating: "long ", count: 20_000)
        for number in 0..<8 {
            #expect(
                await Call.tool("insert", "t", "{\"id\":\"\(number)\",\"text\":\"\(text)\"}", on: log).exit == .done)
        }
        #expect(await Call.tool("report", "--no-mask", "-o", file, on: log).exit == .done)
        // Its output does not fit into a pipe, so it waits in the middle of it.
        let child = try ChildProcess.tool("export", "-s", file, on: log, variables: ["TMPDIR": scratch.path])
        #expect(child.line() != nil)
        #expect(try names(scratch.path).count == 1)
        expectEnded(child, by: SIGINT, "export")
        #expect(try names(scratch.path).isEmpty)
    }

    @Test func `an interrupt ends a command of a shell, and not the next one`() async throws {
        let log = try TestLog.story()
        let child = try ChildProcess.tool("shell", on: log)
        try child.write("tail -f -n 1 --jsonl\n")
        #expect(child.line()?.contains("\"@20\"") == true)
        child.signal(SIGINT)
        try child.write("tail -n 1 --jsonl\ntail -f -n 1 --jsonl\n")
        #expect(child.line()?.contains("\"@20\"") == true)
        #expect(child.line()?.contains("\"@20\"") == true)
        // The second one waits for more.
        let change = await Call.tool("update", "todoitem", #"{"id":"d","n":1}"#, on: log)
        try #require(change.exit == .done, "\(change.errors)")
        child.closeInput()
        #expect(child.line()?.contains("\"@21\"") == true)
        child.signal(SIGINT)
        _ = child.rest()
        #expect(child.wait() == 0)
    }

    @Test func `an export appears under its name when it is complete`() async throws {
        let log = try TestLog.story()
        let file = log.folder.path + "/rows.jsonl"
        let rows = await Call.tool("export", on: log).output
        let done = await Call.tool("export", "-o", file, on: log)
        #expect(done.exit == .done && done.output == "")
        #expect(try String(contentsOfFile: file, encoding: .utf8) == rows)
        // One that fails leaves the file as it was.
        let failed = await Call.tool("export", "--table", "todoitm", "-o", file, on: log)
        #expect(failed.exit == .failed)
        #expect(try String(contentsOfFile: file, encoding: .utf8) == rows)
        #expect(try names(log.folder.path) == ["log", "rows.jsonl"])
        let json = await Call.tool("export", "--json", "--format", "events", "-o", file, on: log)
        #expect(json.exit == .done)
        let events = try JSONSerialization.jsonObject(with: Data(contentsOf: URL(filePath: file))) as? [Any]
        #expect(events?.count == 20)
    }
}
