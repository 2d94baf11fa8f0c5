// `replay REPORT`: creates the store of a report again, moves it to the start of each recorded session, and runs the
// session's command with the recorded responses instead of a server. The same decisions make the same requests.

import SegmentLog
import Syncline
import SynclineWire

enum ReportReplay {
    /// The result of a session.
    private struct Result {
        var session: TrafficSession
        var report: String
        var unexpected: [HTTPRequest]
        var left: [RecordedExchange]

        var isSame: Bool {
            unexpected.isEmpty && left.isEmpty && (session.report.map { $0.withoutWords.json == report } ?? true)
        }

        var json: JSONValue {
            [
                "command": .array(session.words.map(JSONValue.string)), "through": .string("@\(session.through)"),
                "exchanges": .number(session.exchanges.count), "same": .boolean(isSame),
                "unexpected": .array(unexpected.map { .string("\($0.method) \($0.path)") }),
                "missing": .array(left.map { .string("\($0.request.method) \($0.request.path)") }),
                "report": .string(report), "recorded": .optional(session.report?.json),
            ]
        }
    }

    static func run(_ file: String, _ context: Context) async throws -> ExitCode {
        let report = try context.report(file)
        let storage = POSIXStorage(directory: report.store)
        let start = try StateLoader(storage).earliest()
        let end = try StateLoader(storage).load()
        let sessions = report.sessions.filter { $0.through >= start.through && $0.through <= end.through }
        for session in sessions { try session.check() }
        let count = end.through - start.through
        var results: [Result] = []
        for session in sessions { results.append(try await replay(session, storage, context)) }
        let isSame = results.allSatisfy(\.isSame)
        try context.output.value([
            "events": .number(count), "changes": end.totals.json, "same": .boolean(isSame),
            "sessions": .array(results.map(\.json)),
        ])
        let style = context.output.style
        try context.output.line("\(counted(count, "event")) replayed")
        for result in results {
            let verdict = result.isSame ? style.paint("the same", .good) : style.paint("a different outcome", .bad)
            try context.output.line(
                "@\(result.session.through)  \(escaped(result.session.words.joined(separator: " "))): \(verdict)")
            for request in result.unexpected {
                try context.output.line("  requested now but not then: \(escaped("\(request.method) \(request.path)"))")
            }
            for exchange in result.left {
                let request = exchange.request
                try context.output.line("  requested then but not now: \(escaped("\(request.method) \(request.path)"))")
            }
            if !result.isSame, let recorded = result.session.report {
                try context.output.line("  then: \(escaped(recorded.json))")
                try context.output.line("  now:  \(escaped(result.report))")
            }
        }
        return isSame ? .done : .no
    }

    private static func replay(
        _ session: TrafficSession, _ storage: POSIXStorage, _ context: Context
    ) async throws -> Result {
        let folder = try ScratchFolder()
        let store = folder.path + "/store"
        try ReportReplay.copy(storage, through: session.through, to: POSIXStorage(directory: store))
        let transport = RecordedTransport(session.exchanges)
        let output = MemorySink()
        var host = context.host
        host.session = nil
        host.form = .json
        host.output = output
        host.errors = MemorySink()
        host.transport = transport
        host.knownOfServer = session.knownOfServer
        _ = await Tool(host, table: context.table).run(["--store", store] + session.words)
        defer { withExtendedLifetime(folder) {} }
        let text = output.text.split(separator: "\n").joined()
        return Result(
            session: session, report: (try? Value(json: text.utf8).withoutWords.json) ?? text,
            unexpected: transport.unexpected,
            left: transport.left)
    }

    /// A store as of an event of another store.
    private static func copy(_ storage: POSIXStorage, through last: UInt64, to fresh: POSIXStorage) throws {
        let start = try StateLoader(storage).earliest()
        let writer =
            start.through == 0 ? try LogWriter.open(fresh) : try StateTransfer.begin(fresh, with: start)
        var batch = RecordBatch()
        try LogInspection(storage).forEachRecord(from: start.through + 1) { number, record in
            if number > last { return false }
            batch.append(record)
            if batch.count % 1000 == 0 {
                try writer.append(batch, durability: .buffered)
                batch = RecordBatch()
            }
            return true
        }
        if !batch.isEmpty { try writer.append(batch, durability: .buffered) }
        try writer.close()
    }
}
