// The changes that a process made in one commit beside the process that has the store open for writing. They are a file, put
// in place when it is whole and durable, so that no process needs a lock or waits for another.

package import SegmentLog
package import SynclineCore
import SynclineGround

/// The name of a file with changes of a process.
package struct TributaryName: Hashable, Sendable {
    /// Higher than all that the process had seen when it made the changes: so their order is also that of cause and effect.
    package var number: UInt64
    /// The process.
    package var process: UInt64

    private static let suffix = ".changes"
}

extension TributaryName {
    /// Reads the name of a file; nil for other files.
    package init?(file name: String) {
        guard name.hasSuffix(TributaryName.suffix) else { return nil }
        self.init(name.dropLast(TributaryName.suffix.count))
    }

    /// Reads the name without its ending.
    package init?(_ text: some StringProtocol) {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let number = UInt64(parts[0], radix: 16), let process = UInt64(parts[1], radix: 16)
        else { return nil }
        self.init(number: number, process: process)
        guard self.text == text else { return nil }
    }

    /// The name without its ending.
    package var text: String { Hexadecimal.text(number, digits: 16) + "-" + processText }
    /// The process as it is shown.
    package var processText: String { Hexadecimal.text(process, digits: 16) }
    /// The path of the file in the store's directory.
    package var path: String { FileName.tributaries + "/" + text + TributaryName.suffix }
}

extension TributaryName: Comparable {
    package static func < (left: TributaryName, right: TributaryName) -> Bool {
        (left.number, left.process) < (right.number, right.process)
    }
}

/// The content of such a file.
package struct TributaryFile: Sendable {
    /// The log of the store that the changes are for.
    package var identity: LogIdentity
    /// The last event of the log that the process had read.
    package var read: UInt64
    /// The version of the app's schema that the changes are written in.
    package var schema: UInt32
    /// Events of local changes, in order.
    package var events: [[UInt8]]

    private static let magic = Array("SYNCTRB1".utf8)
}

extension TributaryFile {
    /// Its bytes: the mark of the format, the log's identity, what the process knew, the events, and a checksum of all that.
    package var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(TributaryFile.magic)
        writer.append(fixed: identity.high)
        writer.append(fixed: identity.low)
        writer.append(fixed: read)
        writer.append(fixed: UInt64(schema))
        writer.append(varint: events.count)
        for event in events { writer.append(counted: event) }
        writer.append(fixed: UInt64(writer.withView { crc32c($0) }))
        return writer.bytes
    }

    /// Reads a file; returns nil if it is gone.
    package init?(_ name: TributaryName, in storage: any LogStorage) throws(SyncError) {
        let unreadable = SyncError(
            .storeCorrupt, "changes of another process can't be read",
            hint: Hint.unreadableChanges, address: name.path)
        // A folder in the place of a file.
        if (try? storage.names(in: name.path)) != nil { throw unreadable }
        guard let bytes = try storage.read(file: name.path) else { return nil }
        do throws(MalformedBytes) {
            try self.init(reading: bytes)
        } catch {
            throw unreadable
        }
    }

    init(reading bytes: [UInt8]) throws(MalformedBytes) {
        self = try bytes.withBytes { (bytes: UnsafeRawBufferPointer) throws(MalformedBytes) in
            guard bytes.count >= 8 else { throw MalformedBytes() }
            let content = UnsafeRawBufferPointer(rebasing: bytes.dropLast(8))
            var end = ByteReader(bytes, at: content.count)
            guard try end.fixed() == UInt64(crc32c(content)) else { throw MalformedBytes() }
            var reader = ByteReader(content)
            guard try reader.take(TributaryFile.magic.count).elementsEqual(TributaryFile.magic) else {
                throw MalformedBytes()
            }
            let high = try reader.fixed()
            let identity = LogIdentity(high: high, low: try reader.fixed())
            let read = try reader.fixed()
            guard let schema = UInt32(exactly: try reader.fixed()) else { throw MalformedBytes() }
            var events: [[UInt8]] = []
            for _ in 0..<(try reader.count()) { events.append([UInt8](try reader.counted())) }
            guard reader.isAtEnd else { throw MalformedBytes() }
            return TributaryFile(identity: identity, read: read, schema: schema, events: events)
        }
    }

    /// Its transactions, each with the time at which it was made.
    func transactions() throws(SyncError) -> [(time: Int64, LocalTransaction)] {
        let shapes = ShapeTable()
        return try events.map { record throws(SyncError) -> (time: Int64, LocalTransaction) in
            let event = try record.withBytes { bytes throws(SyncError) in try Event(bytes, shapes: shapes) }
            guard case .local(let transaction) = event.body else {
                throw SyncError(.storeCorrupt, "changes of another process have an event of another kind")
            }
            return (event.time, transaction)
        }
    }

    /// Its transactions as a store with another version of the schema has them. Only the app knows the migrations between
    /// the two; without them the changes wait.
    func transactions(
        in declaration: Declaration?, _ schema: SyncSchema?
    ) throws(SyncError) -> [(time: Int64, LocalTransaction)] {
        let transactions = try transactions()
        let version = declaration?.version ?? 0
        if self.schema == version { return transactions }
        guard let schema, schema.version == version, self.schema < version else {
            throw SyncError(
                .storeNewer, "changes of another process wait in version \(self.schema) of the app's schema",
                hint: "The app takes them in when it opens the store with its schema, which has the migrations.")
        }
        let steps = schema.migrations.filter { $0.version > self.schema }.flatMap(\.steps)
        return try transactions.map { transaction throws(SyncError) in
            (transaction.time, try transaction.1.migrated(by: steps))
        }
    }
}
