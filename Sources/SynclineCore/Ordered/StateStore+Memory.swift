// A state that is folded without a store to write into: what is large goes into runs that are kept in memory, where a key
// has one value and no history, so that folding a long log takes the room of the state and not that of the log.

import Synchronization

/// Blocks in memory, one behind the other.
private final class MemoryBlocks: BlockSource {
    private let blocks = Mutex<[RunBlock]>([])

    func append(_ bytes: Bytes) -> UInt64 {
        // Made outside of the lock: a block is filled once and never again.
        let block = RunBlock(bytes)
        return blocks.withLock { blocks in
            blocks.append(block)
            return UInt64(blocks.count - 1)
        }
    }

    func block(at address: UInt64, length: Int?) throws(StateError) -> RunBlock {
        guard let block = blocks.withLock({ $0.indices.contains(Int(address)) ? $0[Int(address)] : nil }) else {
            throw .failed(SyncError(.internalError, "a block of the state is not in memory"))
        }
        return block
    }
}

extension StateStore {
    /// Makes a run in memory of what changed lately, once that takes more than so many bytes.
    package func settle(above limit: Int) throws(StateError) {
        guard layers.memorySize > limit else { return }
        rotate()
        let merged = layers.runsToMerge()
        let blocks = MemoryBlocks()
        let root = try RunWriter.write(try layers.cursorOverRuns(merged)) { block in blocks.append(block) }
        install([try Run(root, blocks, file: 0, layers.cache)] + layers.runs.dropFirst(merged))
    }
}
