// Entries of a run that newer layers have, too. A visit of one layer after another, which needs no order, leaves them out.

import SynclineGround

struct HiddenEntries {
    /// For each block with some, a bit for each entry by its number in the block, 64 in a word.
    private var blocks: [Int: [UInt64]] = [:]

    var isEmpty: Bool { blocks.isEmpty }

    subscript(block: Int) -> [UInt64]? { blocks[block] }

    /// Hides the entry with a key, if the run has one.
    mutating func add(_ key: Bytes, hash: UInt64, of run: Run) throws(SyncError) {
        guard run.mayContain(key, hash: hash) else { return }
        let block = run.place(of: key)
        guard let entry = try run.entry(of: key, inBlock: block) else { return }
        var words = blocks.removeValue(forKey: block) ?? []
        while words.count <= entry >> 6 { words.append(0) }
        words[entry >> 6] |= 1 << UInt64(entry & 63)
        blocks[block] = words
    }
}

extension [UInt64] {
    /// The bits of a word; none after the last word.
    @inline(__always)
    func bits(_ word: Int) -> UInt64 { word < count ? self[word] : 0 }

    @inline(__always)
    func contains(entry: Int) -> Bool { bits(entry >> 6) >> UInt64(entry & 63) & 1 != 0 }
}

/// What each run of a state hides in older ones, for the prefixes of keys that were asked about.
final class HiddenByRuns: Sendable {
    private let known = Mutex<[[UInt8]: [HiddenEntries]]>([:])

    /// Returns the hidden entries of each run whose keys begin with a prefix.
    func entries(_ prefix: [UInt8], of runs: [Run]) throws(SyncError) -> [HiddenEntries] {
        if let found = known.withLock({ $0[prefix] }) { return found }
        var hidden = [HiddenEntries](repeating: HiddenEntries(), count: runs.count)
        for number in runs.indices.dropLast() {
            try prefix.withBytes { prefix throws(SyncError) in
                let cursor = try Run.Cursor(runs[number], from: prefix, keepsBlocks: true)
                if let cursor { try hidden.add(keysOf: cursor, prefix, to: runs, from: number + 1) }
            }
        }
        known.withLock { $0[prefix] = hidden }
        return hidden
    }
}

extension [HiddenEntries] {
    /// Hides the entries of runs, from one on, that have the keys of a newer layer.
    mutating func add(
        keysOf newer: LayerCursor, _ prefix: Bytes, to runs: [Run], from first: Int
    ) throws(SyncError) {
        while let key = newer.key, key.begins(with: prefix) {
            let hash = hash64(key)
            for number in first..<runs.count { try self[number].add(key, hash: hash, of: runs[number]) }
            try newer.advance()
        }
    }
}

extension StateSnapshot {
    /// Calls `body` with every entry whose key begins with a prefix, one layer after another, until it returns false. So
    /// each is read without a look at the others.
    func forEachByLayer(
        prefix: [UInt8], _ filter: (any ColumnFilter)?, _ body: (Bytes, ValueView) throws(SyncError) -> Bool
    ) throws(SyncError) {
        let end = prefix.endOfPrefix ?? []
        try end.withBytes { end throws(SyncError) in
            for layer in try layers(prefix) {
                filter?.beginLayer()
                if try !layer.visit(before: end.isEmpty ? nil : end, filter, body) { return }
            }
        }
    }

    /// The layers, newest first, each without what newer ones hide.
    private func layers(_ prefix: [UInt8]) throws(SyncError) -> [LayerCursor] {
        let runs = layers.runs
        var hidden = try layers.hiddenByRuns.entries(prefix, of: runs)
        return try prefix.withBytes { prefix throws(SyncError) in
            var cursors: [LayerCursor] = []
            for (table, newer) in [(layers.active, nil), (layers.full, layers.active)] {
                guard let table, !table.isEmpty else { continue }
                try hidden.add(keysOf: MemoryTable.Cursor(table, at: commit, from: prefix), prefix, to: runs, from: 0)
                cursors.append(MemoryTable.Cursor(table, at: commit, from: prefix, below: newer))
            }
            for (run, hidden) in zip(runs, hidden) {
                let cursor = try Run.Cursor(run, from: prefix, keepsBlocks: true)
                guard let cursor else { continue }
                cursor.leaveOut(hidden)
                cursors.append(cursor)
            }
            return cursors
        }
    }
}
