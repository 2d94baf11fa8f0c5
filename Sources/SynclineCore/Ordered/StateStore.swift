// The state for its only writer: reads its own writes, counts commits, updates the digest, and creates snapshots.

package final class StateStore {
    // Unchecked, like the following properties: the writer is never called from within itself.
    @exclusivity(unchecked) package private(set) var layers: StateLayers
    /// The current commit.
    @exclusivity(unchecked) package private(set) var commit: UInt64
    @exclusivity(unchecked) package private(set) var digest: Digest

    /// The values before each change since `beginChanges`, oldest first; nil if changes are not recorded.
    @exclusivity(unchecked) private var changes: [(key: StateValue, old: StateValue?)]?

    package init(layers: StateLayers = StateLayers(), digest: Digest = Digest(), commit: UInt64 = 1) {
        self.layers = layers
        self.digest = digest
        self.commit = commit
    }

    /// Everything up to now, including the current commit.
    package var snapshot: StateSnapshot { StateSnapshot(layers, commit: commit) }

    package func value(_ key: UnsafeRawBufferPointer) throws(SyncError) -> StateValue? {
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

    /// Ends the current commit and returns what readers see of it; what follows belongs to the next.
    @discardableResult
    package func endCommit() -> StateSnapshot {
        defer { commit += 1 }
        return snapshot
    }

    // MARK: Undo

    /// Records the value before each change, so that changes can be undone.
    package func beginChanges() { changes = [] }

    /// The number of changes made since.
    package var changeCount: Int { changes?.count ?? 0 }

    /// Undoes the changes after the first `count`.
    package func takeBack(to count: Int) throws(SyncError) {
        guard var kept = changes else { return }
        changes = nil
        while kept.count > count {
            let (key, old) = kept.removeLast()
            try key.withBytes { key throws(SyncError) in
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

    /// Visits the changes after the first `count`, oldest first, with the key and its previous value.
    package func forEachChange(
        after count: Int = 0, _ body: (StateValue, StateValue?) throws(SyncError) -> Void
    ) throws(SyncError) {
        guard let kept = changes else { return }
        for change in kept.dropFirst(count) { try body(change.key, change.old) }
    }

    /// Keeps the changes and stops recording.
    package func endChanges() { changes = nil }

    // MARK: Layers

    /// Sets the active table aside to become a run, and creates another.
    package func rotate() {
        precondition(layers.full == nil, "one table at a time becomes a run")
        layers.full = layers.active
        layers.active = MemoryTable()
    }

    /// Replaces the table set aside, and the runs merged with it, by new runs.
    package func install(_ runs: [Run]) {
        layers.full = nil
        layers.runs = runs
    }
}

extension StateStore {
    /// Returns a store that begins with this state and whose changes this one does not have. Until `resume(after:)`, this
    /// one must not change.
    package func overlaid() -> StateStore {
        precondition(layers.full == nil, "the table below the changes has the place of the full one")
        var upper = StateLayers(active: MemoryTable(), runs: layers.runs, cache: layers.cache)
        upper.full = layers.active
        return StateStore(layers: upper, digest: digest, commit: commit + 1)
    }

    /// Continues with commits that no snapshot of a store over this one shows, also if that store makes many more.
    package func resume(after upper: StateStore) {
        commit = max(commit, upper.commit) + 1 << 32
    }
}

extension StateLayers {
    /// Whether a table is set aside to become a run.
    package var isFullSet: Bool { full != nil }

    /// Returns how many of the newest runs to merge with the table set aside: those not much larger than the sum so
    /// far. So each run is at least twice as large as all newer ones, and there are few.
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

    /// Returns a cursor over the table set aside merged with the newest runs. Includes removals if older runs
    /// remain.
    package func cursorOverRuns(_ count: Int) throws(SyncError) -> StateCursor {
        let merged = StateLayers(active: full ?? MemoryTable(), runs: Array(runs.prefix(count)), cache: cache)
        let snapshot = StateSnapshot(merged, commit: .max)
        return try StateCursor(
            snapshot, from: UnsafeRawBufferPointer(start: nil, count: 0), showsRemoved: count < runs.count,
            keepsBlocks: false)
    }
}
