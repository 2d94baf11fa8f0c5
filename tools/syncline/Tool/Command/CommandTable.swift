// The one table. What is not here does not exist; what is here is parsed, documented and completed.

/// The commands, and what they share.
package struct CommandTable: Sendable {
    package var commands: [Command]

    package init(_ commands: [Command]) {
        self.commands = commands
    }

    /// The tool's commands, in the order of the help.
    package static let all = CommandTable([
        InitCommand.command, ConfigCommand.command,
        ChangeCommands.insert, ChangeCommands.update, ChangeCommands.delete, ChangeCommands.transaction,
        ReadCommands.get, ReadCommands.query, ReadCommands.pending, ReadCommands.cursors, ReadCommands.purge,
        DropCommand.command, ChangeCommands.undo,
        SyncCommands.push, SyncCommands.pull, SyncCommands.sync, ResyncCommand.command,
        ConflictCommands.conflicts, ConflictCommands.resolve,
        LogCommands.log, LogCommands.tail, LogCommands.show, DiffCommand.command, BlameCommand.command,
        ReplayCommand.command,
        ExchangeCommands.export, ExchangeCommands.import, StatsCommand.command, ReportCommand.command,
        StudioCommand.command,
        ScenarioCommand.command, ShellCommand.command,
        InspectCommand.summary, InspectCommand.sameSummary, InspectCommand.segments, InspectCommand.frames,
        InspectStoreCommands.events,
        InspectStoreCommands.tables, InspectStoreCommands.indexes, InspectStoreCommands.outbox,
        InspectStoreCommands.operations, InspectCommand.checkpoints,
        VerifyCommand.command, RepairCommand.command, CompactCommands.compact, CompactCommands.checkpoint,
        EraseCommand.command,
        RawAppendCommand.command, RawCatCommand.command,
        BenchLogCommand.command, BenchSyncCommand.command, BenchHistoryCommand.command,
        HelpCommand.command, ManCommand.command, CompletionsCommand.command, VersionCommand.command,
    ])

    /// What the words that only begin commands stand for.
    package static let groups: [String: String] = [
        "raw": "records as bytes, without tables",
        "bench": "measurements",
    ]

    /// Options that every command takes.
    package static let common: [Option] = [
        Option(
            "store", short: "s", value: "DIR", takesDirectory: true,
            "the store; else $SYNCLINE_STORE, else the nearest .syncline folder upwards"),
        Option("json", "prints one JSON value"),
        Option("jsonl", "prints JSON, an element of a list a line"),
        Option("color", value: "WHEN", choices: ["auto", "always", "never"], "when to use colour; auto"),
        Option("help", short: "h", "explains the command"),
        Option("version", "prints the version"),
    ]

    /// What exit codes mean where a command says nothing else.
    package static let exits: [Exit] = [
        Exit(.done, "yes, or done"),
        Exit(.no, "the answer is no: a difference, damage, something left over"),
        Exit(.usage, "the command line is wrong"),
        Exit(.failed, "it could not be done: no store, locked, refused"),
        Exit(.partial, "some of what was asked for could not be shown"),
        Exit(.internalError, "a defect of the tool"),
    ]

    /// The command of exactly these words.
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

    /// The one command that ends with a word, for those who left out what goes before.
    func command(endingWith word: String, after path: [String]) -> [String]? {
        let found = commands.filter { $0.path.count > path.count && $0.path.starts(with: path) && $0.path.last == word }
        return found.count == 1 ? found[0].path : nil
    }

    /// What a first word stands for.
    package func summary(of word: String) -> String {
        command([word])?.summary ?? CommandTable.groups[word] ?? ""
    }
}

extension Option {
    /// Values are not cut to the width of the terminal.
    package static let full = Option("full", "shows long values whole on a terminal, too")
    /// Values are replaced by what they are.
    package static let redact = Option("redact", "shows type and length in place of each value")
}
