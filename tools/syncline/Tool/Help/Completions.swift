// Completions for three shells: each script knows the words, options and choices of the table.

import SynclineGround

/// For bash.
struct BashCompletion {
    let program: Program
    private var table: CommandTable { program.table }

    var text: String {
        let (name, function) = (program.name, Completion.function(program))
        var lines = [
            "# bash completion for \(name); written by `syncline completions bash \(name)`", "\(function)() {",
            "    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD-1]} path= word index",
            "    for ((index = 1; index < COMP_CWORD; index++)); do",
            "        word=${COMP_WORDS[index]}", "        case \"$path $word\" in",
        ]
        for path in Completion.paths(table) where !path.isEmpty {
            let before = path.dropLast().joined(separator: " ")
            lines.append(
                "            \"\(before) \(path[path.count - 1])\") path=\"\(path.joined(separator: " "))\" ;;")
        }
        lines += ["        esac", "    done", "    case \"$path $previous\" in"]
        for path in Completion.paths(table) {
            for option in Completion.options(program, path) {
                guard let answer = answer(option) else { continue }
                let names = ["--\(option.name)"] + (option.short.map { ["-\($0)"] } ?? [])
                let pattern = names.map { "\"\(path.joined(separator: " ")) \($0)\"" }.joined(separator: " | ")
                lines.append("        \(pattern)) \(answer); return ;;")
            }
        }
        lines += ["    esac", "    local words= files=", "    case \"$path\" in"]
        for path in Completion.paths(table) {
            let words = Completion.words(program, path).joined(separator: " ")
            let operands = table.command(path)?.operands ?? []
            let files = operands.contains { $0.takesFile } ? " files=-f" : ""
            let folders = operands.contains { $0.takesDirectory } ? " files=-d" : ""
            lines.append("        \"\(path.joined(separator: " "))\") words=\"\(words)\"\(files)\(folders) ;;")
        }
        lines += [
            "    esac", "    COMPREPLY=($(compgen $files -W \"$words\" -- \"$current\"))",
            "}", "complete -F \(function) \(name)",
        ]
        return lines.map { $0 + "\n" }.joined()
    }

    private func answer(_ option: Option) -> String? {
        if option.value == nil { return nil }
        if option.takesDirectory { return "COMPREPLY=($(compgen -d -- \"$current\"))" }
        if option.takesFile { return "COMPREPLY=($(compgen -f -- \"$current\"))" }
        return "COMPREPLY=($(compgen -W \"\(option.choices.joined(separator: " "))\" -- \"$current\"))"
    }
}

/// For fish.
struct FishCompletion {
    let program: Program
    private var table: CommandTable { program.table }

    var text: String {
        let (name, function) = (program.name, "_" + Completion.function(program))
        var lines = [
            "# fish completion for \(name); written by `syncline completions fish \(name)`",
            "function \(function)_at", "    set -l words (commandline -opc | string match -v -- '-*')",
            "    test \"$words[2..]\" = \"$argv\"", "end",
            "function \(function)_in", "    set -l words (commandline -opc | string match -v -- '-*')",
            "    string match -q -- \"$argv*\" \"$words[2..]\"", "end", "complete -c \(name) -f",
        ]
        for option in program.options { lines.append("complete -c \(name)" + self.option(option)) }
        for path in Completion.paths(table) {
            let words = path.joined(separator: " ")
            for word in table.words(after: path) {
                let summary = table.command(path + [word])?.summary ?? table.summary(of: word)
                lines.append(
                    "complete -c \(name) -n '\(function)_at \(words)' -a \(word) -d \(Completion.quoted(summary))")
            }
            guard let command = table.command(path) else { continue }
            for option in command.options {
                lines.append("complete -c \(name) -n '\(function)_in \(words)'" + self.option(option))
            }
            for operand in command.operands {
                let condition = "complete -c \(name) -n '\(function)_at \(words)'"
                if operand.takesFile { lines.append("\(condition) -F") }
                if operand.takesDirectory { lines.append("\(condition) -a '(__fish_complete_directories)'") }
                if !operand.choices.isEmpty {
                    lines.append("\(condition) -a '\(operand.choices.joined(separator: " "))'")
                }
            }
        }
        return lines.map { $0 + "\n" }.joined()
    }

    private func option(_ option: Option) -> String {
        var text = " -l \(option.name)" + (option.short.map { " -s \($0)" } ?? "")
        if option.takesDirectory {
            text += " -xa '(__fish_complete_directories)'"
        } else if option.takesFile {
            text += " -rF"
        } else if option.value != nil {
            text += option.choices.isEmpty ? " -x" : " -xa '\(option.choices.joined(separator: " "))'"
        }
        return text + " -d \(Completion.quoted(option.summary))"
    }
}

enum Completion {
    /// All prefixes of commands, the empty one first.
    static func paths(_ table: CommandTable) -> [[String]] {
        var paths: [[String]] = [[]]
        for command in table.commands {
            for count in 1...command.path.count {
                let path = Array(command.path.prefix(count))
                if !paths.contains(path) { paths.append(path) }
            }
        }
        return paths
    }

    static func options(_ program: Program, _ path: [String]) -> [Option] {
        let own = program.table.command(path)?.options ?? []
        return own + program.options.filter { option in !own.contains { $0.name == option.name } }
    }

    /// The name of the function that completes a program.
    static func function(_ program: Program) -> String { "_" + program.name.replacing("-", with: "_") }

    /// The words that may follow some others.
    static func words(_ program: Program, _ path: [String]) -> [String] {
        let table = program.table
        let operands = table.command(path)?.operands.flatMap(\.choices) ?? []
        return table.words(after: path) + operands + options(program, path).map { "--\($0.name)" }
    }

    static func quoted(_ text: String) -> String {
        text.quoted(by: "'", escaping: "'\\''")
    }
}
