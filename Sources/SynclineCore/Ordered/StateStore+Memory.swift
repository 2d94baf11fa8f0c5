// A state that is folded without a store to write to: large parts go into runs in memory, where a key has one value
// and no history, so that folding a long log needs memory for the state and not for the log.

import SynclineGround

/// Blocks in memory, one after another.
private final class MemoryBlocks: BlockSource {
    private let blocks = Mutex<[RunBlock]>([])

    func append(_ bytes: Bytes) -> UInt64 {
        // Created outside the lock: a block is filled once and never changed.
        let block = RunBlock(bytes)
        return blocks.withLock { blocks in
            blocks.append(block)
            return UInt64(blocks.count - 1)
        }
    }

    func block(at address: UInt64, length: Int?) throws(SyncError) -> RunBlock {
        guard let block = blocks.withLock({ $0.indices.contains(Int(address)) ? $0[Int(address)] : nil }) else {
            throw SyncError(.internalError, "a block of the state is not in memory")
        }
        // Its own object for each reader, which gives it the symbols of the run.
        return RunBlock(block.bytes, ownedBy: block)
    }
}

extension StateStore {
    /// Writes recent changes as a run in memory once they take more than `limit` bytes.
    package func settle(above limit: Int) throws(SyncError) {
        guard layers.memorySize > limit else { return }
        rotate()
        let merged = layers.runsToMerge()
        let blocks = MemoryBlocks()
        let root = try RunWriter.write(try layers.cursorOverRuns(merged), symbols: layers.symbols) { block in
            blocks.append(block)
        }
        install([try Run(root, blocks, file: 0, layers.cache)] + layers.runs.dropFirst(merged))
    }
}
