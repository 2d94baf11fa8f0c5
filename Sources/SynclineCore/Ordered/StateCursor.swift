// A position in the state that moves forward in key order. It has one cursor for each layer; the smallest key
// counts, and for equal keys that of the newest layer.

import SynclineGround

/// A position in one layer, which moves forward or backward.
class LayerCursor {
    /// The current key; nil at the end. Like the value, it is valid until the cursor moves.
    @exclusivity(unchecked) private(set) final var key: Bytes?
    /// The current value; nil if the key was removed.
    @exclusivity(unchecked) private(set) final var value: Bytes?

    init() {}

    /// Moves to the next key in its direction.
    func advance() throws(StateError) { preconditionFailure("a layer knows how to advance") }

    /// Moves to the first key that is not before another. Returns how many of the keys passed have a value.
    func pass(before limit: Bytes) throws(StateError) -> Int {
        var count = 0
        while let key, key.compare(limit) < 0 {
            if value != nil { count += 1 }
            try advance()
        }
        return count
    }

    final func show(_ key: Bytes, _ value: Bytes?) {
        self.key = key
        self.value = value
    }

    final func end() {
        key = nil
        value = nil
    }
}

package struct StateCursor {
    /// Newest first. They retain what they read.
    private var layers: [LayerCursor]
    private let showsRemoved: Bool
    /// The layer of the current entry, retained by `layers`.
    private var current: Unmanaged<LayerCursor>?
    /// The smallest key of the other layers, which is after the current one.
    private var rival: Bytes?
    /// The current key; nil at the end. Like the value, it is valid until the cursor moves.
    package var key: UnsafeRawBufferPointer? { current?._withUnsafeGuaranteedRef { $0.key } ?? nil }
    /// The current value; nil only if removals are shown.
    package var value: UnsafeRawBufferPointer? { current?._withUnsafeGuaranteedRef { $0.value } ?? nil }

    init(
        _ snapshot: StateSnapshot, from key: UnsafeRawBufferPointer, showsRemoved: Bool = false,
        keepsBlocks: Bool = true
    ) throws(StateError) {
        self.showsRemoved = showsRemoved
        layers = []
        layers.reserveCapacity(2 + snapshot.layers.runs.count)
        add(snapshot.layers.active, at: snapshot.commit, from: key)
        if let full = snapshot.layers.full { add(full, at: snapshot.commit, from: key) }
        for run in snapshot.layers.runs {
            if let cursor = try Run.Cursor(run, from: key, keepsBlocks: keepsBlocks), cursor.key != nil {
                layers.append(cursor)
            }
        }
        try settle()
    }

    private mutating func add(_ table: MemoryTable, at commit: UInt64, from key: Bytes) {
        if table.isEmpty { return }
        let cursor = MemoryTable.Cursor(table, at: commit, from: key)
        if cursor.key != nil { layers.append(cursor) }
    }

    package mutating func advance() throws(StateError) {
        guard let current else { return }
        repeat {
            try current.borrowed { layer throws(StateError) in try layer.advance() }
            guard let key else { return try settle() }
            if let rival, key.compare(rival) >= 0 { return try settle() }
        } while value == nil && !showsRemoved
    }

    /// Moves to the first key that is not before another. Returns the number of keys passed.
    mutating func pass(before end: Bytes) throws(StateError) -> Int {
        var count = 0
        while let current, let key, key.compare(end) < 0 {
            let limit = rival.map { $0.compare(end) < 0 ? $0 : end } ?? end
            count += try current.takeUnretainedValue().pass(before: limit)
            try settle()
        }
        return count
    }

    /// Finds the smallest key, in the newest layer that has it, and skips removed ones.
    private mutating func settle() throws(StateError) {
        repeat {
            var found: LayerCursor?
            rival = nil
            for layer in layers {
                guard let key = layer.key else { continue }
                guard let smallest = found?.key else {
                    found = layer
                    continue
                }
                let order = key.compare(smallest)
                if order < 0 {
                    rival = smallest
                    found = layer
                    continue
                }
                // An older value of the same key is hidden.
                if order == 0 { try layer.advance() }
                guard let next = layer.key else { continue }
                if rival.map({ next.compare($0) < 0 }) ?? true { rival = next }
            }
            current = found.map { .passUnretained($0) }
            guard let found, value == nil, !showsRemoved else { return }
            try found.advance()
        } while true
    }
}
