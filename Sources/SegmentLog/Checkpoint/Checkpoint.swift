// Reads the blocks of a checkpoint in any order and verifies each. A checkpoint is derived data: losing one costs a
// replay, but no record.

import SynclineGround

/// A checkpoint that is open for reading.
public final class Checkpoint: Sendable {
    /// The last record it covers.
    public let through: SequenceNumber
    /// The note that its user wrote at its end.
    public let note: [UInt8]

    private let file: any ReadableFile
    package let name: String
    private let seed: UInt32
    private let frameCount: UInt64
    private let headerSum: UInt32
    /// The size of its file in bytes.
    package let size: UInt64

    /// Opens the checkpoint in a file.
    init(
        _ storage: any LogStorage, through: SequenceNumber, identity: LogIdentity, file name: String
    ) throws(LogError) {
        let file = try storage.reading(name)
        let window = FileWindow(file, name: name, capacity: 1 << 16)
        let start = try window.bytes(at: 0, Format.segmentHeaderLength)
        let header: SegmentHeader
        do throws(SegmentHeader.Refusal) {
            header = try SegmentHeader(start, role: .checkpoint)
        } catch {
            throw Checkpoint.damaged(name, 0, error.sentence)
        }
        guard header.identity == identity, header.sequence == through else {
            throw Checkpoint.damaged(name, 0, "it belongs to another log or was renamed")
        }
        let size = try callStorage { () throws(StorageError) in try file.size() }
        guard let footer = try SegmentIndex(window, seed: identity.seed, end: size),
            footer.seal.lastSequence == through,
            let note = footer.index.note, note.through == through
        else { throw Checkpoint.damaged(name, size, "its end can't be read") }
        self.through = through
        self.note = note.bytes
        self.file = file
        self.name = name
        self.size = size
        seed = identity.seed
        frameCount = footer.index.frameCount
        headerSum = footer.index.headerSum
    }

    deinit {
        file.close()
    }

    /// Returns the checkpoints of a log, newest first, each by the last record it covers.
    public static func list(_ storage: any LogStorage) throws(LogError) -> [SequenceNumber] {
        try callStorage { () throws(StorageError) in
            try storage.names(in: "").compactMap(FileName.parseCheckpoint).sorted(by: >)
        }
    }

    /// Opens the newest intact checkpoint, if there is one. Throws if one can't be read at the moment.
    public static func newest(_ reader: LogReader) throws(LogError) -> Checkpoint? {
        for through in try list(reader.storage) {
            let checkpoint = try openIfSound(reader.storage, through: through, identity: reader.identity)
            if let checkpoint { return checkpoint }
        }
        return nil
    }

    /// Opens a checkpoint; returns nil if it is damaged or missing, and throws if it can't be read at the moment.
    package static func openIfSound(
        _ storage: any LogStorage, through: SequenceNumber, identity: LogIdentity
    ) throws(LogError) -> Checkpoint? {
        do throws(LogError) {
            return try open(storage, through: through, identity: identity)
        } catch {
            guard error.code == .storeCorrupt || error.isNotFound else { throw error }
            return nil
        }
    }

    /// Opens the checkpoint that covers everything through a record.
    public static func open(
        _ storage: any LogStorage, through: SequenceNumber, identity: LogIdentity
    ) throws(LogError) -> Checkpoint {
        try Checkpoint(storage, through: through, identity: identity, file: FileName.checkpoint(through: through))
    }

    private static func damaged(_ name: String, _ offset: UInt64, _ reason: String) -> LogError {
        LogError(
            .storeCorrupt, "\(reason) (byte \(offset))", file: name,
            hint: "A checkpoint is derived data: remove it, and it is written again from the log.")
    }

    /// Returns the block at an address.
    public func block(at address: BlockAddress) throws(LogError) -> [UInt8] {
        try withBlock(at: address) { [UInt8]($0) }
    }

    /// Calls `body` with the block at an address; its bytes are valid only during the call. `length` is how much of
    /// the file to read at once: the distance to the next block, if it is known.
    public func withBlock<Result>(
        at address: BlockAddress, expecting length: Int = 1 << 17, _ body: (UnsafeRawBufferPointer) -> Result
    ) throws(LogError) -> Result {
        let (bytes, memory) = try read(at: address, expecting: length)
        defer { extendLifetime(memory) }
        return body(bytes)
    }

    /// Returns the block at an address, and the memory that it is in.
    package func read(
        at address: BlockAddress, expecting length: Int
    ) throws(LogError) -> (bytes: UnsafeRawBufferPointer, memory: ByteBuffer) {
        for length in [length, Format.frameOverhead + roundUp(Format.frameStoredLimit, to: 8)] {
            let piece = try piece(from: address, length)
            if let block = try block(at: address, in: piece, from: address) { return block }
        }
        throw Checkpoint.damaged(name, address.rawValue, FrameFault.cutOff.reason)
    }

    /// Reads a piece of the file into memory, which holds fewer bytes if the file ends.
    package func piece(from address: BlockAddress, _ length: Int) throws(LogError) -> ByteBuffer {
        try callStorage { () throws(StorageError) in try file.bytes(length, at: address.rawValue) }
    }

    /// Verifies the block at an address in a piece of the file, and returns it with the memory that it is in. Nil if
    /// the piece ends before the block.
    package func block(
        at address: BlockAddress, in piece: ByteBuffer, from start: BlockAddress
    ) throws(LogError) -> (bytes: UnsafeRawBufferPointer, memory: ByteBuffer)? {
        // Addresses that do not grow are those of a damaged index.
        guard address.rawValue >= start.rawValue else { return nil }
        let offset = Int(min(address.rawValue - start.rawValue, UInt64(piece.count)))
        do throws(FrameFault) {
            return try block(piece.bytes.slice(offset, piece.count - offset), piece)
        } catch {
            if error == .cutOff || error == .endOfFile { return nil }
            throw Checkpoint.damaged(name, address.rawValue, error.reason)
        }
    }

    /// A block that is stored as it is stays where it was read.
    private func block(
        _ frame: UnsafeRawBufferPointer, _ piece: ByteBuffer
    ) throws(FrameFault) -> (bytes: UnsafeRawBufferPointer, memory: ByteBuffer) {
        let expected = FrameExpectation(chain: nil, sequence: through.next)
        let header = try FrameCheck.header(frame, seed: seed, expecting: expected).get()
        if let fault = FrameCheck.body(frame, of: header) { throw fault }
        guard header.knownKind == .block else { throw .notAFrame }
        let stored = frame.slice(Format.frameHeaderLength, Int(header.storedLength))
        if header.codec == .stored, !header.flags.contains(.masked) { return (stored, piece) }
        guard let decoded = PayloadDecoder.decoded(header, stored: stored) else { throw .unreadable }
        return (decoded.bytes, decoded)
    }

    /// Returns the addresses of all blocks, in the order they were written.
    public func blocks() throws(LogError) -> [BlockAddress] {
        var addresses: [BlockAddress] = []
        try walk { header, offset in
            if header.knownKind == .block { addresses.append(BlockAddress(rawValue: offset)) }
        }
        return addresses
    }

    /// Reads and verifies everything: every frame, their chain, and the checksum in the index.
    public func verify() throws(LogError) {
        try walk { _, _ in }
    }

    private func walk(_ visit: (FrameHeader, UInt64) -> Void) throws(LogError) {
        let window = FileWindow(file, name: name)
        let decoder = PayloadDecoder()
        var walker = FrameWalker(
            window, seed: seed, from: UInt64(Format.segmentHeaderLength),
            expecting: FrameExpectation(chain: 0, sequence: through.next))
        var sum: UInt32 = 0
        var count: UInt64 = 0
        while true {
            switch try walker.next() {
            case .fault(let fault):
                guard walker.offset == size, count == frameCount, sum == headerSum else {
                    throw Checkpoint.damaged(name, walker.offset, fault.reason)
                }
                return
            case .frame(let header, let offset):
                guard decoder.payload(of: header, stored: try walker.stored(header, at: offset)) != nil else {
                    throw Checkpoint.damaged(name, offset, "a block does not decompress")
                }
                if header.knownKind == .block {
                    count += 1
                    sum = crc32c(of: header.checksum, continuing: sum)
                }
                visit(header, offset)
            }
        }
    }
}

extension LogCatalog {
    /// Verifies all checkpoints: calls `body` with each that is intact, and `damage` with the fault of another.
    package func verifyCheckpoints(
        in storage: any LogStorage, _ body: (Checkpoint) throws(LogError) -> Void, damage: (LogDamage) -> Void
    ) throws(LogError) {
        for through in checkpoints {
            do throws(LogError) {
                let checkpoint = try Checkpoint.open(storage, through: through, identity: identity)
                try checkpoint.verify()
                try body(checkpoint)
            } catch {
                // A writer has replaced it since the names were read.
                if error.isNotFound { continue }
                // What can't be read at the moment may be intact.
                guard !error.isRefusal else { throw error }
                damage(
                    LogDamage(
                        file: FileName.checkpoint(through: through), reason: error.message,
                        remedy: error.code == .storeNewer ? .upgrade : .rebuild))
            }
        }
    }
}
