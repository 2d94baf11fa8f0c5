// Reads the frames of a checkpoint, and what its note and its index say of each block.

import SegmentLog
import SynclineCore
import SynclineGround

struct CheckpointReading {
    let through: SequenceNumber
    let seed: UInt32
    private let inspection: LogInspection
    /// The role of each block, by its offset. Empty if note or index can't be read.
    private var roles: [UInt64: BlockRole] = [:]
    private var symbols: [[UInt8]] = []

    private static let isList: UInt64 = 1 << 63

    init(_ inspection: LogInspection, _ identity: LogIdentity, through: SequenceNumber) throws {
        (self.inspection, self.through, seed) = (inspection, through, identity.seed)
        let found = try Checkpoint.openIfSound(inspection.storage, through: through, identity: identity)
        guard let checkpoint = found,
            let root = CheckpointReading.runs(checkpoint.note).first(where: { $0.file == through.rawValue })?.root
        else { return }
        // A block that can't be read says nothing of others.
        for address in root.filterBlocks { _ = try? read(address, .filter, checkpoint) }
        for address in root.symbolBlocks {
            guard let bytes = try? read(address, .symbols, checkpoint) else { continue }
            let lengths = bytes.dropFirst().prefix(Int(bytes.first ?? 0)).map { Int($0) }
            var rest = bytes.dropFirst(1 + lengths.count)
            symbols = lengths.map { length in
                defer { rest = rest.dropFirst(length) }
                return Array(rest.prefix(length))
            }
        }
        for address in root.indexBlocks {
            guard let bytes = try? read(address, .index, checkpoint) else { continue }
            var reader = FieldWalk(.payload, bytes[...])
            while !reader.bytes.isEmpty {
                reader.add("", Int(clamping: reader.addVarint("")))
                let block = reader.addVarint("")
                _ = reader.addVarint("")
                if block & CheckpointReading.isList == 0 {
                    roles[block] = .entries
                } else {
                    _ = try? read(block, .entries, checkpoint)
                }
            }
        }
    }

    /// The runs that a note names, each with the last event that its file covers. None if it is of another version.
    static func runs(_ note: [UInt8]) -> [(file: UInt64, root: RunRoot)] {
        note.withBytes { bytes in
            var reader = ByteReader(bytes)
            guard let version = try? reader.varint(), version == UInt64(Projector.version),
                (try? ChangeCounts(&reader)) != nil, (try? reader.fixed()) != nil, (try? reader.fixed()) != nil,
                let count = try? reader.count()
            else { return [] }
            var runs: [(UInt64, RunRoot)] = []
            for _ in 0..<count {
                guard let file = try? reader.varint(), let root = try? RunRoot(&reader) else { return [] }
                runs.append((file, root))
            }
            return runs
        }
    }

    /// Reads a part of the run, perhaps in pieces, and notes its role.
    private mutating func read(_ address: UInt64, _ role: BlockRole, _ checkpoint: Checkpoint) throws -> [UInt8] {
        let offset = address & ~CheckpointReading.isList
        let isWhole = offset == address
        roles[offset] = isWhole ? role : .list
        let bytes = try checkpoint.block(at: BlockAddress(rawValue: offset))
        if isWhole { return bytes }
        var all: [UInt8] = []
        var rest = bytes[...]
        while let (piece, count) = FieldWalk.varint(rest) {
            rest = rest.dropFirst(count)
            roles[piece] = .piece
            all += try checkpoint.block(at: BlockAddress(rawValue: piece))
        }
        return all
    }

    /// The block at an offset.
    func content(at offset: UInt64) -> BlockContent { BlockContent(role: roles[offset], symbols: symbols) }

    /// Visits each frame from an offset on; see `LogInspection.frames(ofCheckpoint:)`.
    func frames(from start: UInt64 = 0, _ visit: (UInt64, UInt64, FrameHeader?) throws -> Bool) throws {
        try inspection.frames(ofCheckpoint: through, seed: seed) { offset, length, header in
            offset + length <= start ? true : try visit(offset, length, header)
        }
    }

    /// The fields of the header or frame at an offset, and where it begins; nil if there is none.
    func fields(at offset: UInt64) throws -> (start: UInt64, fields: [FrameField])? {
        let file = try inspection.storage.reading(FileName.checkpoint(through: through))
        defer { file.close() }
        if offset < UInt64(Format.segmentHeaderLength) { return (0, try FrameReading.header(file, .checkpoint)) }
        var chain: UInt32? = 0
        var found: (UInt64, [FrameField])?
        try frames { start, length, header in
            guard offset < start + length else {
                chain = header?.checksum
                return true
            }
            let bytes = try FrameReading.read(file, start, Int(clamping: length))
            let frame = FrameBytes(
                bytes, seed: seed, after: FrameBytes.Before(chain: chain), as: content(at: start))
            found = (start, frame.fields)
            return false
        }
        return found
    }
}

/// A frame of a checkpoint.
struct CheckpointFrame {
    let address: String
    let role: BlockRole?
    let entry: FrameEntry

    init(_ header: FrameHeader, at offset: UInt64, in checkpoint: CheckpointReading) {
        address = checkpoint.address(offset)
        role = header.knownKind == .block ? checkpoint.content(at: offset).role : nil
        // A checkpoint is not a segment, so the frame has no position in the log.
        entry = FrameEntry(summary: FrameSummary(header, at: LogPosition(segment: 0, offset: offset)))
    }
}

extension CheckpointReading {
    func address(_ offset: UInt64) -> String { "c\(through.rawValue):\(offset)" }

    /// Bytes from which no frame verifies.
    func damage(_ offset: UInt64, _ length: UInt64) -> LogDamage {
        LogDamage(
            file: FileName.checkpoint(through: through), length: .bytes(length),
            reason: "no frame verifies at \(address(offset))", remedy: .rebuild)
    }
}
