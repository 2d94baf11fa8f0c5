// Records to be appended atomically. They are kept as in a frame's payload, each preceded by its length, so that
// most batches are copied once.

import SynclineGround

/// Records that are appended atomically.
public struct RecordBatch: Sendable {
    package private(set) var wire: [UInt8] = []
    /// The number of records.
    public private(set) var count = 0
    private var longest = 0

    /// Creates an empty batch.
    public init() {}

    /// Creates a batch of one record.
    public init(_ record: some Collection<UInt8>) {
        append(record)
    }

    /// Adds a record, which may be empty.
    public mutating func append(_ record: some Collection<UInt8>) {
        appendLength(record.count)
        wire.append(contentsOf: record)
        count += 1
    }

    /// Adds a record from raw memory.
    public mutating func append(_ record: UnsafeRawBufferPointer) {
        appendLength(record.count)
        wire.append(contentsOf: record)
        count += 1
    }

    /// Removes all records, keeping the memory.
    public mutating func removeAll() {
        wire.removeAll(keepingCapacity: true)
        count = 0
        longest = 0
    }

    /// Whether the batch is empty.
    public var isEmpty: Bool { count == 0 }

    /// Calls `body` with each record, in order. The bytes are valid only during the call.
    package func forEach<Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try wire.withBytes { (bytes: UnsafeRawBufferPointer) throws(Failure) in
            var wire = RecordWire(bytes)
            while let record = wire.next() { try body(record) }
        }
    }

    /// Throws if a record or the whole batch is larger than the format allows.
    package func checkLimits() throws(LogError) {
        guard longest <= Format.recordLimit else {
            throw LogError(
                .invalidArgument, "a record of \(longest) bytes is larger than \(Format.recordLimit)",
                hint: "Split it into several records of one batch.")
        }
        guard wire.count <= 4 * Format.recordLimit else {
            throw LogError(
                .invalidArgument, "a batch of \(wire.count) bytes is larger than \(4 * Format.recordLimit)",
                hint: "Append it in several batches.")
        }
    }

    private mutating func appendLength(_ length: Int) {
        longest = max(longest, length)
        forEachVarintByte(of: UInt64(length)) { wire.append($0) }
    }
}
