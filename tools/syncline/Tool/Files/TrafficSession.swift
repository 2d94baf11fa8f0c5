// The recorded traffic of one command, and reading it back from the lines of a recording.

import SynclineCore
import SynclineWire

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
