// A checkpoint of the state. Its file holds the newest run; its note lists the older files that hold the other runs,
// and the other values that a projector starts from.

import SegmentLog
import SynclineCore
import SynclineGround

enum CheckpointFile {
    /// The contents of a checkpoint's note.
    struct Note {
        var totals = ChangeCounts()
        var digest = Digest()
        /// The runs, newest first: each run's file, named by the last event it covers, and its root.
        var runs: [(file: UInt64, root: RunRoot)] = []

        var bytes: [UInt8] {
            var writer = ByteWriter()
            writer.append(varint: UInt64(Projector.version))
            totals.encode(into: &writer)
            writer.append(fixed: digest.high)
            writer.append(fixed: digest.low)
            writer.append(varint: runs.count)
            for run in runs {
                writer.append(varint: run.file)
                run.root.encode(into: &writer)
            }
            return writer.bytes
        }

        init() {}

        init(reading bytes: [UInt8]) throws(SyncError) {
            do throws(MalformedBytes) {
                self = try bytes.withBytes {
                    (bytes: UnsafeRawBufferPointer) throws(MalformedBytes) -> Note in
                    var reader = ByteReader(bytes)
                    guard try reader.varint() == UInt64(Projector.version) else { throw MalformedBytes() }
                    var note = Note()
                    note.totals = try ChangeCounts(&reader)
                    let high = try reader.fixed()
                    note.digest = Digest(high: high, low: try reader.fixed())
                    for _ in 0..<(try reader.count()) {
                        let file = try reader.varint()
                        note.runs.append((file, try RunRoot(&reader)))
                    }
                    return note
                }
            } catch {
                throw .malformed("a checkpoint's note")
            }
        }
    }

    /// Returns the intact checkpoints, each with the files it needs.
    static func all(_ storage: any LogStorage, _ identity: LogIdentity) throws(SyncError) -> [CheckpointFiles] {
        var all: [CheckpointFiles] = []
        for through in try storage.checkpoints() {
            guard let file = try storage.soundCheckpoint(through, identity), let note = try? Note(reading: file.note)
            else { continue }
            all.append(CheckpointFiles(through: through.rawValue, files: note.runs.map(\.file), size: file.size))
        }
        return all
    }

    /// Opens a projector as of a checkpoint; returns nil if the checkpoint is damaged, incomplete or missing. Throws
    /// if it can't be read at the moment: without it, the state would seem to be lost.
    static func openIfSound(
        _ storage: any LogStorage, _ through: SequenceNumber, _ identity: LogIdentity, removesDamaged: Bool
    ) throws(SyncError) -> Projector? {
        do throws(SyncError) {
            return try open(storage, through, identity, removesDamaged: removesDamaged)
        } catch {
            if [.storeCorrupt, .storeNewer].contains(error.code) { return nil }
            throw error
        }
    }

    /// Opens a projector as of a checkpoint.
    static func open(
        _ storage: any LogStorage, _ through: SequenceNumber, _ identity: LogIdentity, removesDamaged: Bool
    ) throws(SyncError) -> Projector {
        let note = try Note(reading: storage.checkpoint(through, identity).note)
        let cache = BlockCache()
        var runs: [Run] = []
        for (file, root) in note.runs {
            let source = try CheckpointBlocks(
                storage, SequenceNumber(rawValue: file), identity, removesDamaged: removesDamaged)
            runs.append(try Run(root, source, file: file, cache))
        }
        let store = StateStore(layers: StateLayers(runs: runs, cache: cache), digest: note.digest)
        return try Projector(store: store, through: through.rawValue, totals: note.totals)
    }
}

/// Reads the blocks of a checkpoint and maps errors to the state's. A block that is too large for a frame is written
/// in pieces; its address is that of the list of pieces, marked by the highest bit.
struct CheckpointBlocks: BlockSource {
    private let checkpoint: Checkpoint
    private let storage: any LogStorage
    private let removesDamaged: Bool

    private static let isList: UInt64 = 1 << 63

    init(
        _ storage: any LogStorage, _ through: SequenceNumber, _ identity: LogIdentity, removesDamaged: Bool
    ) throws(SyncError) {
        self.storage = storage
        self.removesDamaged = removesDamaged
        checkpoint = try storage.checkpoint(through, identity)
    }

    func block(at address: UInt64, length: Int?) throws(SyncError) -> RunBlock {
        guard address & CheckpointBlocks.isList != 0 else { return try read(address, length ?? 1 << 17) }
        let list = try read(address & ~CheckpointBlocks.isList, 1 << 12)
        var bytes: [UInt8] = []
        for address in try CheckpointBlocks.addresses(list) {
            let piece = try read(address, Format.frameRawLimit)
            bytes.append(contentsOf: piece.bytes)
            extendLifetime(piece)
        }
        return bytes.withBytes { RunBlock($0) }
    }

    func blocks(at addresses: ArraySlice<UInt64>, length: Int?) throws(SyncError) -> [RunBlock] {
        guard let first = addresses.first else { return [] }
        var blocks: [RunBlock] = []
        if addresses.count > 1, let length, first & CheckpointBlocks.isList == 0 {
            let start = BlockAddress(rawValue: first)
            let piece = try reading { () throws(LogError) in try checkpoint.piece(from: start, length) }
            // Damage is reported when the damaged block is the first that is wanted.
            for address in addresses {
                let found = try? checkpoint.block(at: BlockAddress(rawValue: address), in: piece, from: start)
                guard let (bytes, memory) = found else { break }
                blocks.append(RunBlock(bytes, ownedBy: memory))
            }
        }
        return blocks.isEmpty ? [try block(at: first, length: addresses.count == 1 ? length : nil)] : blocks
    }

    private func read(_ address: UInt64, _ length: Int) throws(SyncError) -> RunBlock {
        try reading { () throws(LogError) in
            let (bytes, memory) = try checkpoint.read(at: BlockAddress(rawValue: address), expecting: length)
            defer { extendLifetime(memory) }
            // If the length was not known, much more was read than the block, and a copy lets that go.
            return memory.count > 2 * bytes.count + 256 ? RunBlock(bytes) : RunBlock(bytes, owning: memory.takeMemory())
        }
    }

    private func reading<Result>(_ body: () throws(LogError) -> Result) throws(SyncError) -> Result {
        do throws(LogError) {
            return try body()
        } catch {
            // Without the file, the next opening rebuilds the state from the log.
            if removesDamaged, error.code == .storeCorrupt, let name = error.file { try? storage.remove(name) }
            throw SyncError(error)
        }
    }

    private static func addresses(_ list: RunBlock) throws(SyncError) -> [UInt64] {
        defer { extendLifetime(list) }
        do throws(MalformedBytes) {
            var reader = ByteReader(list.bytes)
            var addresses: [UInt64] = []
            while !reader.isAtEnd { addresses.append(try reader.varint()) }
            return addresses
        } catch {
            throw .malformed("a list of a checkpoint's blocks")
        }
    }

    static func append(
        _ block: UnsafeRawBufferPointer, to writer: inout CheckpointWriter
    ) throws(SyncError) -> UInt64 {
        let limit = Format.frameRawLimit
        if block.count <= limit { return try writer.add(block) }
        var list = ByteWriter()
        for start in stride(from: 0, to: block.count, by: limit) {
            let piece = UnsafeRawBufferPointer(rebasing: block[start..<min(start + limit, block.count)])
            list.append(varint: try writer.add(piece))
        }
        let address = try list.bytes.withBytes { (list: UnsafeRawBufferPointer) throws(SyncError) in
            try writer.add(list)
        }
        return address | isList
    }
}

/// Writes the changes since the last checkpoint as one more run. It merges that run with the newest older ones
/// unless those are much larger, so that few runs are kept and each event is written a bounded number of times.
struct CheckpointJob: Sendable {
    let log: LogWriter
    /// Whether to write the whole state into one file.
    let isWhole: Bool
    let layers: StateLayers
    let through: UInt64
    let totals: ChangeCounts
    let digest: Digest
    let retention: Retention

    /// Returns the runs that replace the frozen table and the merged runs.
    func run() throws(SyncError) -> [Run] {
        let merged = isWhole ? layers.runs.count : layers.runsToMerge()
        let kept = Array(layers.runs.dropFirst(merged))
        var writer = try log.beginCheckpoint(through)
        // If older runs stay, the written run is not the whole state, and its digest is not known.
        let expected = merged == layers.runs.count ? digest : nil
        // Entries that several layers have are counted more than once.
        let total = UInt64(layers.memorySize + layers.runs.prefix(merged).reduce(0) { $0 + $1.root.size })
        var done: UInt64 = 0
        let root = try RunWriter.write(
            try layers.cursorOverRuns(merged), expecting: expected, symbols: layers.symbols
        ) { block throws(SyncError) in
            done += UInt64(block.count)
            ReadingWatch.tell(min(done, total), of: total)
            return try CheckpointBlocks.append(block, to: &writer)
        }
        var note = CheckpointFile.Note()
        note.totals = totals
        note.digest = digest
        note.runs = [(through, root)] + kept.map { ($0.file, $0.root) }
        let pinned = try filesThatStay()
        try writer.end(note: note.bytes, keeping: layers.runs.map(\.file) + pinned)
        // A file that can't be removed only takes space; the next checkpoint tries again.
        let superseded = layers.runs.prefix(merged).map(\.file).filter { $0 != through && !pinned.contains($0) }
        try? log.drop(superseded: superseded.map { SequenceNumber(rawValue: $0) })
        let source = try CheckpointBlocks(
            log.storage, SequenceNumber(rawValue: through), log.identity, removesDamaged: true)
        return [try Run(root, source, file: through, layers.cache)] + kept
    }

    /// Returns the files of checkpoints at which the history was or will be cut, and of those used to build past
    /// states.
    private func filesThatStay() throws(SyncError) -> Set<UInt64> {
        let all = try CheckpointFile.all(log.storage, log.identity)
        let floor = try log.start
        let size = try log.storage.segments().reduce(0) { $0 + $1.size }
        var staying = CheckpointKeeping.kept(
            of: all, after: max(floor.rawValue, 1) - 1, newest: through, room: size)
        if retention != .everything || floor > .first { staying.formUnion(HistoryPlan.pinned(all)) }
        return staying.union(all.filter { staying.contains($0.through) }.flatMap(\.files))
    }
}
