// Creates a store from the output of `export --format events`, including the state before the events if it comes first.
// Each event is applied to the ones before it, so an invalid event is refused. The store gets its name only after all
// events are in it.

import CLibrary
import SegmentLog
import Syncline
import SynclineGround

struct EventImport {
    /// The folder of the draft.
    private let draft: StoreDraft
    /// The state so far, and the log, which is created when its start is known.
    private var target: (projector: Projector, writer: LogWriter)?
    /// The initial state of the log, while its entries are read.
    private var beginning: Beginning?
    private var batch = RecordBatch()
    private var batchSize = 0

    private struct Beginning {
        var through: UInt64
        var totals: ChangeCounts
        var digest: String
        let store = StateStore()
    }

    /// The number of bytes appended at a time.
    private static let stretch = 1 << 20

    /// Whether a line holds an event, or a part of the state before the events, rather than a row.
    static func holdsEvent(_ line: Value) -> Bool { line[member: "address"] != nil && line[member: "row"] == nil }

    init(path: String) throws {
        draft = try StoreDraft(of: path) {
            ToolError(
                "store-exists", "\(path) is not empty; events are imported into a new store",
                hint: "Name a new directory with --store.")
        }
    }

    /// The events read so far; nil before the first.
    var events: ClosedRange<UInt64>? {
        guard let target, let first, target.projector.through >= first else { return nil }
        return first...target.projector.through
    }

    /// The first event of the log.
    private(set) var first: UInt64?

    /// Reads the next line: an event, or a part of the state before the first.
    mutating func add(_ line: Value, _ number: Int) throws {
        if let state = line[member: "state"] { return try begin(state, line, number) }
        if let entries = line[member: "entries"] { return try add(entries: entries, number) }
        if target == nil { try makeLog(number) }
        guard let target else { return }
        let expected = target.projector.through + 1
        guard case .string("@\(expected)")? = line[member: "address"] else {
            throw ToolError(
                "invalid-item", "line \(number): @\(expected) is missing",
                hint: "Import all events of an export, in their order.")
        }
        let record = try EventImport.bytes(line[member: "record"], number, "the event has no `record`")
        do throws(SyncError) {
            try record.withBytes { bytes throws(SyncError) in
                try target.projector.apply(bytes, number: expected)
            }
            target.projector.store.endCommit()
            try target.projector.store.settle(above: 16 << 20)
        } catch {
            throw ToolError("invalid-item", "line \(number): \(error.message)", hint: error.hint)
        }
        batch.append(record)
        batchSize += record.count
        if batchSize >= EventImport.stretch { try flush() }
    }

    private static func bytes(_ value: Value?, _ number: Int, _ complaint: String) throws -> [UInt8] {
        guard case .string(let text)? = value, let bytes = Base64.decode(text) else {
            throw ToolError(
                "invalid-item", "line \(number): \(complaint)",
                hint: "Export the store with `syncline export --format events`, without --redact.")
        }
        return bytes
    }

    // MARK: The beginning

    private mutating func begin(_ state: Value, _ line: Value, _ number: Int) throws {
        guard target == nil, beginning == nil, case .string(let address)? = line[member: "address"],
            let through = UInt64(address.dropFirst()), case .string(let digest)? = state[member: "digest"],
            let totals = ChangeCounts(state[member: "changes"])
        else { throw ToolError("invalid-item", "line \(number): this is not the beginning of a state") }
        guard state[member: "fold"] == .integer(Int64(Projector.version)) else {
            throw ToolError(
                "invalid-item", "line \(number): the state was exported by a version with another format",
                hint: "Import it with that version, or pull the rows into a new store.")
        }
        beginning = Beginning(through: through, totals: totals, digest: digest)
    }

    private mutating func add(entries: Value, _ number: Int) throws {
        guard let beginning, target == nil else {
            throw ToolError("invalid-item", "line \(number): the entries of a state must come before the first event")
        }
        let piece = try EventImport.bytes(entries, number, "the line has no `entries` of the state")
        try StateTransfer.add(piece, to: beginning.store)
    }

    /// Creates the log after everything before its events is known.
    private mutating func makeLog(_ number: Int) throws {
        let storage = draft.storage
        guard let beginning else {
            first = 1
            target = (try Projector(), try LogWriter.open(storage, creating: .always))
            return
        }
        guard beginning.store.digest.description == beginning.digest else {
            throw ToolError(
                "invalid-item", "line \(number): entries of the state before the first event are missing or changed",
                hint: "Export the store again.")
        }
        let projector = try Projector(store: beginning.store, through: beginning.through, totals: beginning.totals)
        first = beginning.through + 1
        target = (projector, try StateTransfer.begin(storage, with: projector))
        self.beginning = nil
    }

    // MARK: The end

    private mutating func flush() throws(LogError) {
        if batch.isEmpty { return }
        try target?.writer.append(batch, durability: .buffered)
        batch = RecordBatch()
        batchSize = 0
    }

    /// Gives the store its name.
    mutating func finish(_ number: Int) throws {
        if target == nil { try makeLog(number) }
        try flush()
        try target?.writer.close()
        try draft.putInPlace()
    }

    /// Removes the draft.
    func giveUp() {
        try? target?.writer.close()
        draft.remove()
    }
}

extension ChangeCounts {
    /// The counts of an export; nil for anything else.
    fileprivate init?(_ value: Value?) {
        guard let value else { return nil }
        self.init()
        for (name, count) in [
            ("made", \ChangeCounts.made), ("done", \.done), ("superseded", \.superseded), ("cancelled", \.cancelled),
            ("resolved", \.resolved),
        ] {
            guard case .integer(let number)? = value[member: name], number >= 0 else { return nil }
            self[keyPath: count] = UInt64(number)
        }
    }
}
