// Completion for zsh: one function for each prefix of a command.

struct ZshCompletion {
    let program: Program
    private var table: CommandTable { program.table }

    var text: String {
        let (name, function) = (program.name, Completion.function(program))
        var lines = [
            "#compdef \(name)", "# zsh completion for \(name); written by `syncline completions zsh \(name)`",
        ]
        for path in Completion.paths(table) { lines += self.function(path) }
        lines += [
            "if [[ $funcstack[1] = \(function) ]]; then \(function) \"$@\"; else compdef \(function) \(name); fi"
        ]
        return lines.map { $0 + "\n" }.joined()
    }

    private func name(_ path: [String]) -> String { ([Completion.function(program)] + path).joined(separator: "_") }

    private func function(_ path: [String]) -> [String] {
        let words = table.words(after: path)
        var specifications = Completion.options(program, path).flatMap(specification)
        if words.isEmpty {
            specifications += (table.command(path)?.operands ?? []).map(specification)
        } else {
            specifications += ["'1: :->word'", "'*:: :->rest'"]
        }
        var lines = ["\(name(path))() {", "    local curcontext=$curcontext state line", "    local -A opt_args"]
        lines.append("    _arguments -C \\")
        lines += specifications.enumerated().map { "        \($1)" + ($0 + 1 < specifications.count ? " \\" : "") }
        if !words.isEmpty {
            lines += ["    case $state in", "    word)", "        local -a words", "        words=("]
            for word in words {
                let summary = table.command(path + [word])?.summary ?? table.summary(of: word)
                lines.append("            " + Completion.quoted("\(word):\(summary)"))
            }
            lines += ["        )", "        _describe command words ;;", "    rest)", "        case $line[1] in"]
            lines += words.map { "        \($0)) \(name(path + [$0])) ;;" }
            lines += ["        esac ;;", "    esac"]
        }
        return lines + ["}"]
    }

    private func specification(_ option: Option) -> [String] {
        let names = ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])
        return names.map { name in
            let equals = option.value != nil && name.hasPrefix("--") ? "=" : ""
            return Completion.quoted("\(name)\(equals)[\(bare(option.summary))]\(value(option))")
        }
    }

    private func value(_ option: Option) -> String {
        guard let value = option.value else { return "" }
        if option.takesDirectory { return ":\(value):_directories" }
        if option.takesFile { return ":\(value):_files" }
        return option.choices.isEmpty ? ":\(value): " : ":\(value):(\(option.choices.joined(separator: " ")))"
    }

    private func specification(_ operand: Operand) -> String {
        let action =
            operand.takesDirectory
            ? "_directories"
            : operand.takesFile
                ? "_files" : operand.choices.isEmpty ? " " : "(\(operand.choices.joined(separator: " ")))"
        let place = operand.repeats ? "*" : operand.isRequired ? "" : ":"
        return Completion.quoted("\(place):\(bare(operand.name)):\(action)")
    }

    /// Brackets and colons have a meaning in a specification.
    private func bare(_ text: String) -> String {
        String(text.flatMap { "[]:".contains($0) ? ["\\", $0] : [$0] })
    }
}
