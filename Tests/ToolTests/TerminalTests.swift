// The tool at a terminal: a pseudo-terminal on which keys are typed, as a person does.

import ChildProcesses
import Foundation
import Testing

@testable import SynclineTool

/// The tool on a terminal of its own; its output goes to a pipe, unless it is to be seen there, too.
private final class TerminalChild {
    private let child: ChildProcess
    /// The user's side.
    private let master: Int32
    private let slave: Int32
    private var shown = ""

    init(_ words: [String], variables: [String: String], showsOutput: Bool = false) throws {
        var (master, slave): (Int32, Int32) = (-1, -1)
        try #require(openpty(&master, &slave, nil, nil, nil) == 0)
        (self.master, self.slave) = (master, slave)
        let output = showsOutput ? ChildProcess.Stream.descriptor(slave) : .pipe
        child = try ChildProcess(
            try ChildProcess.tool, words, variables: ["TERM": "xterm"].merging(variables) { $1 },
            input: .descriptor(slave), output: output, errors: .descriptor(slave))
    }

    deinit {
        child.kill()
        close(master)
        close(slave)
    }

    /// Whether the terminal itself shows what is typed, line by line.
    var isCooked: Bool {
        var state = termios()
        tcgetattr(slave, &state)
        return state.c_lflag & tcflag_t(ECHO | ICANON) == tcflag_t(ECHO | ICANON)
    }

    /// Waits until the screen has shown something, and forgets what was before it. Fails after five minutes without
    /// output.
    func see(_ text: String) throws {
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            if let place = shown.range(of: text) {
                shown.removeSubrange(..<place.upperBound)
                return
            }
            var descriptor = pollfd(fd: master, events: Int16(POLLIN), revents: 0)
            try #require(poll(&descriptor, 1, 300_000) == 1, "not shown: \(text.debugDescription), but \(shown)")
            let count = read(master, &piece, piece.count)
            try #require(count > 0, "the terminal ended with: \(shown)")
            shown += String(decoding: piece[..<count], as: UTF8.self)
        }
    }

    func type(_ keys: String) throws {
        let bytes = Array(keys.utf8)
        try #require(write(master, bytes, bytes.count) == bytes.count)
    }

    /// All output, and how it ended.
    func finish() -> (output: String, exit: Int32) { (child.rest(), child.wait()) }
}

@Suite struct TerminalTests {
    @Test func `lines are edited, recalled and abandoned, also in the next session`() throws {
        let log = try TestLog.story()
        let folder = try TemporaryFolder()
        let variables = ["SYNCLINE_STORE": log.path, "XDG_STATE_HOME": folder.path]
        let first = try TerminalChild(["shell"], variables: variables)
        try first.see("syncline> ")
        // A letter is missing, another is too many.
        try first.type("gt todoitem bx\u{7f}\u{1}\u{1b}[Ce\r")
        try first.see("\r\n")
        try first.see("syncline> ")
        try first.type("nonsense\u{3}")
        try first.see("^C")
        try first.see("syncline> ")
        try first.type("\u{1b}[A\u{7f}a\r")
        try first.see("\r\n")
        try first.see("syncline> ")
        try first.type("\u{4}")
        let (output, exit) = first.finish()
        let rows = output.split(separator: "\n")
        #expect(exit == 0 && rows.count == 2)
        #expect(rows.first?.hasPrefix(#"{"id":"b""#) == true && rows.last?.contains("oat milk") == true, "\(output)")
        #expect(first.isCooked, "the terminal is as it was")

        let second = try TerminalChild(["shell"], variables: variables)
        try second.see("syncline> ")
        try second.type("\u{1b}[A\u{1b}[A\r")
        try second.see("\r\n")
        try second.see("syncline> ")
        try second.type("exit\r")
        #expect(second.finish().output.hasPrefix(#"{"id":"b""#))
    }

    @Test func `a pager shows lists on a terminal`() throws {
        var environment = Environment(variables: ["TERM": "xterm"], inputIsTerminal: true, outputIsTerminal: true)
        func command(_ words: String...) -> String? { Pager.command(words, environment) }
        #expect(command("log", "-n", "3")?.hasSuffix("less || exec cat") == true && command("log", "--help") != nil)
        #expect(command("help") != nil && command("inspect", "frames") != nil)
        for words in [["tail"], ["shell"], ["push"], ["--version"], ["log", "--nonsense"], []] {
            #expect(Pager.command(words, environment) == nil || words.isEmpty, "\(words)")
        }
        environment.variables["PAGER"] = "most"
        #expect(command("log")?.contains("; most\n") == true)
        environment.variables["SYNCLINE_PAGER"] = ""
        #expect(command("log") == nil)
        environment.variables = ["PAGER": "most", "TERM": "dumb"]
        #expect(command("log") == nil)
        environment.variables["TERM"] = "xterm"
        environment.outputIsTerminal = false
        #expect(command("log") == nil)

        let log = try TestLog.story()
        let variables = ["SYNCLINE_STORE": log.path, "PATH": "/usr/bin:/bin", "PAGER": "sed 's/^/| /'; echo read"]
        let child = try TerminalChild(["log", "-n", "2"], variables: variables, showsOutput: true)
        try child.see("| ")
        try child.see("@20")
        try child.see("\r\nread\r\n")
        #expect(child.finish().exit == 0)
        // A missing one keeps nothing from being shown.
        let missing = variables.merging(["PAGER": "no-such-pager"]) { $1 }
        let other = try TerminalChild(["log", "-n", "2"], variables: missing, showsOutput: true)
        try other.see("@20")
        #expect(other.finish().exit == 0)
    }

    @Test func `a replay is stepped through at a terminal`() throws {
        let log = try TestLog.story()
        let folder = try TemporaryFolder()
        let child = try TerminalChild(
            ["replay", "--step", "--to", "@4"], variables: ["SYNCLINE_STORE": log.path, "XDG_STATE_HOME": folder.path])
        try child.see("@4> ")
        try child.type("ne\t\r")
        try child.see("@5> ")
        // An empty line repeats the last command.
        try child.type("\r")
        try child.see("@6> ")
        try child.type("back\r")
        try child.see("@5> ")
        try child.type("\u{4}")
        let (output, exit) = child.finish()
        #expect(exit == 0 && output.contains("@6 of @20"))
        let kept = try String(contentsOfFile: folder.path + "/syncline/replay-history", encoding: .utf8)
        #expect(kept == "next \nback\n")
    }
}
