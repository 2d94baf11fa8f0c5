// docs/CLI.md: the table as a page. A test compares the page with the table.

package struct ReferencePage {
    private let table: CommandTable

    package init(_ table: CommandTable = .all) {
        self.table = table
    }

    package var text: String {
        var lines = [
            "# The `syncline` command", "",
            "<!-- Written from the table of commands; SYNCLINE_UPDATE_DOCS=1 with the tests writes it again. -->", "",
            "Standard output is data, standard error is narration. On a terminal the output is for people; in a pipe it is plain",
            "text without colour or cuts; with `--json` it is one JSON value, with `--jsonl` an object a line. The shapes are stable:",
            "fields may be added, never renamed. Commands that only look never write, work on a store that another program has",
            "open, and show as much as they can of a damaged one. Control characters in values are escaped.", "",
            "An error is a sentence, the place, and what to do next. With `--json` it is",
            "`{\"error\":{\"code\",\"message\",\"hint\",\"address\",\"file\",\"records\"}}` on standard output; an error that ends a list that was begun",
            "is its last element, and the exit code is 4.", "",
            "## Addresses", "",
            "`@41` event 41, which is record 41 of the log · `@41..57` a range · `@-1` the last · `2026-05-19T21:30Z` the last until then",
            "· `todoitem/a` a row · `todoitem/a.text` a field of it · `todoitem/a@41` the row as it was · `~3` the third operation of a push",
            "· `s7` segment 7 · `s7:5209663` byte 5209663 of segment 7.", "",
            "## Options of every command", "",
        ]
        lines += options(CommandTable.common)
        lines += ["", "## Exit codes", "", "| code | meaning |", "|---|---|"]
        lines += CommandTable.exits.map { "| \($0.code.rawValue) | \(cell($0.meaning)) |" }
        lines += ["", "## Environment", "", "| variable | meaning |", "|---|---|"]
        lines += Documents.environment.map { "| `\($0.0)` | \(cell($0.1)) |" }
        lines += ["", "## Commands", "", "| command | what it does |", "|---|---|"]
        lines += table.commands.map { "| [`\($0.name)`](#\(anchor($0))) | \(cell($0.summary)) |" }
        for command in table.commands { lines += section(command) }
        return lines.map { $0 + "\n" }.joined()
    }

    private func anchor(_ command: Command) -> String { command.path.joined(separator: "-") }

    private func section(_ command: Command) -> [String] {
        var lines = [
            "", "### \(command.name)", "", "    \(command.usage)", "",
            command.summary.prefix(1).uppercased() + command.summary.dropFirst() + ".",
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

    private func cell(_ text: String) -> String {
        text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}
