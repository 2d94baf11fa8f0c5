// The state as an ordered map: recent changes in memory, the rest in runs, newest first. The newest layer that has a
// key decides. A snapshot is a set of layers and a commit; it does not change while the writer continues.

import SynclineGround

/// The layers, newest first.
package struct StateLayers: Sendable {
    /// The table that is written to.
    var active = MemoryTable()
    /// A full table that is being written as a run.
    var full: MemoryTable?
    package internal(set) var runs: [Run] = [] { didSet { hiddenByRuns = HiddenByRuns() } }
    /// What its runs hide of each other.
    private(set) var hiddenByRuns = HiddenByRuns()
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
    /// The symbols of the newest run that has some. New runs use them, too, so that a table is kept for long.
    package var symbols: SymbolTable? { runs.lazy.compactMap(\.symbols).first }
    /// The size of the active table in memory.
    package var memorySize: Int { active.size }

    /// Returns a key's value as of a commit.
    func value(_ key: UnsafeRawBufferPointer, hash: UInt64, at commit: UInt64) throws(SyncError) -> StateValue? {
        if let recent = recentValue(key, hash: hash, at: commit) { return recent }
        return try value(key, hash: hash, inRunsFrom: 0)
    }

    /// Returns a key's value in the tables in memory, which is nil if it was removed there; nil if they do not have it.
    @inline(__always)
    func recentValue(_ key: UnsafeRawBufferPointer, hash: UInt64, at commit: UInt64) -> StateValue?? {
        // Most searches end in a run: only what is found counts a reference.
        let tables = (Unmanaged.passUnretained(active), full.map { Unmanaged.passUnretained($0) })
        switch tables.0._withUnsafeGuaranteedRef({ $0.find(key, hash: hash, at: commit) }) {
        case .value(let bytes): return StateValue(bytes, active)
        case .removed: return .some(nil)
        case .absent: break
        }
        guard let full = tables.1 else { return nil }
        switch full._withUnsafeGuaranteedRef({ $0.find(key, hash: hash, at: commit) }) {
        case .value(let bytes): return StateValue(bytes, full.takeUnretainedValue())
        case .removed: return .some(nil)
        case .absent: return nil
        }
    }

    /// Returns a key's value in the runs, without some of the newest.
    func value(_ key: UnsafeRawBufferPointer, hash: UInt64, inRunsFrom first: Int) throws(SyncError) -> StateValue? {
        for run in runs[first...] where run.mayContain(key, hash: hash) {
            if let found = try run.find(key) { return found }
        }
        return nil
    }
}

/// A value, with the owner of its memory: bytes, or a row of a block in columns. Every change of a transaction keeps two, so
/// it is three words.
package struct StateValue {
    /// Where the bytes are, or the block in columns, which the owner keeps.
    private let start: UnsafeRawPointer?
    /// How many bytes there are; of a row the complement of its number, which is negative.
    private let extent: Int
    private let owner: AnyObject

    init(_ bytes: UnsafeRawBufferPointer, _ owner: AnyObject) {
        (start, extent) = (bytes.baseAddress, bytes.count)
        self.owner = owner
    }

    init(_ row: Int, of block: Unmanaged<ColumnBlock>, _ owner: consuming RunBlock) {
        (start, extent) = (UnsafeRawPointer(block.toOpaque()), ~row)
        self.owner = owner
    }

    /// The block in columns and the number of the row.
    @inline(__always)
    private var place: (block: Unmanaged<ColumnBlock>, row: Int)? {
        guard extent < 0, let start else { return nil }
        return (.fromOpaque(start), ~extent)
    }

    private var bytes: Bytes { Bytes(start: start, count: extent) }

    /// The object that keeps the memory.
    var ownerID: ObjectIdentifier { ObjectIdentifier(owner) }

    /// The value, valid while this one, or a copy of it, is kept, and until the row is moved.
    @inline(__always)
    func view(_ cursor: ColumnRow) -> ValueView {
        guard let place else { return ValueView(bytes) }
        cursor.move(to: place.block, place.row)
        return ValueView(cursor)
    }

    /// Calls `body` with the bytes. They are valid only during the call, because this value may be their only owner. A row
    /// that can't be read has none.
    @inline(__always)
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(owner) }
        if let place { return try withBytes(ofRow: place.row, in: place.block, body) }
        return try body(bytes)
    }

    private func withBytes<Result, Failure: Error>(
        ofRow row: Int, in block: Unmanaged<ColumnBlock>, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        let room = block._withUnsafeGuaranteedRef { block in
            block.prefetchValues(of: row)
            block.prefetchTexts(of: row)
            return block.most
        }
        return try withUnsafeTemporaryAllocation(byteCount: room, alignment: 1) { memory throws(Failure) in
            let length = memory.baseAddress.flatMap { memory in
                block._withUnsafeGuaranteedRef { $0.write(valueOf: row, to: memory) }
            }
            return try body(Bytes(rebasing: memory[..<(length ?? 0)]))
        }
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
