// The manual page, in the format of man(7).

import SynclineGround

struct ManPage {
    let program: Program

    var text: String { lines.map { $0 + "\n" }.joined() }

    var lines: [String] {
        var lines = [
            ".TH \(escape(program.name.uppercased())) 1 \"\" \"\(program.name) \(synclineVersion)\" \"User Commands\"",
            // Ragged lines without hyphens, because shapes of JSON do not stretch well.
            ".nh", ".ad l",
            ".SH NAME", "\(escape(program.name)) \\- \(escape(program.purpose))",
            ".SH SYNOPSIS",
        ]
        if program.runsAlone { lines += [".B \(escape(program.name))", "[OPTIONS]", ".br"] }
        lines += [".B \(escape(program.name))", ".I COMMAND", "[OPTIONS]", ".SH DESCRIPTION"]
        lines += program.details.map(escape)
        lines += [".SH OPTIONS" + (program.runsAlone ? "" : " OF EVERY COMMAND")] + options(program.options)
        for part in program.table.sections {
            lines.append(".SH COMMANDS TO " + escape(part.title.uppercased()))
            for command in part.commands { lines += section(command) }
        }
        lines.append(".SH EXIT STATUS")
        lines += program.exits.flatMap { entry("\($0.code.rawValue)", $0.meaning) }
        lines.append(".SH ENVIRONMENT")
        lines += program.environment.flatMap { entry($0.name, $0.meaning) }
        lines.append(".SH FILES")
        lines += program.files.flatMap { entry($0.name, $0.meaning) }
        let others = Program.operand.choices.filter { $0 != program.name }
        return lines + [".SH SEE ALSO"] + others.map { ".BR \(escape($0)) (1)" }
    }

    private func entry(_ name: String, _ meaning: String) -> [String] { [".TP", bold(name), escape(meaning)] }

    private func section(_ command: Command) -> [String] {
        var lines = [".SS \"\(escape(command.usage(of: program.name)))\"", escape(capitalized(command.summary)) + "."]
        for paragraph in command.details { lines += [".PP", escape(paragraph)] }
        for operand in command.operands { lines += [".TP", ".I \(escape(operand.name))", escape(operand.summary)] }
        lines += options(command.options)
        for example in command.examples {
            lines += [".PP", "Example, \(escape(example.summary)):", ".RS", ".nf", escape(example.line), ".fi", ".RE"]
        }
        if let result = command.result {
            lines += [".PP", "With " + bold("--json") + ":", ".RS", ".nf"]
            lines += folded(result, columns: 64).map(escape) + [".fi", ".RE"]
        }
        for exit in command.exits { lines += [".TP", "Exit \(exit.code.rawValue)", escape(exit.meaning)] }
        return lines
    }

    private func options(_ options: [Option]) -> [String] {
        options.flatMap { option in
            let choices = option.choices.isEmpty ? "" : " (\(option.choices.joined(separator: ", ")))"
            return entry(option.usage, option.summary + choices)
        }
    }

    private func bold(_ text: String) -> String { "\\fB\(escape(text))\\fP" }

    private func capitalized(_ text: String) -> String { text.prefix(1).uppercased() + text.dropFirst() }

    /// A line must not begin with a control character, and a minus sign must not become a hyphen.
    private func escape(_ text: String) -> String {
        var result = ""
        for character in text {
            switch character {
            case "\\": result += "\\e"
            case "-": result += "\\-"
            case "\"": result += "\\(dq"
            case "`": result += "\\(ga"
            case "'": result += "\\(aq"
            case _ where character.unicodeScalars.contains(where: { !$0.isASCII }):
                for scalar in character.unicodeScalars {
                    result += "\\[u" + Hexadecimal.text(scalar.value, digits: 4).uppercased() + "]"
                }
            default: result.append(character)
            }
        }
        return result.hasPrefix(".") ? "\\&" + result : result
    }
}

/// The parts of every document that belong to no command.
enum Documents {
    static let environment = [
        ("SYNCLINE_STORE", "the store to use if --store is not given"),
        ("SYNCLINE_PAGER", "the pager for long output on a terminal (default: $PAGER, then less); empty: no pager"),
        ("NO_COLOR", "if set: no colour"),
        ("CLICOLOR_FORCE", "if set and not 0: colour in pipes, too"),
        ("TERM", "if `dumb`: no colour"),
        ("XDG_STATE_HOME", "the folder for syncline/history, the lines typed at a prompt (default: ~/.local/state)"),
    ]

    static let files = [
        (StoreLocation.folderName, "the store of a project, searched for in the current folder and then in its parents")
    ]
}
