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

/// A value, with the owner of its memory: bytes, or a row of a block in columns.
package struct StateValue {
    private let bytes: UnsafeRawBufferPointer
    private let owner: AnyObject
    /// The block in columns, which the owner keeps, and the row's number there.
    private let columns: Unmanaged<ColumnBlock>?
    private let row: Int

    init(_ bytes: UnsafeRawBufferPointer, _ owner: AnyObject) {
        self.bytes = bytes
        self.owner = owner
        (columns, row) = (nil, 0)
    }

    init(_ row: Int, of block: Unmanaged<ColumnBlock>, _ owner: consuming RunBlock) {
        bytes = Bytes(start: nil, count: 0)
        self.owner = owner
        (columns, self.row) = (block, row)
    }

    /// The object that keeps the memory.
    var ownerID: ObjectIdentifier { ObjectIdentifier(owner) }

    /// The value, valid while this one, or a copy of it, is kept, and until the row is moved.
    @inline(__always)
    func view(_ place: ColumnRow) -> ValueView {
        guard let columns else { return ValueView(bytes) }
        place.move(to: columns, row)
        return ValueView(place)
    }

    /// Calls `body` with the bytes. They are valid only during the call, because this value may be their only owner. A row
    /// that can't be read has none.
    @inline(__always)
    package func withBytes<Result, Failure: Error>(
        _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        defer { extendLifetime(owner) }
        if let columns { return try withBytes(of: columns, body) }
        return try body(bytes)
    }

    private func withBytes<Result, Failure: Error>(
        of columns: Unmanaged<ColumnBlock>, _ body: (UnsafeRawBufferPointer) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        var writer = ByteWriter(capacity: 256)
        columns._withUnsafeGuaranteedRef { block in
            block.prefetchValues(of: row)
            block.prefetchTexts(of: row)
            if !block.append(valueOf: row, to: &writer) { writer.removeAll() }
        }
        return try writer.withView(body)
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
