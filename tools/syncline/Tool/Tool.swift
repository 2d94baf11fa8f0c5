// Runs a command line and returns an exit code. It chooses the form of the output, runs the command and prints its
// error; it knows no single command.

package struct Tool {
    private let host: Host
    private let table: CommandTable

    package init(_ host: Host, table: CommandTable = .all) {
        self.host = host
        self.table = table
    }

    /// Runs a command line.
    package func run(_ words: [String]) async -> ExitCode {
        var context = context(form: form(words), colour: colour(words))
        let exit: ExitCode
        do {
            let request = try ArgumentParser.parse(words, table)
            if case .run(let arguments) = request {
                context = self.context(form: try form(arguments), colour: arguments.value("color"))
            }
            exit = try await run(request, context)
            if context.output.hasShownNothing {
                context.narration.say(context.narration.style.paint("nothing to show", .dim))
            }
        } catch {
            exit = tell(error, context)
        }
        do {
            try context.output.flush()
        } catch {
            return tell(error, context)
        }
        // Neither yes nor no is certain if part of the log can't be read.
        return [.done, .no].contains(exit) && context.output.isIncomplete ? .partial : exit
    }

    private func run(_ request: ArgumentParser.Request, _ context: Context) async throws -> ExitCode {
        switch request {
        case .help(let path): return try HelpCommand.show(path, context)
        case .version: return try VersionCommand.show(context)
        case .run(let arguments): return try await arguments.command.run(arguments, context)
        }
    }

    private func tell(_ error: any Error, _ context: Context) -> ExitCode {
        guard let error = ToolError(error) else { return .done }
        let isPartial = context.output.isPartial
        // Earlier output comes first if both go to the same place.
        do {
            try context.output.fail(error)
            try context.output.flush()
        } catch {
            if error is ClosedPipe { return .done }
        }
        if context.output.form.isText { context.narration.fail(error) }
        return isPartial && error.exit == .failed ? .partial : error.exit
    }

    // MARK: Form

    private func form(_ arguments: Arguments) throws(ToolError) -> OutputForm {
        if let form = host.form { return form }
        return switch (arguments.flag("json"), arguments.flag("jsonl")) {
        case (true, true): throw .usage("--json and --jsonl can't be used together")
        case (true, false): .json
        case (false, true): .jsonLines
        case (false, false): host.environment.outputIsTerminal ? .human : .plain
        }
    }

    /// The form of an error of the command line, which could not be parsed.
    private func form(_ words: [String]) -> OutputForm {
        if let form = host.form { return form }
        let options = words.prefix { $0 != "--" }
        if options.contains("--json") { return .json }
        if options.contains("--jsonl") { return .jsonLines }
        return host.environment.outputIsTerminal ? .human : .plain
    }

    private func colour(_ words: [String]) -> String? {
        let prefix = "--color="
        return words.prefix { $0 != "--" }.last { $0.hasPrefix(prefix) }.map { String($0.dropFirst(prefix.count)) }
    }

    private func context(form: OutputForm, colour: String?) -> Context {
        let environment = host.environment
        func style(_ isTerminal: Bool) -> TextStyle {
            TextStyle(
                isForPeople: isTerminal, hasColour: TextStyle.colour(colour, environment, isTerminal: isTerminal),
                width: isTerminal ? environment.width : nil)
        }
        let output = Output(
            host.output, form: form, style: style(environment.outputIsTerminal),
            watched: host.watched)
        let narration = Narration(
            host.errors, style: style(environment.errorsAreTerminal), isTerminal: environment.errorsAreTerminal,
            after: output, now: host.now)
        return Context(host: host, output: output, narration: narration, table: table)
    }
}
