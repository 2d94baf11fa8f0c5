// A position in the state that moves forward in key order. It has one cursor for each layer; the smallest key
// counts, and for equal keys that of the newest layer.

import SynclineGround

/// A position in one layer, which moves forward or backward.
class LayerCursor {
    /// The current key; nil at the end. Like the value, it is valid until the cursor moves.
    @exclusivity(unchecked) private(set) final var key: Bytes?
    /// The current value as it is stored; nil if the key was removed.
    @exclusivity(unchecked) private(set) final var view: ValueView?
    /// The same in bytes.
    final var value: Bytes? { view?.plain }

    init() {}

    /// Moves to the next key in its direction.
    func advance() throws(SyncError) { preconditionFailure("a layer knows how to advance") }

    /// The current row and those that follow it in its block before a key, if there is one; nil if it is in no block in
    /// columns.
    func stretch(before limit: Bytes?) -> ColumnStretch? { nil }

    /// Moves to another row of the stretch, which is not shown.
    func skip(to row: Int) {}

    /// Moves to the first key that is not before another. Returns how many of the keys passed have a value.
    func pass(before limit: Bytes) throws(SyncError) -> Int {
        var count = 0
        while let key, key.compare(limit) < 0 {
            if view != nil { count += 1 }
            try advance()
        }
        return count
    }

    /// Calls `body` with each key before a limit, if there is one, and its value, unless the key was removed, until it
    /// returns false. Returns false if it did. Otherwise the first key that is not before the limit is the current one.
    /// - Parameter filter: Blocks in columns leave out rows that it does not want.
    func visit(
        before limit: Bytes?, _ filter: (any ColumnFilter)?, _ body: (Bytes, ValueView) throws(SyncError) -> Bool
    ) throws(SyncError) -> Bool {
        while let key {
            if let limit, key.compare(limit) >= 0 { break }
            if let view, try !body(key, view) { return false }
            try advance()
        }
        return true
    }

    final func show(_ key: Bytes, _ value: Bytes?) { show(key, view: value.map { ValueView($0) }) }

    final func show(_ key: Bytes, view: ValueView?) {
        self.key = key
        self.view = view
    }

    final func end() {
        key = nil
        view = nil
    }
}

package struct StateCursor {
    /// Where a layer is.
    private struct Place {
        let layer: LayerCursor
        /// 0 for the newest layer.
        let age: Int
        /// The layer's key, for all but the current one.
        var key: Bytes?
    }

    /// The layers that are not at their end, in the order of their keys, which differ. The first is the current one.
    private var places: [Place] = []
    private let showsRemoved: Bool
    /// The layer of the first place, which retains it.
    private var current: Unmanaged<LayerCursor>?
    /// The key of the second place.
    private var rival: Bytes?
    /// The current key; nil at the end. Like the value, it is valid until the cursor moves.
    package var key: UnsafeRawBufferPointer? { current?._withUnsafeGuaranteedRef { $0.key } ?? nil }
    /// The current value; nil only if removals are shown.
    package var value: UnsafeRawBufferPointer? { view?.plain }
    /// The same as it is stored.
    var view: ValueView? { current?._withUnsafeGuaranteedRef { $0.view } ?? nil }

    init(
        _ snapshot: StateSnapshot, from key: UnsafeRawBufferPointer, showsRemoved: Bool = false,
        keepsBlocks: Bool = true
    ) throws(SyncError) {
        self.showsRemoved = showsRemoved
        places.reserveCapacity(2 + snapshot.layers.runs.count)
        add(snapshot.layers.active, at: snapshot.commit, from: key, age: 0)
        if let full = snapshot.layers.full { add(full, at: snapshot.commit, from: key, age: 1) }
        for number in snapshot.layers.runs.indices {
            let cursor = try Run.Cursor(snapshot.layers.runs[number], from: key, keepsBlocks: keepsBlocks)
            if let cursor { places.append(Place(layer: cursor, age: 2 + number)) }
        }
        for place in places.indices.dropFirst().reversed() { try sort(from: place) }
        try settle()
    }

    private mutating func add(_ table: MemoryTable, at commit: UInt64, from key: Bytes, age: Int) {
        if table.isEmpty { return }
        places.append(Place(layer: MemoryTable.Cursor(table, at: commit, from: key), age: age))
    }

    package mutating func advance() throws(SyncError) {
        guard let current else { return }
        repeat {
            try current.borrowed { layer throws(SyncError) in try layer.advance() }
            guard let key else { return try settle() }
            if let rival, key.compare(rival) >= 0 { return try settle() }
        } while view == nil && !showsRemoved
    }

    /// The current row and those that follow it with no other entry between them; nil if it is in no block in columns.
    func stretch() -> ColumnStretch? { current?._withUnsafeGuaranteedRef { $0.stretch(before: rival) } ?? nil }

    /// Moves to another row of the stretch, which is not shown.
    func skip(to row: Int) { current?._withUnsafeGuaranteedRef { $0.skip(to: row) } }

    /// Moves to the first key that is not before another. Returns the number of keys passed.
    mutating func pass(before end: Bytes) throws(SyncError) -> Int {
        var count = 0
        while let current, let key, key.compare(end) < 0 {
            let limit = rival.map { $0.compare(end) < 0 ? $0 : end } ?? end
            count += try current.takeUnretainedValue().pass(before: limit)
            try settle()
        }
        return count
    }

    /// Calls `body` with each key before a limit, if there is one, and its value, until it returns false. The cursor can't
    /// be used afterwards.
    mutating func visit(
        before limit: Bytes?, _ filter: (any ColumnFilter)? = nil,
        _ body: (Bytes, ValueView) throws(SyncError) -> Bool
    ) throws(SyncError) {
        while let current, let key {
            var end = limit
            if let limit {
                if key.compare(limit) >= 0 { return }
                if let rival, rival.compare(limit) < 0 { end = rival }
            } else {
                end = rival
            }
            let goesOn = try current.borrowed { layer throws(SyncError) in try layer.visit(before: end, filter, body) }
            guard goesOn else { return }
            try settle()
        }
    }

    /// Finds the smallest key after the current layer has moved, and skips removed ones.
    private mutating func settle() throws(SyncError) {
        repeat {
            try sort(from: 0)
            current = places.isEmpty ? nil : .passUnretained(places[0].layer)
            rival = places.count > 1 ? places[1].key : nil
            guard let current, view == nil, !showsRemoved else { return }
            try current.borrowed { layer throws(SyncError) in try layer.advance() }
        } while true
    }

    /// Moves a layer to its place among those after it, which are sorted. One at its end is removed.
    private mutating func sort(from start: Int) throws(SyncError) {
        let end = try places.withUnsafeMutableBufferPointer { places throws(SyncError) -> Int? in
            var index = start
            while index < places.count, let key = places[index].layer.key {
                places[index].key = key
                guard index + 1 < places.count, let next = places[index + 1].key else { return nil }
                let order = key.compare(next)
                if order < 0 { return nil }
                if order > 0 {
                    places.swapAt(index, index + 1)
                    index += 1
                } else {
                    // The older value of the same key is hidden.
                    if places[index].age < places[index + 1].age { places.swapAt(index, index + 1) }
                    try places[index].layer.advance()
                }
            }
            return index
        }
        if let end, end < places.count { places.remove(at: end) }
    }
}
