// `help`, `man`, `completions` and `version`: print the table of commands in several forms.

import SegmentLog
import SynclineCore
import SynclineGround

enum HelpCommand {
    static let command = Command(
        "help", "explain a command, or list all commands",
        details: ["With --json it prints the table of commands."],
        operands: [Operand("COMMAND", "the words of the command", repeats: true)],
        examples: [Example("syncline help inspect frames", "the same as `syncline inspect frames --help`")],
        result: #"[{"name","summary","arguments":[…],"options":[…],"examples":[…],"exits":[…]}]"#
    ) { arguments, context in
        try show(arguments.operands, context)
    }

    /// Explains the command with these words, the group that they begin, or everything.
    static func show(_ path: [String], _ context: Context) throws -> ExitCode {
        let table = context.table
        if let unknown = path.indices.first(where: { !table.words(after: Array(path[..<$0])).contains(path[$0]) }) {
            let known = table.words(after: Array(path[..<unknown]))
            let guess = Suggestion.nearest(to: path[unknown], in: known).map {
                (path[..<unknown] + [$0]).joined(separator: " ")
            }
            throw ToolError.usage(
                "there is no command `\(escaped(path.joined(separator: " ")))`",
                hint: guess.map { "Did you mean `\($0)`?" } ?? "`syncline help` lists all commands.")
        }
        let commands = table.commands.filter { $0.path.starts(with: path) }
        if !context.output.form.isText {
            try context.output.beginList()
            for command in commands { try context.output.element(command.json) }
            try context.output.endList()
            return .done
        }
        let text = HelpText(table: table, style: context.output.style)
        for line in table.command(path).map(text.lines) ?? text.overview(path) { try context.output.line(line) }
        return .done
    }
}

enum ManCommand {
    static let command = Command(
        "man", "print the manual page",
        details: ["`syncline man | man -l -` shows it."], operands: [Program.operand],
        examples: [Example("syncline man > /usr/local/share/man/man1/syncline.1", "install it")]
    ) { arguments, context in
        let page = ManPage(program: context.program(arguments.operands.first))
        return try context.output.result(["man": .string(page.text)], lines: page.lines)
    }
}

enum CompletionsCommand {
    static let command = Command(
        "completions", "print completions for a shell",
        operands: [
            Operand("SHELL", "bash, zsh or fish", isRequired: true, choices: ["bash", "zsh", "fish"]), Program.operand,
        ],
        examples: [
            Example("source <(syncline completions bash)", "in ~/.bashrc"),
            Example("syncline completions fish > ~/.config/fish/completions/syncline.fish", "install them once"),
        ]
    ) { arguments, context in
        let program = context.program(arguments.operands.dropFirst().first)
        let script =
            switch arguments.operands[0] {
            case "zsh": ZshCompletion(program: program).text
            case "fish": FishCompletion(program: program).text
            default: BashCompletion(program: program).text
            }
        try context.output.value(["script": .string(script)])
        if context.output.form.isText { try context.output.raw(Array(script.utf8)) }
        return .done
    }
}

enum VersionCommand {
    static let command = Command(
        "version", "print the version", examples: [Example("syncline version --json", "for a program")],
        result: #"{"version","logFormat"}"#
    ) { _, context in
        try show(context)
    }

    static func show(_ context: Context) throws -> ExitCode {
        let format = "\(Format.major).\(Format.minor)"
        return try context.output.result(
            ["version": .string(synclineVersion), "logFormat": .string(format)],
            "syncline \(synclineVersion) (log format \(format))")
    }
}

extension Context {
    /// A program by its name; this one without a name.
    fileprivate func program(_ name: String?) -> Program {
        name == Program.server.name ? .server : .syncline(table)
    }
}

extension Command {
    /// The command as JSON.
    var json: JSONValue {
        [
            "name": .string(name),
            "summary": .string(summary),
            "arguments": .array(
                operands.map {
                    [
                        "name": .string($0.name), "summary": .string($0.summary), "required": .boolean($0.isRequired),
                        "repeats": .boolean($0.repeats), "choices": .array($0.choices.map(JSONValue.string)),
                    ]
                }),
            "options": .array(
                (options + CommandTable.common).map {
                    [
                        "name": .string("--\($0.name)"), "short": .optional($0.short.map { "-\($0)" }),
                        "value": .optional($0.value), "summary": .string($0.summary),
                        "choices": .array($0.choices.map(JSONValue.string)),
                    ]
                }),
            "examples": .array(examples.map { ["line": .string($0.line), "summary": .string($0.summary)] }),
            "result": .optional(result),
            "exits": .array(allExits.map { ["code": .number($0.code.rawValue), "meaning": .string($0.meaning)] }),
        ]
    }
}
