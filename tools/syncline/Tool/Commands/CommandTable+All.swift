// All commands of the tool, by task.

extension CommandTable {
    /// The tool's commands, in the order of the help.
    package static let all = CommandTable([
        Section(
            "create, change and read a store",
            [
                InitCommand.command, ConfigCommand.command,
                ChangeCommands.insert, ChangeCommands.update, ChangeCommands.delete, ChangeCommands.transaction,
                ReadCommands.get, ReadCommands.query, SQLCommand.command,
                ExchangeCommands.export, ExchangeCommands.import, MirrorCommand.command,
            ]),
        Section(
            "sync with a server",
            [
                SyncCommands.push, SyncCommands.pull, SyncCommands.sync, ResyncCommand.command,
                PendingCommand.command, ReadCommands.cursors,
                ConflictCommands.conflicts, ConflictCommands.resolve,
                DropCommand.command, HoldCommands.hold, HoldCommands.release, ChangeCommands.undo, ChangeCommands.redo,
                ReadCommands.purge,
            ]),
        Section(
            "inspect a store",
            [
                StatusCommand.command, TopCommand.command, SearchCommand.command, LogCommands.log, LogCommands.tail,
                LogCommands.show,
                InspectCommand.summary, InspectCommand.sameSummary, InspectCommand.segments, InspectCommand.frames,
                InspectCommand.frame,
                InspectStoreCommands.events, InspectStoreCommands.tables, InspectStoreCommands.indexes,
                InspectStoreCommands.unreadable, InspectStoreCommands.outbox, InspectStoreCommands.operations,
                InspectCommand.checkpoints,
                StatsCommand.command, StudioCommand.command,
            ]),
        Section(
            "explore the past",
            [DiffCommand.command, BlameCommand.command, WhyCommand.command, ReplayCommand.command]),
        Section(
            "try changes out on a branch",
            [
                BranchCommands.create, BranchCommands.list, BranchCommands.diff, BranchCommands.plan,
                BranchCommands.land, BranchCommands.drop,
            ]),
        Section(
            "check, repair and clean up",
            [
                VerifyCommand.command, RepairCommand.command, CompactCommands.compact, CompactCommands.checkpoint,
                EraseCommand.command, ReportCommand.command,
            ]),
        Section(
            "test and measure",
            [
                ScenarioCommand.command, BenchSyncCommand.command,
                BenchHistoryCommand.command, RawAppendCommand.command, RawCatCommand.command,
            ]),
        Section(
            "use the tool",
            [
                ShellCommand.command, MCPCommand.command, HelpCommand.command, ManCommand.command,
                CompletionsCommand.command, VersionCommand.command,
            ]),
    ])
}
