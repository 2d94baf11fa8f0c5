// Looks up several keys at once. What one search must wait for, the memory of another block, is fetched while the other
// searches are prepared.

/// The search for one of several keys.
struct KeyLookup {
    let key: Bytes
    fileprivate let hash: UInt64
    /// The newest run that may have the key; the number of runs if none has it.
    var run = 0
    /// Eight bytes of the key, which decide most comparisons of a search.
    var head: UInt64 = 0
    /// The block of that run which would hold the key, by its number, and itself if it is cached.
    var place = 0
    var block: RunBlock?
    /// The columns of that block, if it has some.
    fileprivate var columns: Unmanaged<ColumnBlock>?
    /// The row of the key among them, if they have it.
    fileprivate var row: Int?

    init(_ key: Bytes) {
        self.key = key
        hash = hash64(key)
    }
}

typealias KeyLookups = UnsafeMutableBufferPointer<KeyLookup>

extension StateSnapshot {
    /// Calls `body` with each of some keys that has a value, in their order, with its position and the value.
    /// - Parameter areKnown: Whether the keys are known to have values, as those of an index are. Then the filter of the
    ///   oldest run is not asked.
    func forEachValue(
        of keys: [Bytes], areKnown: Bool, _ body: (Int, StateValue) throws(SyncError) -> Void
    ) throws(SyncError) {
        try withUnsafeTemporaryAllocation(of: KeyLookup.self, capacity: keys.count) { lookups throws(SyncError) in
            for (index, key) in keys.enumerated() { lookups.initializeElement(at: index, to: KeyLookup(key)) }
            defer { lookups.deinitialize() }
            prepare(lookups, areKnown)
            for index in lookups.indices {
                if let value = try value(&lookups[index]) { try body(index, value) }
            }
        }
    }

    private func prepare(_ lookups: KeyLookups, _ areKnown: Bool) {
        let runs = layers.runs
        let asked = areKnown ? runs.dropLast() : runs[...]
        for index in lookups.indices {
            let (key, hash) = (lookups[index].key, lookups[index].hash)
            lookups[index].run = asked.firstIndex { $0.mayContain(key, hash: hash) } ?? asked.endIndex
        }
        for (number, run) in runs.enumerated() where !run.isEmpty { run.prepare(lookups, number) }
    }

    private func value(_ lookup: inout KeyLookup) throws(SyncError) -> StateValue? {
        if let recent = layers.recentValue(lookup.key, hash: lookup.hash, at: commit) { return recent }
        guard lookup.run < layers.runs.count else { return nil }
        if let columns = lookup.columns, let row = lookup.row, let block = lookup.block.take() {
            return StateValue(row, of: columns, block)
        }
        let run = layers.runs[lookup.run]
        if !run.isEmpty {
            let block = if let known = lookup.block.take() { known } else { try run.searchable(lookup.place) }
            if let found = try run.find(lookup.key, in: block) { return found }
        }
        return try layers.value(lookup.key, hash: lookup.hash, inRunsFrom: lookup.run + 1)
    }
}

extension Run {
    /// Finds the blocks that would hold those keys that this run may have, and fetches what a search reads there.
    /// - Parameter number: Its own, among the runs.
    fileprivate func prepare(_ lookups: KeyLookups, _ number: Int) {
        findBlocks(of: lookups, number)
        for index in lookups.indices where lookups[index].run == number {
            guard let block = lookups[index].block else { continue }
            block.prefetchParts()
            lookups[index].columns = block.columnsInPlace
        }
        for index in lookups.indices where lookups[index].run == number {
            let (columns, key) = (lookups[index].columns, lookups[index].key)
            columns?._withUnsafeGuaranteedRef { $0.prefetch(key) }
        }
        for index in lookups.indices where lookups[index].run == number {
            let (columns, key) = (lookups[index].columns, lookups[index].key)
            lookups[index].row = columns?._withUnsafeGuaranteedRef { block in
                let row = block.row(of: key)
                if let row, lookups.count > 1 { block.prefetchValues(of: row) }
                return row
            }
        }
        if lookups.count == 1 { return }
        for index in lookups.indices where lookups[index].run == number {
            guard let columns = lookups[index].columns, let row = lookups[index].row else { continue }
            columns._withUnsafeGuaranteedRef { $0.prefetchTexts(of: row) }
        }
    }
}
