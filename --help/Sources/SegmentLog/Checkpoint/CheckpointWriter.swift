// Writes a checkpoint: what the log's user computed from the records through some number, in blocks. The file is a
// container like a segment (header, frames, index, seal). It becomes valid only after it has been read back and
// verified.

/// The address of a block in a checkpoint.
public struct BlockAddress: RawRepresentable, Hashable, Comparable, Sendable {
    /// The offset in the file at which the block's frame begins.
    public var rawValue: UInt64

    /// Creates an address from its stored value.
    public init(rawValue: UInt64) {
        self.rawValue = rawValue
    }

    public static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// Writes one checkpoint.
public struct CheckpointWriter: ~Copyable {
    private let writer: LogWriter
    private let through: SequenceNumber
    private let file: any WritableFile
    private let temporary: String
    private var encoder: FrameEncoder
    private var tail: SegmentTail
    private let buffer = ByteBuffer(capacity: 1 << 17)

    private init(_ writer: LogWriter, _ header: SegmentHeader, _ file: any WritableFile, _ temporary: String) {
        self.writer = writer
        self.file = file
        self.temporary = temporary
        through = header.sequence
        tail = SegmentTail(after: header)
        tail.next = header.sequence.next
        encoder = FrameEncoder(seed: header.identity.seed, acceleration: 1)
        header.append(to: buffer)
    }

    /// Begins a checkpoint of all records through one that has been appended.
    public static func begin(
        for writer: LogWriter, through sequence: SequenceNumber, clock: any LogClock = SystemClock()
    ) throws(LogError) -> CheckpointWriter {
        guard sequence <= writer.lastSequence, sequence > .none else {
            throw LogError(
                .invalidArgument,
                "a checkpoint through \(sequence) is beyond the log's last record, \(writer.lastSequence)")
        }
        let header = SegmentHeader(
            role: .checkpoint, identity: writer.identity, sequence: sequence, ordinal: 0, created: clock.now(),
            epoch: try writer.use { $0.head.current.epoch }, durableThrough: sequence)
        let temporary = FileName.checkpoint(through: sequence) + FileName.temporarySuffix
        let file = try callStorage { () throws(StorageError) in
            let file = try writer.storage.openForWriting(temporary, create: true)
            try file.resize(to: 0)
            return file
        }
        return CheckpointWriter(writer, header, file, temporary)
    }

    /// Adds a block of at most 1 MiB and returns its address.
    public mutating func append(_ block: UnsafeRawBufferPointer) throws(LogError) -> BlockAddress {
        guard block.count <= Format.frameRawLimit else {
            throw LogError(.invalidArgument, "a block of \(block.count) bytes is larger than \(Format.frameRawLimit)")
        }
        fillPage(before: FrameHeader.frameLength(stored: block.count))
        let address = BlockAddress(rawValue: tail.offset)
        // Blocks are read much more often than they are written, and one that is stored as it is needs no decoding.
        encode(.block, block, saving: max(1, block.count / 4))
        if buffer.count > 1 << 16 { try write() }
        return address
    }

    /// Begins another page of the file, if little of this one is left and the next block fits a page: reading a block
    /// from two pages takes a third longer than from one.
    private mutating func fillPage(before length: Int) {
        let left = Format.page - Int(tail.offset % UInt64(Format.page))
        let isLittle = (Format.frameOverhead...Format.page / 8).contains(left)
        guard isLittle, length > left, length <= Format.page else { return }
        var frame = FrameHeader(kind: .block, firstSequence: tail.next)
        frame.kind = FrameKind.filler
        frame.chain = tail.chain
        let payload = [UInt8](repeating: Format.mask, count: left - Format.frameOverhead)
        let filler = payload.withUnsafeBytes { encoder.encode(frame, payload: $0, compressed: false, into: buffer) }
        tail.pass(over: filler)
    }

    private mutating func encode(
        _ kind: FrameKind, _ payload: UnsafeRawBufferPointer, compressed: Bool = true, saving: Int = 1
    ) {
        var frame = FrameHeader(kind: kind, firstSequence: tail.next)
        frame.chain = tail.chain
        tail.step(
            over: encoder.encode(frame, payload: payload, compressed: compressed, saving: saving, into: buffer),
            time: nil)
    }

    private func write() throws(LogError) {
        try callStorage { () throws(StorageError) in
            try file.writeFully(buffer.bytes, at: tail.offset - UInt64(buffer.count))
        }
        buffer.truncate(to: 0)
    }

    /// Completes the file, makes it durable and verifies it by reading it back; only then records it in HEAD. Keeps
    /// the two newest checkpoints, and older ones in `needed`.
    public consuming func finish(note: [UInt8], keeping needed: Set<SequenceNumber> = []) throws(LogError) {
        guard note.count <= Format.noteLimit else {
            throw LogError(.invalidArgument, "a note of \(note.count) bytes is larger than \(Format.noteLimit)")
        }
        // A checkpoint must not include records that a crash could still undo.
if writer.durableThrough < through && !Breakage.checkpointAheadOfLog.isActive { try writer.flush() }
        let payload = ByteBuffer(capacity: 256)
        IndexPayload(
            frameCount: tail.frameCount, headerSum: tail.headerSum, entries: [],
            note: LogNote(through: through, bytes: note)
        ).encode(into: payload)
        let indexOffset = tail.offset
        encode(.index, payload.bytes)
        payload.truncate(to: 0)
        SealPayload(
            indexOffset: indexOffset, lastSequence: through, recordCount: 0, firstTime: WallTime(rawValue: 0),
            lastTime: WallTime(rawValue: 0)
        ).encode(into: payload)
        encode(.seal, payload.bytes, compressed: false)
        try write()
        try publish(needed)
    }

    private func publish(_ needed: Set<SequenceNumber>) throws(LogError) {
        try callStorage { () throws(StorageError) in
if !Breakage.checkpointNotSynced.isActive { try file.sync(.durable) }
            file.close()
        }
        // Verified before the rename, because it may replace an intact checkpoint.
if !Breakage.checkpointNotVerified.isActive {
try Checkpoint(writer.storage, through: through, identity: writer.identity, file: temporary).verify()
}
        // The directory may have been replaced while the file was written.
        try writer.use { _ in }
        try writer.storage.putInPlace(temporary, as: FileName.checkpoint(through: through))
        try writer.announce(checkpoint: through, keeping: needed)
    }
}

extension LogWriter {
    /// Records the newest verified checkpoint in HEAD, and removes all others except the newest two and those
    /// needed.
    func announce(checkpoint through: SequenceNumber, keeping needed: Set<SequenceNumber>) throws(LogError) {
        try use { appender throws(LogError) in
            try appender.head.write { $0.checkpoint = max($0.checkpoint, through) }
            try callStorage { () throws(StorageError) in
                let all = try storage.names(in: "").compactMap(FileName.parseCheckpoint).sorted()
                for old in all.dropLast(2) where old < through && !needed.contains(old) {
                    try storage.remove(FileName.checkpoint(through: old))
                }
            }
        }
    }

    /// Removes checkpoints that the newest one replaces. If the log's beginning was collected they are kept, because
    /// they are all that is left of it if the newest is damaged.
    package func drop(superseded checkpoints: [SequenceNumber]) throws(LogError) {
        guard try use({ $0.head.current.floor <= SequenceNumber.none.next }) else { return }
        try remove(checkpoints: checkpoints)
    }

    /// Removes the checkpoints that exist.
    package func remove(checkpoints: [SequenceNumber]) throws(LogError) {
        try use { _ throws(LogError) in
            try callStorage { () throws(StorageError) in
                let all = try storage.names(in: "").compactMap(FileName.parseCheckpoint)
                for old in checkpoints where all.contains(old) { try storage.remove(FileName.checkpoint(through: old)) }
            }
        }
    }
}
