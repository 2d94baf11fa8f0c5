// Editing a line: keys in, line and cursor out.

import Foundation
import Testing

@testable import SynclineTool

@Suite struct LineEditorTests {
    /// The keys that bytes encode.
    private func keys(_ text: String) -> [Key] {
        var decoder = KeyDecoder()
        return text.utf8.compactMap { decoder.take($0) }
    }

    private func type(_ text: String, into editor: inout LineEditor) -> [LineEditor.Outcome] {
        keys(text).map { editor.handle($0) }
    }

    @Test func `bytes of a terminal become keys`() {
        #expect(keys("a\u{e9}\r\t\u{7f}") == [.character("a"), .character("\u{e9}"), .enter, .tab, .backspace])
        #expect(keys("\u{1b}[A\u{1b}OB\u{1b}[3~\u{1b}[1;5C\u{1b}f") == [.up, .down, .delete, .wordRight, .wordRight])
        #expect(keys("\u{1b}[99;99Zx") == [.unknown, .character("x")])
        #expect(keys("\u{1}\u{3}") == [.control("a"), .control("c")])
    }

    @Test func `a line is changed in the middle`() {
        var editor = LineEditor()
        _ = type("go @4\u{1b}[D1\u{1}n\u{5}2", into: &editor)
        #expect(String(editor.text) == "ngo @142" && editor.cursor == 8)
        _ = type("\u{17}", into: &editor)
        #expect(String(editor.text) == "ngo ")
        _ = type("\u{19}\u{1}\u{b}", into: &editor)
        #expect(editor.text.isEmpty)
        _ = type("\u{19}", into: &editor)
        #expect(type("\r", into: &editor) == [.entered("ngo @142")])
    }

    @Test func `earlier lines come back, and what was begun is kept`() {
        var editor = LineEditor(history: ["one"])
        _ = type("two\r", into: &editor)
        _ = type("thr\u{1b}[A\u{1b}[A", into: &editor)
        #expect(String(editor.text) == "one")
        _ = type("\u{1b}[A\u{1b}[B\u{1b}[B", into: &editor)
        #expect(String(editor.text) == "thr" && editor.history == ["one", "two"])
    }

    @Test func `a word is completed as far as it is clear`() {
        var editor = LineEditor(complete: { StepperCommand.completions(of: $0) })
        _ = type("he\t", into: &editor)
        #expect(String(editor.text) == "help ")
        _ = type("\u{15}re\t", into: &editor)
        #expect(String(editor.text) == "reverse ")
        _ = type("\u{15}r", into: &editor)
        #expect(editor.handle(.tab) == .choices(["run", "reverse", "rows", "row"]))
        #expect(ShellWords.completions(of: "inspect se", .all) == ["segments"])
        #expect(ShellWords.completions(of: "log --ki", .all) == ["--kind"])
    }

    @Test func `a line can be abandoned, and the input can end`() {
        var editor = LineEditor()
        #expect(type("x\u{3}\u{4}", into: &editor) == [.editing, .cancelled, .ended])
    }

    @Test func `lines are kept for the next session, but for secrets`() throws {
        let folder = try TemporaryFolder()
        let environment = Environment(variables: ["XDG_STATE_HOME": folder.path + "/new/state"])
        let history = LineHistory("history", environment)
        #expect(history.read().isEmpty)
        for line in [
            "log", "config token abc", " get todoitem a", "config 'headers' '{}'", "", "config backend http://h", "log",
        ] { history.add(line) }
        #expect(LineHistory("history", environment).read() == ["log", "config backend http://h", "log"])
        #expect(LineHistory("other", environment).read().isEmpty)
        let file = folder.path + "/new/state/syncline/history"
        let attributes = try FileManager.default.attributesOfItem(atPath: file)
        #expect(attributes[.posixPermissions] as? Int == 0o600)

        for number in 0..<2 * LineHistory.limit { history.add("show @\(number)") }
        let kept = history.read()
        #expect(kept.count == LineHistory.limit && kept.last == "show @\(2 * LineHistory.limit - 1)")
        #expect(try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n").map(String.init) == kept)
        #expect(LineHistory("history", Environment()).read().isEmpty)
    }
}
