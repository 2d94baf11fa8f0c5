// The state as an ordered map: what changed lately in memory, the rest in runs, newest first. The newest layer that knows
// a key decides. A snapshot is a set of layers and a commit; it stays as it is while the writer goes on.

/// The layers, newest first.
package struct StateLayers: Sendable {
    /// The table that is written to.
    var active = MemoryTable()
    /// One that is full and on its way into a run.
    var full: MemoryTable?
    package internal(set) var runs: [Run] = []
    /// What its runs share.
    package let cache: BlockCache

    package init(runs: [Run] = [], cache: BlockCache = BlockCache()) {
        self.runs = runs
        self.cache = cache
    }

    init(active: MemoryTable, runs: [Run], cache: BlockCache) {
        self.active = active
        self.runs = runs
        self.cache = cache
    }

    /// How many entries its runs have.
    var runEntries: Int { runs.reduce(0) { $0 + $1.root.count } }
    /// Bytes of memory behind the active table.
    package var memorySize: Int { active.size }
}

extension StateLayers {
    /// A key's value as of a commit.
    func value(_ key: UnsafeRawBufferPointer, hash: UInt64, at commit: UInt64) throws(StateError) -> StateValue? {
        switch active.find(key, hash: hash, at: commit) {
        case .value(let bytes): return StateValue(bytes, active)
        case .removed: return nil
        case .absent: break
        }
        if let full {
            switch full.find(key, hash: hash, at: commit) {
            case .value(let bytes): return StateValue(bytes, full)
            case .removed: return nil
            case .absent: break
            }
        }
        for run in runs where run.mayContain(key, hash: hash) {
            let (finding, block) = try run.find(key)
            switch finding {
            case .value(let bytes): return StateValue(bytes, block)
            case .removed: return nil
            case .absent: break
            }
        }
        return nil
    }
}

/// The bytes of a value, with what keeps them in memory.
package struct StateValue {
    private let bytes: UnsafeRawBufferPointer
    private let owner: AnyObject

    init(_ bytes: UnsafeRawBufferPointer, _ owner: AnyObject) {
        self.bytes = bytes
        self.owner = owner
    }

    /// Calls `body` with the bytes; they are valid within the call only, because nothing but this value may keep them.
    @inline(__always)
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { withExtendedLifetime(owner) {} }
        return try body(bytes)
    }

    /// A copy.
    package var copy: [UInt8] { withBytes { [UInt8]($0) } }
}

/// The state as of a commit.
package struct StateSnapshot: Sendable {
    let layers: StateLayers
    package let commit: UInt64

    init(_ layers: StateLayers, commit: UInt64) {
        self.layers = layers
        self.commit = commit
    }

    package func value(_ key: UnsafeRawBufferPointer) throws(StateError) -> StateValue? {
        try layers.value(key, hash: hash64(key), at: commit)
    }

    /// Moves through the keys in order, from one on.
    package func cursor(from key: UnsafeRawBufferPointer) throws(StateError) -> StateCursor {
        try StateCursor(self, from: key)
    }
}

extension StateSnapshot {
    /// The digest of the entries that are really there: each is read, and its hash is added. It tells a run that holds
    /// something else than what was folded, which the digest that is kept with every change cannot tell.
    package func summed() throws(StateError) -> Digest {
        var digest = Digest()
        try forEach(from: []) { key, value throws(StateError) in
            digest.add(key, value)
            return true
        }
        return digest
    }
}
