// `replay REPORT`: makes the store of a report again, stands it where each recorded session began, and runs the session's
// command with the recorded answers in place of a server. A machine that decides as it did then asks for the same.

import SegmentLog
import Syncline
import SynclineCore
import SynclineInspect
import SynclineWire

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

enum ReportReplay {
    /// What came of a session.
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
        let report = try ReportFile(try FileSink.read(file), name: file)
        let sessions = TrafficSession.list(report.traffic).filter { $0.through <= UInt64(report.events.count) }
        for session in sessions { try session.check() }
        let projector = try Projector()
        for (index, event) in report.events.enumerated() {
            try event.span.withUnsafeBytes { bytes throws in try projector.apply(bytes, number: UInt64(index) + 1) }
        }
        var results: [Result] = []
        for session in sessions { results.append(try await replay(session, report, context)) }
        let isSame = results.allSatisfy(\.isSame)
        try context.output.value([
            "events": .number(report.events.count), "changes": projector.totals.json, "same": .boolean(isSame),
            "sessions": .array(results.map(\.json)),
        ])
        let style = context.output.style
        try context.output.line("\(counted(UInt64(report.events.count), "event")) folded")
        for result in results {
            let verdict = result.isSame ? style.paint("the same", .good) : style.paint("another outcome", .bad)
            try context.output.line(
                "@\(result.session.through)  \(escaped(result.session.words.joined(separator: " "))): \(verdict)")
            for request in result.unexpected {
                try context.output.line("  asked now and not then: \(escaped("\(request.method) \(request.path)"))")
            }
            for exchange in result.left {
                let request = exchange.request
                try context.output.line("  asked then and not now: \(escaped("\(request.method) \(request.path)"))")
            }
            if !result.isSame, let recorded = result.session.report {
                try context.output.line("  then: \(escaped(recorded.json))")
                try context.output.line("  now:  \(escaped(result.report))")
            }
        }
        return isSame ? .done : .no
    }

    private static func replay(
        _ session: TrafficSession, _ report: ReportFile, _ context: Context
    ) async throws -> Result {
        let folder = try ScratchFolder()
        try make(folder.path, report.events.prefix(Int(session.through)))
        let transport = RecordedTransport(session.exchanges)
        let output = MemorySink()
        var host = context.host
        host.session = nil
        host.form = .json
        host.output = output
        host.errors = MemorySink()
        host.transport = transport
        _ = await Tool(host, table: context.table).run(["--store", folder.path] + session.words)
        defer { withExtendedLifetime(folder) {} }
        let text = output.text.split(separator: "\n").joined()
        return Result(
            session: session, report: (try? Value(json: text.utf8).withoutWords.json) ?? text,
            unexpected: transport.unexpected,
            left: transport.left)
    }

    /// A store that holds some events.
    private static func make(_ path: String, _ events: some Sequence<[UInt8]>) throws {
        let writer = try LogWriter.open(POSIXStorage(directory: path))
        var batch = RecordBatch()
        var count = 0
        for event in events {
            batch.append(event)
            count += 1
            if count % 1000 == 0 {
                try writer.append(batch, durability: .buffered)
                batch = RecordBatch()
            }
        }
        if count % 1000 != 0 { try writer.append(batch, durability: .buffered) }
        try writer.close()
    }
}

/// A folder for a while.
final class ScratchFolder {
    let path: String

    init() throws(ToolError) {
        var template = Array((getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp").utf8CString.dropLast())
        template += Array("/syncline-replay.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else {
            let error = StorageError(number: errno, operation: "mkdtemp", name: "a temporary directory")
            throw ToolError(LogError(error))
        }
        path = template.withUnsafeBufferPointer {
            String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    deinit { ScratchFolder.remove(path) }

    private static func remove(_ path: String) {
        let storage = POSIXStorage(directory: path)
        for folder in ["", FileName.quarantine] {
            for name in (try? storage.names(in: folder)) ?? [] {
                unlink(path + "/" + (folder.isEmpty ? name : folder + "/" + name))
            }
        }
        rmdir(path + "/" + FileName.quarantine)
        rmdir(path)
    }
}
