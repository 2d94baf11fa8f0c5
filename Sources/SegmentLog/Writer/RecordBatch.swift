// Records to be appended together: all of them or none. They are kept as a frame's payload wants them, each behind its
// length, so that most batches are copied once.

/// Records that are appended as one atom.
public struct RecordBatch: Sendable {
    package private(set) var wire: [UInt8] = []
    /// How many records it holds.
    public private(set) var count = 0
    private var longest = 0

    /// A batch without records.
    public init() {}

    /// A batch of one.
    public init(_ record: some Collection<UInt8>) {
        append(record)
    }

    /// Adds a record, any bytes, none included.
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

    /// Empties it, keeping its memory.
    public mutating func removeAll() {
        wire.removeAll(keepingCapacity: true)
        count = 0
        longest = 0
    }

    /// Whether it holds no record.
    public var isEmpty: Bool { count == 0 }

    /// Calls `body` with each record, in order. The bytes are valid within the call.
    package func forEach<Failure>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Void
    ) throws(Failure) {
        try wire.span.withUnsafeBytes { (bytes: UnsafeRawBufferPointer) throws(Failure) in
            var wire = RecordWire(bytes)
            while let record = wire.next() { try body(record) }
        }
    }

    /// Throws if a record or the whole is larger than the format allows.
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
        var rest = UInt64(length)
        while rest >= 0x80 {
            wire.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        wire.append(UInt8(rest))
    }
}
