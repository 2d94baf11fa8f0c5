// The state as an ordered map: recent changes in memory, the rest in runs, newest first. The newest layer that has a
// key decides. A snapshot is a set of layers and a commit; it does not change while the writer continues.

import SynclineGround

/// The layers, newest first.
package struct StateLayers: Sendable {
    /// The table that is written to.
    var active = MemoryTable()
    /// A full table that is being written as a run.
    var full: MemoryTable?
    package internal(set) var runs: [Run] = []
    /// The cache that its runs share.
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

    /// The number of entries in its runs.
    var runEntries: Int { runs.reduce(0) { $0 + $1.root.count } }
    /// The size of the active table in memory.
    package var memorySize: Int { active.size }
}

extension StateLayers {
    /// Returns a key's value as of a commit.
    func value(_ key: UnsafeRawBufferPointer, hash: UInt64, at commit: UInt64) throws(SyncError) -> StateValue? {
        if let recent = recentValue(key, hash: hash, at: commit) { return recent }
        return try value(key, hash: hash, inRunsFrom: 0)
    }

    /// Returns a key's value in the tables in memory, which is nil if it was removed there; nil if they do not have it.
    @inline(__always)
    func recentValue(_ key: UnsafeRawBufferPointer, hash: UInt64, at commit: UInt64) -> StateValue?? {
        switch active.find(key, hash: hash, at: commit) {
        case .value(let bytes): return StateValue(bytes, active)
        case .removed: return .some(nil)
        case .absent: break
        }
        if let full {
            switch full.find(key, hash: hash, at: commit) {
            case .value(let bytes): return StateValue(bytes, full)
            case .removed: return .some(nil)
            case .absent: break
            }
        }
        return nil
    }

    /// Returns a key's value in the runs, without some of the newest.
    func value(_ key: UnsafeRawBufferPointer, hash: UInt64, inRunsFrom first: Int) throws(SyncError) -> StateValue? {
        for run in runs[first...] where run.mayContain(key, hash: hash) {
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

/// The bytes of a value, with the owner of their memory.
package struct StateValue {
    private let bytes: UnsafeRawBufferPointer
    private let owner: AnyObject

    init(_ bytes: UnsafeRawBufferPointer, _ owner: AnyObject) {
        self.bytes = bytes
        self.owner = owner
    }

    /// The bytes. They are valid while this value, or a copy of it, is kept.
    var inPlace: UnsafeRawBufferPointer { bytes }

    /// Calls `body` with the bytes. They are valid only during the call, because this value may be their only owner.
    @inline(__always)
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(owner) }
        return try body(bytes)
    }

    /// A copy of the bytes.
    package var copy: [UInt8] { withBytes { [UInt8]($0) } }
}

/// The state as of a commit. A class, so that handing it on counts one reference and not one for each layer.
package final class StateSnapshot: Sendable {
    let layers: StateLayers
    package let commit: UInt64

    init(_ layers: StateLayers, commit: UInt64) {
        self.layers = layers
        self.commit = commit
    }

    package func value(_ key: UnsafeRawBufferPointer) throws(SyncError) -> StateValue? {
        try layers.value(key, hash: hash64(key), at: commit)
    }

    /// Returns a cursor over the keys from one on.
    package func cursor(from key: UnsafeRawBufferPointer) throws(SyncError) -> StateCursor {
        try StateCursor(self, from: key)
    }
}

extension StateSnapshot {
    /// Returns the number of keys from one to another, without the latter.
    func count(from start: [UInt8], before end: [UInt8]) throws(SyncError) -> Int {
        var place = try start.withBytes { start throws(SyncError) -> StateCursor in try cursor(from: start) }
        return try end.withBytes { end throws(SyncError) -> Int in try place.pass(before: end) }
    }

    /// Computes the digest from all entries. It detects a run whose content is not the folded one, which the digest
    /// updated with every change can't detect.
    package func summed() throws(SyncError) -> Digest {
        var digest = Digest()
        try forEach(from: []) { key, value throws(SyncError) in
            digest.add(key, value)
            return true
        }
        return digest
    }
}
