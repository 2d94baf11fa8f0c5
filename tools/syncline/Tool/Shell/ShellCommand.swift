// `shell`: many commands over one open store. With --json each line of the input is a request and each line of the output
// its reply; nothing else is ever written.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect

enum ShellCommand {
    static let command = Command(
        "shell", "runs many commands over one open store",
        details: [
            """
            With --json a line of the input is {"n":7,"args":["insert","todoitem","{…}"]}, and its reply \
            {"n":7,"exit":0,"result":…} or {"n":7,"exit":3,"error":{…}}. What a command would read from the input \
            travels as "input":"line\\nline\\n". What was replied to is stored, whatever happens to this process.
            """,
            """
            While a push, a pull or a sync waits for the network other lines are answered; {"n":8,"cancel":7} ends it.
            """,
            """
            Without it a line is a command as it is typed after `syncline`. At a terminal lines can be edited, earlier \
            ones come back with the arrow keys, words are completed with Tab, and `exit` ends it. Lines are kept for \
            the next session in syncline/history in $XDG_STATE_HOME (or ~/.local/state), which nobody else may read, \
            but for those that set the token or the headers and those that begin with a space.
            """,
        ],
        examples: [Example("syncline shell --json", "for a program in another language")],
        result: "a reply a line", run: run)

    private nonisolated(nonsending) static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode
    {
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
                    if !words.isEmpty { _ = await Tool(host, table: table).run(words) }
                }
            }
        } catch {
            try? await session.close()
            throw error
        }
        try await session.close()
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
            throw wrong("a request is a JSON object: \(error.message)")
        }
        guard case .object(let members) = value else { throw wrong("a request is a JSON object") }
        for member in members {
            switch (member.name, member.value) {
            case ("n", let value): number = value
            case ("cancel", let value): cancelled = value
            case ("input", .string(let text)): input = text
            case ("args", .array(let elements)):
                for element in elements {
                    guard case .string(let word) = element else { throw wrong("\"args\" are texts") }
                    words.append(word)
                }
            default: throw wrong("a request has \"n\", \"args\" and \"input\" or \"cancel\"")
            }
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

/// Words as a person types them: in quotes where they hold spaces.
enum ShellWords {
    static func split(_ line: String) -> [String] {
        var words: [String] = []
        var word: String?
        var quote: Character?
        var isEscaped = false
        for character in line {
            if isEscaped {
                word = (word ?? "") + String(character)
                isEscaped = false
            } else if character == "\\", quote != "'" {
                isEscaped = true
            } else if let open = quote {
                if character == open { quote = nil } else { word = (word ?? "") + String(character) }
            } else if character == "'" || character == "\"" {
                quote = character
                word = word ?? ""
            } else if character.isWhitespace {
                if let finished = word { words.append(finished) }
                word = nil
            } else {
                word = (word ?? "") + String(character)
            }
        }
        if let word { words.append(word) }
        return words
    }

    /// What the last word of a line may become: words of commands, and options.
    static func completions(of line: String, _ table: CommandTable) -> [String] {
        var words = split(line)
        let word = line.hasSuffix(" ") || line.isEmpty ? "" : words.popLast() ?? ""
        var path: [String] = []
        for known in words where table.words(after: path).contains(known) { path.append(known) }
        var choices = path.count == words.count ? table.words(after: path) : []
        if word.hasPrefix("-") {
            choices = ((table.command(path)?.options ?? []) + CommandTable.common).map { "--\($0.name)" }
        }
        return choices.filter { $0.hasPrefix(word) }.sorted()
    }
}
