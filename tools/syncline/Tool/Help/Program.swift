// A program as its manual page and its completions know it: the commands, and what belongs to no single one.

import SynclineServer

/// A program with a manual page and completions.
package struct Program: Sendable {
    package let table: CommandTable
    package let name: String
    /// Its purpose in one line.
    package let purpose: String
    /// Sentences with more about it.
    package let details: [String]
    /// Whether it does something without a command.
    package let runsAlone: Bool
    /// Options that every command takes.
    package let options: [Option]
    package let exits: [Exit]
    package let environment: [(name: String, meaning: String)]
    package let files: [(name: String, meaning: String)]

    package static func syncline(_ table: CommandTable) -> Program {
        Program(
            table: table, name: "syncline", purpose: "inspect, verify and use a Syncline store",
            details: [
                "Data is written to standard output, everything else to standard error.",
                "On a terminal the output is formatted for people. In a pipe it is plain text, and with --json one JSON value.",
                "Read-only commands never change the store (they may hold a lease file while reading), work while another"
                    + " program has it open, and show as much as they can of a damaged store.",
            ],
            runsAlone: false, options: CommandTable.common, exits: CommandTable.exits,
            environment: Documents.environment, files: Documents.files)
    }

    package static let server = Program(
        table: CommandTable([
            // The server parses its arguments itself.
            .init(
                "look at a server",
                [
                    Command(ServerArguments.check.word, ServerArguments.check.summary, run: none),
                    Command(
                        ServerArguments.report.word, ServerArguments.report.summary,
                        options: ServerArguments.report.flags.map(option), run: none),
                    Command(
                        ServerArguments.load.word, ServerArguments.load.summary,
                        operands: [
                            Operand(
                                ServerArguments.load.operand.name, ServerArguments.load.operand.summary,
                                isRequired: true)
                        ],
                        options: ServerArguments.load.flags.map(option), run: none),
                ])
        ]),
        name: "syncline-server", purpose: ServerArguments.purpose,
        details: [
            "The rows are in an SQLite file or a PostgreSQL database.",
            "When the server accepts requests, it prints its address as one line of JSON to standard output.",
            "On SIGTERM it answers the running requests and stops. On SIGHUP it reads keys and certificates again.",
        ],
        runsAlone: true,
        options: ServerArguments.flags.map(option),
        exits: ServerArguments.exits.compactMap { exit in ExitCode(rawValue: exit.code).map { Exit($0, exit.meaning) }
        },
        environment: [("NOTIFY_SOCKET", "where systemd is told that the server is ready, and that it stops")],
        files: [("syncline.db", "the rows, unless --store or --config says something else")])

    private static func option(_ flag: ServerArguments.Flag) -> Option {
        Option(flag.name, value: flag.value, choices: flag.choices, flag.summary)
    }

    private static func none(_ arguments: Arguments, _ context: Context) async throws
        -> ExitCode
    {
        preconditionFailure("the tool can't run a command of the server")
    }

    /// The argument that names one of them.
    static let operand = Operand(
        "PROGRAM", "the program (default: syncline)", choices: ["syncline", server.name])
}
