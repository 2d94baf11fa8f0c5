// `report`: packs what is needed to see a bug again into one file.

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

enum ReportCommand {
    static let command = Command(
        "report", "packs log, recorded traffic and versions for a bug report, values masked",
        details: [
            """
            Values are replaced by others of the same type and length, the same for the same, so that the log behaves \
            as it did; names of tables and columns, ids, versions and times of the server stay. The mask keeps casual \
            eyes out and is no encryption: look into the file before you hand it on. Headers that may be secrets were \
            never recorded.
            """,
            "`syncline config record '8 MiB'` begins to record what is said to the server; it is off by default.",
            "`syncline replay FILE` runs the sessions of a report again, without a network.",
        ],
        options: [
            Option("output", short: "o", value: "FILE", "where to write it; syncline-report.jsonl"),
            Option("to", value: "ADDRESS", "with the history up to this moment"),
            Option("no-mask", "leaves values as they are"),
        ],
        examples: [Example("syncline report -o bug.jsonl", "everything, masked")],
        result: #"{"file","events":n,"sessions":n,"exchanges":n,"masked":bool,"bytes":n}"#, run: run)

    private nonisolated(nonsending) static func run(_ arguments: Arguments, _ context: Context) async throws -> ExitCode
    {
        let path = try StoreLocation.find(arguments, context.environment).path
        let storage = POSIXStorage(directory: path)
        let last = try arguments.value("to").map { try Moment($0, storage).event } ?? EventWalk(storage).last
        let lines = TrafficRecording.read(file: Traffic.file(store: path))
        let sessions = TrafficSession.list(lines).filter { $0.through <= last }
        let key = context.clock.newIdentity()
        let masking = arguments.flag("no-mask") ? nil : Masking(key: key.high ^ key.low)
        let file = arguments.value("output") ?? "syncline-report.jsonl"
        let sink = try FileSink(file)
        defer { sink.close() }
        var size = 0
        try ReportFile.write(
            EventReading(storage, context), lines, masking, engine: engineVersion, created: context.clock.now().text,
            through: last
        ) { value in
            let line = value.json + "\n"
            size += line.utf8.count
            try sink.write(line)
        }
        try sink.flush()
        let exchanges = sessions.reduce(0) { $0 + $1.exchanges.count }
        try context.output.value([
            "file": .string(file), "events": .number(last), "sessions": .number(sessions.count),
            "exchanges": .number(exchanges), "masked": .boolean(masking != nil), "bytes": .number(size),
        ])
        try context.output.line(
            "\(escaped(file)): \(counted(last, "event")), \(counted(UInt64(sessions.count), "session")) with "
                + "\(counted(UInt64(exchanges), "exchange")), \(humanBytes(UInt64(size)))"
                + (masking == nil ? ", not masked" : ""))
        return .done
    }
}

/// A file of the user's that is made anew and that nobody else may read.
final class FileSink {
    private let descriptor: Int32
    private let sink: DescriptorSink

    init(_ path: String) throws(ToolError) {
        descriptor = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else {
            throw ToolError(LogError(StorageError(number: errno, operation: "open", name: path)))
        }
        sink = DescriptorSink(descriptor)
    }

    func write(_ text: String) throws { try sink.write(text) }
    func flush() throws { try sink.flush() }
    func close() {
        #if canImport(Darwin)
            Darwin.close(descriptor)
        #else
            Glibc.close(descriptor)
        #endif
    }

    /// A file, whole.
    static func read(_ path: String) throws(ToolError) -> [UInt8] {
        let descriptor = open(path, O_RDONLY)
        guard descriptor >= 0 else {
            throw ToolError(LogError(StorageError(number: errno, operation: "open", name: path)))
        }
        let lines = DescriptorLines(descriptor)
        var bytes: [UInt8] = []
        while let line = try lines.next() { bytes += line + [0x0a] }
        #if canImport(Darwin)
            Darwin.close(descriptor)
        #else
            Glibc.close(descriptor)
        #endif
        return bytes
    }
}
