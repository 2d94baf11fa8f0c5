// `shell`: runs many commands on one open store. With --json each line of input is a request and each line of output
// its reply; nothing else is ever written.

import SynclineCore

enum ShellCommand {
    static let command = Command(
        "shell", "run many commands on one open store",
        details: [
            """
            With --json each line of the input is a request: {"n":7,"args":["insert","todoitem","{…}"]}. Its reply \
            is {"n":7,"exit":0,"result":…} or {"n":7,"exit":3,"error":{…}}. Input for the command is passed as \
            "input":"line\\nline\\n". A change is stored before its reply is written. A result of more \
            than 256 MiB is the error result-too-large.
            """,
            """
            While a push, a pull or a sync waits for the network, other requests are answered; {"n":8,"cancel":7} \
            cancels it. Requests that follow a `sql` or a `mirror` wait until it ends or is cancelled. A command that \
            has no end, such as `tail -f`, is refused.
            """,
            """
            Without --json each line is a command without `syncline`. A terminal edits lines, recalls \
            earlier ones and completes words; `exit` ends it. Lines are kept in \
            syncline/history, which only your user can read, except for those that set the token or the headers, or \
            start with a space.
            """,
        ],
        examples: [Example("syncline shell --json", "serve a program in another language")],
        result: "one reply per line", run: run)

    private static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode {
        let session = StoreSession(clock: context.clock)
        var host = context.host
        host.session = session
        if let path = arguments.value("store") { host.environment.variables["SYNCLINE_STORE"] = path }
        let isMachine = !context.output.form.isText
        do {
            if isMachine {
                try await MachineShell(host, context.output).run()
            } else {
                let table = context.table
                let lines = LineReader(context, history: "history") { ShellWords.completions(of: $0, table) }
                while let line = try lines.next("syncline> ") {
                    let words = ShellWords.split(line)
                    if words == ["exit"] || words == ["quit"] { break }
                    if words.isEmpty { continue }
                    _ = await Tool(host, table: table).run(words)
                    host.interrupt.stopListening()
                }
            }
        } catch {
            _ = try? await session.close()
            throw error
        }
        if let failure = try await session.close() { context.narration.warnOfClosing(failure.message) }
        return .done
    }
}

/// A line of the input.
struct ShellRequest: Sendable {
    var number: Value = .null
    var words: [String] = []
    var input = ""
    var cancelled: Value?

    init(_ line: [UInt8]) throws(ToolError) {
        func wrong(_ what: String) -> ToolError {
            .usage(what, hint: #"Write {"n":1,"args":["query","todoitem"]}."#)
        }
        let value: Value
        do throws(ToolError) { value = try Value.item(line) } catch {
            throw wrong("a request must be a JSON object: \(error.message)")
        }
        guard case .object(let members) = value else { throw wrong("a request must be a JSON object") }
        for member in members {
            switch (member.name, member.value) {
            case ("n", let value): number = value
            case ("cancel", let value): cancelled = value
            case ("input", .string(let text)): input = text
            case ("args", .array(let elements)):
                for element in elements {
                    guard case .string(let word) = element else { throw wrong("\"args\" must be strings") }
                    words.append(word)
                }
            default: throw wrong("a request must have \"n\", and \"args\" and \"input\" or \"cancel\"")
            }
        }
    }

    /// What a request to cancel it names.
    var key: String { JSONValue(number).text }

    /// How a request is answered.
    enum Turn {
        /// In its order, before the next line is read.
        case alone
        /// In its order, while lines are read that may cancel it.
        case cancellable
        /// In the background, because it waits for the network.
        case background
        case refused(ToolError)
    }

    /// A command line that is wrong is answered like any other.
    var turn: Turn {
        guard case .run(let arguments)? = try? ArgumentParser.parse(words) else { return .alone }
        let command = arguments.command
        if let option = command.options.first(where: { $0.isEndless && arguments.has($0.name) }) {
            return .refused(
                .usage(
                    "`\(command.name) --\(option.name)` has no end, so it can't run inside the shell",
                    hint: "Leave --\(option.name) out, or run the command outside the shell."))
        }
        switch command.name {
        case "shell", "mcp", "studio": return .refused(.usage("`\(command.name)` can't run inside the shell"))
        case "push", "pull", "sync": return .background
        case "sql", "mirror": return .cancellable
        default: return .alone
        }
    }
}

/// A line of the output.
struct ShellReply: Sendable {
    var number: Value
    var exit: ExitCode
    /// The JSON the command wrote.
    var output: String

    var text: String {
        let head = "{\"n\":\(JSONValue(number).text),\"exit\":\(exit.rawValue),"
        var body = output.filter { $0 != "\n" }
        if body.isEmpty { body = "null" }
        let error = "{\"error\":"
        return body.hasPrefix(error) ? head + body.dropFirst() : head + "\"result\":" + body + "}"
    }
}

extension ShellReply {
    /// The reply to a request that is not run.
    init(_ request: ShellRequest, _ error: ToolError) {
        self.init(number: request.number, exit: error.exit, output: error.json.text)
    }
}
