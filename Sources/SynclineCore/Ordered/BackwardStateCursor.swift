// A position in the state that moves from larger keys to smaller ones. Like a cursor that moves forward it has one position
// for each layer; here the largest key counts, and for equal keys that of the newest layer.

import SynclineGround

struct BackwardStateCursor {
    /// Newest first.
    private let layers: [LayerCursor]
    private var current: LayerCursor?
    /// The current key; nil at the end. Like the value, it is valid until the cursor moves.
    private(set) var key: Bytes?
    private(set) var value: Bytes?

    /// Begins at the last entry before a key.
    init(_ snapshot: StateSnapshot, before end: Bytes) throws(SyncError) {
        layers = try BackwardStateCursor.layers(of: snapshot, before: end)
        try settle()
    }

    mutating func advance() throws(SyncError) {
        try current?.advance()
        try settle()
    }

    /// Finds the largest key that was not removed.
    private mutating func settle() throws(SyncError) {
        while let largest = try BackwardStateCursor.largest(layers) {
            (current, key, value) = (largest, largest.key, largest.value)
            if value != nil { return }
            try largest.advance()
        }
        (current, key, value) = (nil, nil, nil)
    }

    fileprivate static func layers(of snapshot: StateSnapshot, before end: Bytes) throws(SyncError) -> [LayerCursor] {
        let (layers, commit) = (snapshot.layers, snapshot.commit)
        var all: [LayerCursor] = []
        if !layers.active.isEmpty { all.append(MemoryTable.BackwardCursor(layers.active, at: commit, before: end)) }
        if let full = layers.full, !full.isEmpty {
            all.append(MemoryTable.BackwardCursor(full, at: commit, before: end))
        }
        for run in layers.runs {
            if let cursor = try Run.BackwardCursor(run, before: end) { all.append(cursor) }
        }
        return all
    }

    /// Returns the layer with the largest key. Layers that have an older value of the same key move past it.
    static func largest(_ layers: [LayerCursor]) throws(SyncError) -> LayerCursor? {
        if layers.count == 1 { return layers[0].key == nil ? nil : layers[0] }
        var found: LayerCursor?
        for layer in layers {
            guard let key = layer.key else { continue }
            guard let largest = found?.key else {
                found = layer
                continue
            }
            let order = key.compare(largest)
            if order > 0 { found = layer } else if order == 0 { try layer.advance() }
        }
        return found
    }
}

extension StateSnapshot {
    /// Calls `body` with every entry from the last one before `end` back to `start`, until it returns false.
    func forEachBackward(
        from start: [UInt8], before end: [UInt8], _ body: (Bytes, Bytes) throws(SyncError) -> Bool
    ) throws(SyncError) {
        let layers = try end.withBytes { end throws(SyncError) in
            try BackwardStateCursor.layers(of: self, before: end)
        }
        try start.withBytes { start throws(SyncError) in
            while let largest = try BackwardStateCursor.largest(layers), let key = largest.key {
                guard key.compare(start) >= 0 else { return }
                if let value = largest.value { guard try body(key, value) else { return } }
                try largest.advance()
            }
        }
    }
}
