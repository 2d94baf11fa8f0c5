// The state for its one writer: reads what it has just written, counts commits, keeps the digest, and hands out snapshots.

package final class StateStore {
    // Unchecked, as what follows: its one writer never comes back to it from within.
    @exclusivity(unchecked) package private(set) var layers: StateLayers
    /// The commit that is being made.
    @exclusivity(unchecked) package private(set) var commit: UInt64
    @exclusivity(unchecked) package private(set) var digest: Digest

    /// What was there before each change since `beginChanges`, oldest first; nil where changes are not kept.
    @exclusivity(unchecked) private var changes: [(key: StateValue, old: StateValue?)]?

    package init(layers: StateLayers = StateLayers(), digest: Digest = Digest()) {
        self.layers = layers
        self.digest = digest
        commit = 1
    }

    /// Everything up to now, the commit in hand included.
    package var snapshot: StateSnapshot { StateSnapshot(layers, commit: commit) }

    package func value(_ key: UnsafeRawBufferPointer) throws(StateError) -> StateValue? {
        try layers.value(key, hash: hash64(key), at: commit)
    }

    /// Sets a key whose value was `old`.
    package func put(_ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer, old: StateValue?) {
        old?.withBytes { digest.remove(key, $0) }
        digest.add(key, value)
        keep(layers.active.put(key, value, hash: hash64(key), commit: commit), old)
    }

    /// Removes a key whose value was `old`.
    package func remove(_ key: UnsafeRawBufferPointer, old: StateValue) {
        old.withBytes { digest.remove(key, $0) }
        keep(layers.active.put(key, nil, hash: hash64(key), commit: commit), old)
    }

    private func keep(_ key: UnsafeRawBufferPointer, _ old: StateValue?) {
        if changes != nil { changes?.append((StateValue(key, layers.active), old)) }
    }

    /// Ends the commit in hand and returns what readers see of it; what follows belongs to the next.
    @discardableResult
    package func endCommit() -> StateSnapshot {
        defer { commit += 1 }
        return snapshot
    }

    // MARK: Taking back

    /// Keeps what was there before each change, so that changes can be taken back.
    package func beginChanges() { changes = [] }

    /// How many changes were made since.
    package var changeCount: Int { changes?.count ?? 0 }

    /// Takes back the changes behind the first `count`.
    package func takeBack(to count: Int) throws(StateError) {
        guard var kept = changes else { return }
        changes = nil
        while kept.count > count {
            let (key, old) = kept.removeLast()
            try key.withBytes { key throws(StateError) in
                if let new = try value(key) { new.withBytes { digest.remove(key, $0) } }
                guard let old else {
                    layers.active.put(key, nil, hash: hash64(key), commit: commit)
                    return
                }
                old.withBytes { old in
                    digest.add(key, old)
                    layers.active.put(key, old, hash: hash64(key), commit: commit)
                }
            }
        }
        changes = kept
    }

    /// Visits what changed behind the first `count` changes, oldest first: the key, and what was there before it.
    package func forEachChange(
        behind count: Int = 0, _ body: (StateValue, StateValue?) throws(StateError) -> Void
    ) throws(StateError) {
        guard let kept = changes else { return }
        for change in kept.dropFirst(count) { try body(change.key, change.old) }
    }

    /// What was changed stays.
    package func endChanges() { changes = nil }

    // MARK: Layers

    /// Sets the active table aside, to become a run, and begins another.
    package func rotate() {
        precondition(layers.full == nil, "one table at a time becomes a run")
        layers.full = layers.active
        layers.active = MemoryTable()
    }

    /// Runs take the place of what was set aside and of the runs it was merged with.
    package func install(_ runs: [Run]) {
        layers.full = nil
        layers.runs = runs
    }
}

extension StateLayers {
    /// Whether a table is set aside to become a run.
    package var isFullSet: Bool { full != nil }

    /// How many of the newest runs are merged with the table that is set aside: those not much larger than what is
    /// merged so far. So each run is at least twice as large as all newer ones, and there are few.
    package func runsToMerge() -> Int {
        var size = full?.size ?? 0
        var count = 0
        for run in runs {
            if run.root.size > 2 * size { break }
            size += run.root.size
            count += 1
        }
        return count
    }

    /// Every entry of the table that is set aside and of the newest runs, merged. Removals are kept if older runs stay.
    package func cursorOverRuns(_ count: Int) throws(StateError) -> StateCursor {
        let merged = StateLayers(active: full ?? MemoryTable(), runs: Array(runs.prefix(count)), cache: cache)
        let snapshot = StateSnapshot(merged, commit: .max)
        return try StateCursor(
            snapshot, from: UnsafeRawBufferPointer(start: nil, count: 0), showsRemoved: count < runs.count)
    }
}
