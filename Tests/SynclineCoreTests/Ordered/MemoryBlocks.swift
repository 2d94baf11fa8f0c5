// Blocks of runs in memory, in place of a checkpoint file.

import SynclineGround

@testable import SynclineCore

final class MemoryBlocks: BlockSource {
    private let blocks = Mutex<[[UInt8]]>([])

    func append(_ block: UnsafeRawBufferPointer) -> UInt64 {
        blocks.withLock { blocks in
            blocks.append([UInt8](block))
            return UInt64(blocks.count - 1)
        }
    }

    func block(at address: UInt64, length: Int?) throws(SyncError) -> RunBlock {
        let bytes = blocks.withLock { $0.indices.contains(Int(address)) ? $0[Int(address)] : nil }
        guard let bytes else { throw SyncError(.ioError, "there is no block \(address)") }
        return bytes.withUnsafeBytes { RunBlock($0) }
    }

    /// All of them, in one piece of memory.
    func blocks(at addresses: ArraySlice<UInt64>, length: Int?) throws(SyncError) -> [RunBlock] {
        var piece: [UInt8] = []
        var places: [Range<Int>] = []
        for address in addresses {
            let start = piece.count
            let block = try block(at: address, length: nil)
            piece += block.bytes
            extendLifetime(block)
            places.append(start..<piece.count)
        }
        let whole = piece.withBytes { RunBlock($0) }
        return places.map { RunBlock(Bytes(rebasing: whole.bytes[$0]), ownedBy: whole) }
    }
}

extension StateStore {
    /// Makes a run of the table set aside and of the runs it is merged with, as a checkpoint does.
    func mergeFull(into blocks: MemoryBlocks, merging count: Int? = nil) throws(SyncError) {
        let merged = count ?? layers.runsToMerge()
        let written = try RunWriter.write(try layers.cursorOverRuns(merged)) { block in blocks.append(block) }
        // What is needed to open a run survives its encoding.
        var writer = ByteWriter()
        written.encode(into: &writer)
        guard let root = ByteReader.reading(writer.bytes, { reader throws(MalformedBytes) in try RunRoot(&reader) })
        else { throw .malformed("a root") }
        install([try Run(root, blocks, file: 1)] + layers.runs.dropFirst(merged))
    }
}

extension StateSnapshot {
    /// All entries, in order.
    func contents(from start: [UInt8] = []) throws(SyncError) -> [[UInt8]: [UInt8]] {
        var all: [[UInt8]: [UInt8]] = [:]
        try forEach(from: start) { key, value in
            all[[UInt8](key)] = [UInt8](value)
            return true
        }
        return all
    }
}
