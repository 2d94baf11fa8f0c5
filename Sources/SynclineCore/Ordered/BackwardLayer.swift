// Walks the state from larger keys to smaller ones. Like a cursor that moves forward it has one position for each layer;
// here the largest key counts, and for equal keys that of the newest layer.

import SynclineGround

/// A position in one layer that moves to smaller keys.
class BackwardLayer {
    /// The current key; nil at the end. Like the value, it is valid until the position moves.
    @exclusivity(unchecked) private(set) final var key: Bytes?
    /// The current value; nil if the key was removed.
    @exclusivity(unchecked) private(set) final var value: Bytes?

    init() {}

    /// Moves to the next smaller key.
    func retreat() throws(StateError) { preconditionFailure("a layer knows how to retreat") }

    final func show(_ key: Bytes, _ value: Bytes?) {
        self.key = key
        self.value = value
    }

    final func end() {
        key = nil
        value = nil
    }
}

extension StateSnapshot {
    /// Calls `body` with every entry from the last one before `end` back to `start`, until it returns false.
    func forEachBackward(
        from start: [UInt8], before end: [UInt8], _ body: (Bytes, Bytes) throws(StateError) -> Bool
    ) throws(StateError) {
        let layers = try end.withBytes { end throws(StateError) in try backwardLayers(before: end) }
        while let largest = try StateSnapshot.largest(layers), let key = largest.key {
            guard start.withBytes({ key.compare($0) >= 0 }) else { return }
            if let value = largest.value { guard try body(key, value) else { return } }
            try largest.retreat()
        }
    }

    /// Newest first.
    private func backwardLayers(before end: Bytes) throws(StateError) -> [BackwardLayer] {
        var all: [BackwardLayer] = [MemoryTable.BackwardCursor(layers.active, at: commit, before: end)]
        if let full = layers.full { all.append(MemoryTable.BackwardCursor(full, at: commit, before: end)) }
        for run in layers.runs {
            if let cursor = try Run.BackwardCursor(run, before: end) { all.append(cursor) }
        }
        return all
    }

    /// Returns the layer with the largest key. Layers that have an older value of the same key move past it.
    private static func largest(_ layers: [BackwardLayer]) throws(StateError) -> BackwardLayer? {
        var found: BackwardLayer?
        for layer in layers {
            guard let key = layer.key else { continue }
            guard let largest = found?.key else {
                found = layer
                continue
            }
            let order = key.compare(largest)
            if order > 0 { found = layer } else if order == 0 { try layer.retreat() }
        }
        return found
    }
}
