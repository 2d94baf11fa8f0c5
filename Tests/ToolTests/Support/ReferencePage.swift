// docs/CLI.md: the table of commands as a page. A test compares the page with the table.

@testable import SynclineTool

struct ReferencePage {
    let table: CommandTable

    var text: String {
        var lines = [
            "# The `syncline` command", "",
            "<!-- Written from the table of commands; run the tests with SYNCLINE_UPDATE_DOCS=1 to write it again. -->",
            "",
            "Data goes to standard output, messages go to standard error. On a terminal the output is formatted for people; in",
            "a pipe it is plain text without colour, and nothing is cut; with `--json` it is one JSON value, with `--jsonl` one",
            "object per line. The shapes are stable: fields may be added, never renamed. Read-only commands never change the store",
            "(they may hold a lease file while reading), work while another program has it open, and show as much as they can of a",
            "damaged store. Control characters in values are escaped.", "",
            "An error has a message, a place and a hint. With `--json` it is",
            "`{\"error\":{\"code\",\"message\",\"hint\",\"address\",\"file\",\"records\"}}` on standard output. An error that ends a list",
            "after its first elements were printed is its last element, and the exit code is 4. The last block of a command is its",
            "output with `--json`.", "",
            "## Addresses", "",
            "* `@41`: event 41, record 41 of the log; `@41..57`: a range; `@-1`: the last event",
            "* `2026-05-19T21:30Z`: the last event up to that time",
            "* `todoitem/a`: a row; `todoitem/a.text`: a field of it; `todoitem/a@41`: the row as of event 41",
            "* `~3`: the third operation of a push",
            "* `s7`: segment 7; `s7:5209663`: byte 5209663 of it", "",
            "## Options of every command", "",
        ]
        lines += CommandTable.common.map(line)
        lines += ["", "`--` ends the options: put it before a value that starts with `-` and is not a number."]
        let shared = self.shared
        lines += ["", "## Arguments and options of several commands", ""]
        lines += ["Commands that have one of these list only its name.", ""] + shared
        lines += ["", "## Exit codes", ""] + CommandTable.exits.map { "* \($0.code.rawValue): \($0.meaning)" }
        lines += ["", "## Environment", ""] + Documents.environment.map { "* `\($0.0)`: \($0.1)" }
        for part in table.sections {
            lines += ["", "## \(capitalized(part.title))"]
            for command in part.commands { lines += section(command, shared) }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    /// The arguments and options that at least three commands explain in the same words.
    private var shared: [String] {
        let lines = table.commands.flatMap { command in meanings(command).map(\.line) }
        let counts = Dictionary(lines.map { ($0, 1) }, uniquingKeysWith: +)
        var seen: Set<String> = []
        return lines.filter { counts[$0, default: 0] > 2 && seen.insert($0).inserted }
    }

    /// The arguments and options of a command, each with the line that explains it.
    private func meanings(_ command: Command) -> [(name: String, line: String)] {
        command.operands.map { (name: $0.name, line: "* `\($0.name)`: \($0.summary)") }
            + command.options.map { (name: "--\($0.name)", line: line($0)) }
    }

    private func section(_ command: Command, _ shared: [String]) -> [String] {
        var lines = ["", "### \(command.name)"]
        let usage = command.usage.replacing(" [OPTIONS]", with: "").replacing("syncline \(command.name) ", with: "")
        lines += [
            "", command.operands.isEmpty ? "\(capitalized(command.summary))." : "`\(usage)`: \(command.summary).",
        ]
        for paragraph in command.details {
            // What an earlier command says is there only.
            let first = table.sections.flatMap(\.commands).first { $0.details.contains(paragraph) } ?? command
            let anchor = first.path.joined(separator: "-")
            lines += ["", first.path == command.path ? paragraph : "See also [`\(first.name)`](#\(anchor))."]
        }
        let explained = meanings(command)
        var list = explained.map(\.line).filter { !shared.contains($0) }
        let names = explained.filter { shared.contains($0.line) }.map { "`\($0.name)`" }
        if !names.isEmpty { list.append("* " + names.joined(separator: ", ")) }
        let exits = command.exits.map { "\($0.code.rawValue): \($0.meaning)" }
        if !exits.isEmpty { list.append("* exit " + exits.joined(separator: "; ")) }
        if !list.isEmpty { lines += [""] + list }
        // A single example needs no words.
        let isSingle = command.examples.count == 1
        let examples = command.examples.flatMap { isSingle ? [$0.line] : ["# \($0.summary)", $0.line] }
        if !examples.isEmpty { lines += ["", "```sh"] + examples + ["```"] }
        if let result = command.result {
            lines +=
                (examples.isEmpty ? ["", "`--json`:", ""] : [""]) + folded(result, columns: 110).map { "    " + $0 }
        }
        return lines
    }

    private func line(_ option: Option) -> String {
        let choices = option.choices.isEmpty ? "" : " (`\(option.choices.joined(separator: "`, `"))`)"
        return "* `\(option.usage)`: \(option.summary)\(choices)"
    }

    private func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }
}
