// `--help`: a command of the table as text for a terminal.

extension Command {
    /// The exit codes that the command explains, and the usual meaning of the others.
    var allExits: [Exit] {
        CommandTable.exits.map { usual in exits.first { $0.code == usual.code } ?? usual }
            .filter { exit in exits.contains(exit) || [.done, .usage, .failed].contains(exit.code) }
    }

    /// `syncline inspect frames [OPTIONS] [ADDRESS]`
    var usage: String { usage(of: "syncline") }

    func usage(of program: String) -> String {
        let words = operands.map { operand in
            let name = operand.repeats ? operand.name + "…" : operand.name
            return operand.isRequired ? name : "[\(name)]"
        }
        return ([program, name, "[OPTIONS]"] + words).joined(separator: " ")
    }
}

/// The shape of a result in several lines, broken after commas.
func folded(_ shape: String, columns: Int) -> [String] {
    var lines = [""]
    for piece in shape.split(separator: ",", omittingEmptySubsequences: false) {
        if lines[lines.count - 1].count + piece.count + 1 > columns, lines != [""] { lines.append(" ") }
        lines[lines.count - 1] += piece + ","
    }
    lines[lines.count - 1].removeLast()
    return lines
}

struct HelpText {
    let table: CommandTable
    let style: TextStyle

    /// All commands, or those that begin with some words.
    func overview(_ path: [String]) -> [String] {
        let title = path.isEmpty ? Program.syncline(table).purpose : table.summary(of: path[0])
        var lines = [head((["syncline"] + path).joined(separator: " "), title), ""]
        lines.append("usage: " + (["syncline"] + path + ["COMMAND", "[OPTIONS]"]).joined(separator: " "))
        let width = self.width(of: table.commands.filter { $0.path.starts(with: path) }.map(\.name))
        for section in table.sections {
            let commands = section.commands.filter { $0.path.starts(with: path) }
            if commands.isEmpty { continue }
            lines += ["", heading(section.title)] + entries(commands.map { ($0.name, $0.summary) }, width)
        }
        lines += ["", heading("options of every command")] + options(CommandTable.common)
        lines += ["", "`--` ends the options: put it before a value that starts with `-` and is not a number."]
        return lines + ["", "`syncline help COMMAND` explains one command."]
    }

    /// One command.
    func lines(_ command: Command) -> [String] {
        var lines = [head("syncline \(command.name)", command.summary), "", "usage: \(command.usage)"]
        for paragraph in command.details { lines += [""] + wrapped(paragraph, indent: 0) }
        let words = table.words(after: command.path).map { command.path + [$0] }.compactMap(table.command)
        if !words.isEmpty { lines += ["", heading("commands")] + entries(words.map { ($0.name, $0.summary) }) }
        if !command.operands.isEmpty {
            lines += ["", heading("arguments")] + entries(command.operands.map { ($0.name, $0.summary) })
        }
        if !command.options.isEmpty { lines += ["", heading("options")] + options(command.options) }
        lines += ["", heading("options of every command")] + options(CommandTable.common)
        if !command.examples.isEmpty {
            lines += ["", heading("examples")]
            for example in command.examples {
                lines += ["  " + style.paint(example.line, .address), "      " + example.summary]
            }
        }
        if let result = command.result {
            lines += ["", heading("with --json")] + folded(result, columns: 76).map { "  " + $0 }
        }
        lines += ["", heading("exit codes")] + entries(command.allExits.map { ("\($0.code.rawValue)", $0.meaning) })
        return lines
    }

    private func head(_ name: String, _ summary: String) -> String {
        style.paint(name, .heading) + " – " + summary
    }

    private func heading(_ text: String) -> String {
        style.paint(text + ":", .heading)
    }

    private func options(_ options: [Option]) -> [String] {
        entries(
            options.map { option in
                ((option.short == nil ? "    " : "") + option.usage, option.summary + choices(option.choices))
            })
    }

    private func choices(_ choices: [String]) -> String {
        choices.isEmpty ? "" : " (\(choices.joined(separator: ", ")))"
    }

    /// The width of a first column that holds these names.
    private func width(of names: [String]) -> Int {
        min(28, (names.map(\.count).max() ?? 0) + 4)
    }

    /// Two columns, the first as wide as its names need or as given.
    private func entries(_ entries: [(String, String)], _ width: Int? = nil) -> [String] {
        let width = width ?? self.width(of: entries.map(\.0))
        return entries.flatMap { name, summary in
            var lines = wrapped(summary, indent: width)
            let first = "  " + name
            if first.count < width {
                lines[0] = first + lines[0].dropFirst(first.count)
            } else {
                lines.insert(first, at: 0)
            }
            return lines
        }
    }

    /// Text in lines of at most 80 columns.
    private func wrapped(_ text: String, indent: Int) -> [String] {
        let margin = String(repeating: " ", count: indent)
        var lines: [String] = []
        var line = ""
        for word in text.split(separator: " ") {
            if !line.isEmpty && indent + line.count + 1 + word.count > 80 {
                lines.append(margin + line)
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return lines + [margin + line]
    }
}
