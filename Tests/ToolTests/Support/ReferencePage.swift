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
            "after its first elements were printed is its last element, and the exit code is 4.", "",
            "## Addresses", "",
            "`@41` event 41, which is record 41 of the log · `@41..57` a range · `@-1` the last event · `2026-05-19T21:30Z` the last",
            "event up to that time · `todoitem/a` a row · `todoitem/a.text` a field of it · `todoitem/a@41` the row as of event 41 ·",
            "`~3` the third operation of a push · `s7` segment 7 · `s7:5209663` byte 5209663 of segment 7.", "",
            "## Options of every command", "",
        ]
        lines += options(CommandTable.common)
        lines += ["", "`--` ends the options: put it before a value that starts with `-` and is not a number."]
        lines += ["", "## Exit codes", "", "| code | meaning |", "|---|---|"]
        lines += CommandTable.exits.map { "| \($0.code.rawValue) | \(cell($0.meaning)) |" }
        lines += ["", "## Environment", "", "| variable | meaning |", "|---|---|"]
        lines += Documents.environment.map { "| `\($0.0)` | \(cell($0.1)) |" }
        lines += ["", "## Commands"]
        for part in table.sections {
            lines += ["", "### \(capitalized(part.title))", "", "| command | what it does |", "|---|---|"]
            lines += part.commands.map { "| [`\($0.name)`](#\(anchor($0))) | \(cell($0.summary)) |" }
        }
        lines += ["", "## Each command"]
        for command in table.commands { lines += section(command) }
        return lines.map { $0 + "\n" }.joined()
    }

    private func anchor(_ command: Command) -> String { command.path.joined(separator: "-") }

    private func section(_ command: Command) -> [String] {
        var lines = [
            "", "### \(command.name)", "", "    \(command.usage)", "",
            capitalized(command.summary) + ".",
        ]
        for paragraph in command.details { lines += ["", paragraph] }
        if !command.operands.isEmpty {
            lines += ["", "| argument | meaning |", "|---|---|"]
            lines += command.operands.map { "| `\($0.name)` | \(cell($0.summary)) |" }
        }
        if !command.options.isEmpty { lines += [""] + options(command.options) }
        if !command.examples.isEmpty {
            lines += ["", "```sh"] + command.examples.flatMap { ["# \($0.summary)", $0.line] } + ["```"]
        }
        if let result = command.result {
            lines += ["", "With `--json`:", "", "```"] + folded(result, columns: 110) + ["```"]
        }
        if !command.exits.isEmpty {
            lines += ["", "| exit | meaning |", "|---|---|"]
            lines += command.exits.map { "| \($0.code.rawValue) | \(cell($0.meaning)) |" }
        }
        return lines
    }

    private func options(_ options: [Option]) -> [String] {
        ["| option | meaning |", "|---|---|"]
            + options.map { option in
                let choices = option.choices.isEmpty ? "" : " (`\(option.choices.joined(separator: "`, `"))`)"
                return "| `\(option.usage)` | \(cell(option.summary))\(choices) |"
            }
    }

    private func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    private func cell(_ text: String) -> String {
        text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}
