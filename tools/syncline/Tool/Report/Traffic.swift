// Recorded traffic: its file, the commands it belongs to, and reading it back as sessions.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect
import SynclineWire

enum Traffic {
    /// The file next to the log.
    static func file(store directory: String) -> String { directory + "/traffic.jsonl" }

    /// The recording of a store; nil if recording is off.
    static func recording(store directory: String) throws -> TrafficRecording? {
        guard
            case .string(let text)? = try StoreSecrets(store: directory).read().first(where: { $0.name == "record" })?
                .value,
            let limit = limit(text)
        else { return nil }
        return TrafficRecording(file: file(store: directory), limit: .bytes(limit))
    }

    /// `8 MiB` in bytes; nil for anything else, and for `off`.
    static func limit(_ text: String) -> UInt64? {
        let words = text.split(separator: " ")
        guard let number = words.first.flatMap({ UInt64($0) }), number > 0, words.count == 2 else { return nil }
        switch words[1] {
        case "KiB": return number << 10
        case "MiB": return number <= 1024 ? number << 20 : nil
        default: return nil
        }
    }
}

/// A command that talked to the server, and its traffic.
struct TrafficSession {
    /// The words of the command, without the store.
    var words: [String]
    /// The last event before it began.
    var through: UInt64
    /// What the server supported, as it had said before.
    var knownOfServer: ServerCapabilities = []
    var exchanges: [RecordedExchange] = []
    /// Its report; nil if it did not end.
    var report: Value?

    /// The sessions in the lines of a recording. A session whose beginning is missing is left out.
    static func list(_ lines: [Value]) -> [TrafficSession] {
        var sessions: [TrafficSession] = []
        var isOpen = false
        for line in lines {
            if case .array(let words)? = line[member: "command"], case .integer(let through)? = line[member: "through"]
            {
                let texts = words.compactMap { if case .string(let text) = $0 { text } else { nil } }
                var session = TrafficSession(words: texts, through: UInt64(max(0, through)))
                if case .string(let words)? = line[member: "server"] {
                    session.knownOfServer = ServerCapabilities(words: words)
                }
                sessions.append(session)
                isOpen = true
            } else if let report = line[member: "report"] {
                if isOpen { sessions[sessions.count - 1].report = report }
                isOpen = false
            } else if isOpen, let exchange = RecordedExchange(line) {
                sessions[sessions.count - 1].exchanges.append(exchange)
            }
        }
        return sessions
    }

    /// The lines of a session in a recording.
    var lines: [Value] {
        [head] + exchanges.map(\.value) + (report.map { [.object([.init("report", $0)])] } ?? [])
    }

    /// Its first line.
    var head: Value {
        .object([
            .init("command", .array(words.map { .string($0) })), .init("through", .integer(Int64(through))),
            .init("server", .string(knownOfServer.words)),
        ])
    }
}

extension Value {
    /// A command's report without messages: they may be the server's, and are not part of the outcome.
    var withoutWords: Value {
        switch self {
        case .array(let elements): .array(elements.map(\.withoutWords))
        case .object(let members):
            .object(
                members.filter { !["message", "warnings", "address"].contains($0.name) }
                    .map { .init($0.name, $0.value.withoutWords) })
        default: self
        }
    }
}

extension TrafficSession {
    /// Throws unless the words are what `recorded` writes: a push, a pull or a sync with options of its own, operands
    /// after `--`. A report may come from anywhere, so its words must reach no other command and no other store.
    func check() throws(ToolError) {
        guard
            let command = [SyncCommands.push, SyncCommands.pull, SyncCommands.sync].first(where: {
                $0.path == Array(words.prefix(1))
            })
        else { throw refused(words.first ?? "nothing") }
        var rest = words.dropFirst()
        while let word = rest.popFirst(), word != "--" {
            guard word != "--watch", let option = command.options.first(where: { word == "--\($0.name)" }),
                option.value == nil || rest.popFirst() != nil
            else { throw refused(word) }
        }
    }

    private func refused(_ word: String) -> ToolError {
        ToolError(
            "invalid-item", "the report asks to run `\(escaped(word))`",
            hint: "Only push, pull and sync are run again. Do not trust this file.")
    }
}

extension Context {
    /// Runs a command that talks to the server, and adds the command and its result to the recording.
    func recorded<Report: Sendable>(
        _ arguments: Arguments, _ database: SyncDatabase, _ json: (Report) -> JSONValue,
        _ body: () async throws -> Report
    ) async throws -> Report {
        // A store that was opened before recording was turned on records nothing.
        guard let recording = database.recording else { return try await body() }
        var session = TrafficSession(words: arguments.words, through: database.lastEvent)
        session.knownOfServer = database.knownOfServer
        recording.note(session.head)
        let report = try await body()
        if let value = try? Value(json: json(report).text.utf8) { recording.note(.object([.init("report", value)])) }
        return report
    }
}
