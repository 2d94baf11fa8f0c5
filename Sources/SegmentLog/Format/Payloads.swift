// The payloads of control frames. Each payload decodes to exactly the value that encodes to it; anything else is
// rejected.

import SynclineGround

/// Records that a writer opened the log: its epoch, and what recovery truncated before.
package struct SessionPayload: Hashable, Sendable {
    package var epoch: UInt32
    package var time: WallTime
    /// Where a tail was truncated, and how many bytes it had; nil if nothing was.
    package var cut: LogPosition?
    package var cutLength: UInt64 = 0

    package init(epoch: UInt32, time: WallTime, cut: LogPosition? = nil, cutLength: UInt64 = 0) {
        self.epoch = epoch
        self.time = time
        self.cut = cut
        self.cutLength = cutLength
    }

    static let length = 40

    package func encode(into buffer: ByteBuffer) {
        buffer.append(epoch)
        buffer.append(UInt32(0))
        buffer.append(time.rawValue)
        buffer.append(cut?.segment ?? 0)
        buffer.append(cut?.offset ?? 0)
        buffer.append(cutLength)
    }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == SessionPayload.length, bytes.number(UInt32.self, at: 4) == 0 else { return nil }
        let segment: UInt64 = bytes.number(at: 16)
        let offset: UInt64 = bytes.number(at: 24)
        let length: UInt64 = bytes.number(at: 32)
        guard segment != 0 || (offset == 0 && length == 0) else { return nil }
        self.init(
            epoch: bytes.number(at: 0), time: WallTime(rawValue: bytes.number(at: 8)),
            cut: segment == 0 ? nil : LogPosition(segment: segment, offset: offset), cutLength: length)
    }
}

/// The end of a sealed file. It has a fixed size, so that it can be read from the end of the file.
package struct SealPayload: Hashable, Sendable {
    package var indexOffset: UInt64
    package var lastSequence: SequenceNumber
    package var recordCount: UInt64
    package var firstTime: WallTime
    package var lastTime: WallTime

    static let length = 40

    package init(
        indexOffset: UInt64, lastSequence: SequenceNumber, recordCount: UInt64, firstTime: WallTime,
        lastTime: WallTime
    ) {
        self.indexOffset = indexOffset
        self.lastSequence = lastSequence
        self.recordCount = recordCount
        self.firstTime = firstTime
        self.lastTime = lastTime
    }

    package func encode(into buffer: ByteBuffer) {
        buffer.append(indexOffset)
        buffer.append(lastSequence.rawValue)
        buffer.append(recordCount)
        buffer.append(firstTime.rawValue)
        buffer.append(lastTime.rawValue)
    }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        guard bytes.count == SealPayload.length else { return nil }
        self.init(
            indexOffset: bytes.number(at: 0), lastSequence: SequenceNumber(rawValue: bytes.number(at: 8)),
            recordCount: bytes.number(at: 16), firstTime: WallTime(rawValue: bytes.number(at: 24)),
            lastTime: WallTime(rawValue: bytes.number(at: 32)))
    }
}

/// A position at which reading a sealed segment can start: a data frame, its first record and its time.
package struct IndexEntry: Hashable, Sendable {
    package var offset: UInt64
    package var sequence: SequenceNumber
    package var time: WallTime
}

/// Bytes that the log's user associates with a point of the log, such as a digest of its state.
public struct LogNote: Hashable, Sendable {
    /// The last record that the note covers.
    public var through: SequenceNumber
    /// At most 65,536 bytes, which the log does not interpret.
    public var bytes: [UInt8]

    /// Creates a note.
    public init(through: SequenceNumber, bytes: [UInt8]) {
        self.through = through
        self.bytes = bytes
    }
}

/// The footer of a sealed file: a sparse index, a checksum over all headers, and the user's note.
package struct IndexPayload: Hashable, Sendable {
    /// The number of frames before the index.
    package var frameCount: UInt64
    /// The CRC32C of the header checksums of those frames, in order.
    package var headerSum: UInt32
    package var entries: [IndexEntry]
    package var note: LogNote?

    package init(frameCount: UInt64, headerSum: UInt32, entries: [IndexEntry], note: LogNote?) {
        self.frameCount = frameCount
        self.headerSum = headerSum
        self.entries = entries
        self.note = note
    }

    package func encode(into buffer: ByteBuffer) {
        buffer.append(headerSum)
        buffer.append(varint: frameCount)
        buffer.append(varint: UInt64(entries.count))
        var last = IndexEntry(offset: 0, sequence: .none, time: WallTime(rawValue: 0))
        for entry in entries {
            buffer.append(varint: entry.offset &- last.offset)
            buffer.append(varint: entry.sequence.rawValue &- last.sequence.rawValue)
            buffer.append(varint: UInt64(bitPattern: entry.time.rawValue &- last.time.rawValue))
            last = entry
        }
        buffer.append(UInt8(note == nil ? 0 : 1))
        if let note {
            buffer.append(varint: note.through.rawValue)
            buffer.append(varint: UInt64(note.bytes.count))
            note.bytes.withUnsafeBytes { buffer.append($0) }
        }
    }

    /// Returns whether it agrees with what walking the frames before it has found.
    package func matches(_ tail: SegmentTail) -> Bool {
        frameCount == tail.frameCount && headerSum == tail.headerSum && entries == tail.entries
    }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let headerSum = try? reader.number(UInt32.self), let frameCount = try? reader.shortestVarint(),
            let entryCount = try? reader.shortestVarint(), entryCount <= UInt64(reader.remaining)
        else { return nil }
        var entries: [IndexEntry] = []
        entries.reserveCapacity(Int(entryCount))
        var last = IndexEntry(offset: 0, sequence: .none, time: WallTime(rawValue: 0))
        for _ in 0..<entryCount {
            guard let offset = try? reader.shortestVarint(), let sequence = try? reader.shortestVarint(),
                let time = try? reader.shortestVarint()
            else { return nil }
            last.offset &+= offset
            last.sequence.rawValue &+= sequence
            last.time.rawValue &+= Int64(bitPattern: time)
            entries.append(last)
        }
        var note: LogNote?
        switch try? reader.byte() {
        case 0: break
        case 1:
            guard let through = try? reader.shortestVarint(), let length = try? reader.shortestVarint(),
                let bytes = try? reader.take(length)
            else { return nil }
            note = LogNote(through: SequenceNumber(rawValue: through), bytes: [UInt8](bytes))
        default: return nil
        }
        guard reader.remaining == 0 else { return nil }
        self.init(frameCount: frameCount, headerSum: headerSum, entries: entries, note: note)
    }
}

/// Records that are known to be lost; the log continues after them.
package struct HolePayload: Hashable, Sendable {
    /// The chain value of the next frame, if that was written before the hole; nil if the chain continues from the
    /// hole itself.
    package var chainAfter: UInt32?
    package var recordCount: UInt64

    package init(chainAfter: UInt32?, recordCount: UInt64) {
        self.chainAfter = chainAfter
        self.recordCount = recordCount
    }

    static let fill: UInt8 = 0x5a

    /// The length of its shortest payload.
    package var length: Int { 5 + varintLength(recordCount) }

    /// Pads to exactly `length` bytes, so that a hole has the size of what it replaces.
    package func encode(into buffer: ByteBuffer, length: Int? = nil) {
        let start = buffer.count
        buffer.append(UInt8(chainAfter == nil ? 0 : 1))
        buffer.append(chainAfter ?? 0)
        buffer.append(varint: recordCount)
        while buffer.count - start < length ?? 0 { buffer.append(HolePayload.fill) }
    }

    package init?(_ bytes: UnsafeRawBufferPointer) {
        var reader = ByteReader(bytes)
        guard let mode = try? reader.number(UInt8.self), mode <= 1, let chain = try? reader.number(UInt32.self),
            mode == 1 || chain == 0, let count = try? reader.shortestVarint(),
            bytes[reader.offset...].allSatisfy({ $0 == HolePayload.fill })
        else { return nil }
        self.init(chainAfter: mode == 1 ? chain : nil, recordCount: count)
    }

    /// Decodes the payload of a hole with this header; also nil if the record numbers would overflow.
    package init?(of header: FrameHeader, _ bytes: UnsafeRawBufferPointer) {
        self.init(bytes)
        guard !header.firstSequence.rawValue.addingReportingOverflow(recordCount).overflow else { return nil }
    }
}
