// Recording what a command says to the server.

import Syncline
import SynclineWire

extension Context {
    /// Runs a command that talks to the server, and adds the command and its result to the recording.
    func recorded<Report: Sendable>(
        _ arguments: Arguments, _ database: SyncDatabase, _ json: (Report) -> JSONValue,
        _ body: () async throws -> Report
    ) async throws -> Report {
        // A store that was opened before recording was turned on records nothing.
        guard let recording = database.recording else { return try await body() }
        var session = TrafficSession(words: arguments.words, through: database.lastEvent.rawValue)
        session.knownOfServer = database.knownOfServer
        recording.note(session.head)
        let report = try await body()
        if let value = try? Value(json: json(report).text.utf8) { recording.note(.object([.init("report", value)])) }
        return report
    }
}
