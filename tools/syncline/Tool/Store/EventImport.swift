// Makes a store of the events that `export --format events` wrote. Each is folded onto those before it, so what is no event,
// or makes no sense where it stands, is refused; the store stands under its name when all are in it, or not at all.

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

struct EventImport {
    private let path: String
    /// The folder it is made in, beside its place.
    private let draft: String
    private let projector: Projector
    private let writer: LogWriter
    private var batch = RecordBatch()
    private var batchSize = 0

    /// Bytes that are appended at a time.
    private static let stretch = 1 << 20

    /// Whether a line holds an event, and no row.
    static func holdsEvent(_ line: Value) -> Bool { line[member: "address"] != nil && line[member: "row"] == nil }

    init(path: String) throws {
        guard try EventImport.names(in: path).isEmpty else {
            throw ToolError(
                "store-exists", "there is something in \(path) already; events make a store of their own",
                hint: "Name a new directory with --store.")
        }
        self.path = path
        draft = "\(path.trimmingSlashes).import-\(getpid())"
        projector = try Projector()
        writer = try LogWriter.open(at: draft, creating: .always)
    }

    /// How many events there are by now.
    var count: UInt64 { projector.through }

    /// Takes the next event.
    mutating func add(_ line: Value, _ number: Int) throws {
        let expected = count + 1
        guard case .string("@\(expected)")? = line[member: "address"] else {
            throw ToolError(
                "invalid-item", "line \(number): @\(expected) is missing",
                hint: "A store is made of all events, from @1 on, in their order.")
        }
        guard case .string(let text)? = line[member: "record"], let record = Base64.decode(text) else {
            throw ToolError(
                "invalid-item", "line \(number): it has no record of the event",
                hint: "`syncline export --format events` writes it, but not with --redact.")
        }
        do throws(StateError) {
            try record.span.withUnsafeBytes { bytes throws(StateError) in
                try projector.apply(bytes, number: expected)
            }
            projector.store.endCommit()
            try projector.store.settle(above: 16 << 20)
        } catch {
            let why = SyncError(error)
            throw ToolError("invalid-item", "line \(number): \(why.message)", hint: why.hint)
        }
        batch.append(record)
        batchSize += record.count
        if batchSize >= EventImport.stretch { try flush() }
    }

    private mutating func flush() throws(LogError) {
        if batch.isEmpty { return }
        try writer.append(batch, durability: .buffered)
        batch = RecordBatch()
        batchSize = 0
    }

    /// The store takes its place.
    mutating func finish() throws {
        try flush()
        try writer.close()
        guard rename(draft, path) == 0 else {
            throw ToolError(LogError(StorageError(number: errno, operation: "rename", name: path)))
        }
        try POSIXStorage(directory: path + "/..").syncDirectory("")
    }

    /// Leaves nothing behind.
    func giveUp() {
        try? writer.close()
        for name in (try? EventImport.names(in: draft)) ?? [] { unlink(draft + "/" + name) }
        rmdir(draft)
    }

    private static func names(in path: String) throws(StorageError) -> [String] {
        isDirectory(path) ? try POSIXStorage(directory: path).names(in: "") : []
    }
}

extension String {
    /// A path without what stands behind its last name.
    fileprivate var trimmingSlashes: String {
        String(reversed().drop { $0 == "/" }.reversed())
    }
}
