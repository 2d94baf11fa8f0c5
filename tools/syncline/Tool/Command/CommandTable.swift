// A table of commands. The parser, the help, the documents and the completions are made from it.

/// The commands by task, and the options and exit codes that they share.
package struct CommandTable: Sendable {
    package let sections: [Section]
    /// The commands of all sections, in their order.
    package let commands: [Command]

    /// Commands for one task.
    package struct Section: Sendable {
        /// In lower case, as the help prints it.
        package let title: String
        package let commands: [Command]

        package init(_ title: String, _ commands: [Command]) {
            self.title = title
            self.commands = commands
        }
    }

    package init(_ sections: [Section]) {
        self.sections = sections
        commands = sections.flatMap(\.commands)
    }

    /// The meaning of words that begin commands but are not commands themselves.
    package static let groups: [String: String] = [
        "raw": "append and print records as bytes, without tables",
        "bench": "measure the speed of sync, and make a long history",
        "branch": "change a draft of the store, and land it as one transaction",
    ]

    /// Options that every command takes.
    package static let common: [Option] = [
        Option(
            "store", short: "s", value: "DIR", takesDirectory: true,
            "the store (default: $SYNCLINE_STORE, then the nearest .syncline folder in this directory or above it)"),
        Option("branch", value: "NAME", "a branch of that store"),
        Option("json", "print one JSON value"),
        Option("jsonl", "print JSON Lines, one element per line"),
        Option("color", value: "WHEN", choices: ["auto", "always", "never"], "when to use colour (default: auto)"),
        Option("help", short: "h", "explain the command"),
        Option("version", "print the version"),
    ]

    /// What exit codes mean unless a command says something else.
    package static let exits: [Exit] = [
        Exit(.done, "done, or the answer is yes"),
        Exit(.no, "the answer is no: something differs, is damaged, or is left to do"),
        Exit(.usage, "the command line is wrong"),
        Exit(.failed, "the command failed: no store, store locked, refused"),
        Exit(.partial, "part of the answer could not be shown"),
        Exit(.internalError, "a bug in syncline"),
    ]

    /// The command with exactly these words.
    package func command(_ path: some Sequence<String>) -> Command? {
        let path = Array(path)
        return commands.first { $0.path == path }
    }

    /// The words that may follow others, in the table's order.
    package func words(after path: [String]) -> [String] {
        var words: [String] = []
        for command in commands where command.path.count > path.count && command.path.starts(with: path) {
            let word = command.path[path.count]
            if !words.contains(word) { words.append(word) }
        }
        return words
    }

    /// The only command that ends with a word, to suggest it if the words before were left out.
    func command(endingWith word: String, after path: [String]) -> [String]? {
        let found = commands.filter { $0.path.count > path.count && $0.path.starts(with: path) && $0.path.last == word }
        return found.count == 1 ? found[0].path : nil
    }

    /// The meaning of a first word.
    package func summary(of word: String) -> String {
        command([word])?.summary ?? CommandTable.groups[word] ?? ""
    }
}

extension Option {
    /// Values are not shortened to the width of the terminal.
    package static let full = Option("full", "do not shorten long values")
    /// Values are replaced by their type and length.
    package static let redact = Option("redact", "show types and lengths instead of values")
}
