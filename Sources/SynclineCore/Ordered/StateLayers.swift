// The state as an ordered map: what changed lately in memory, the rest in runs, newest first. The newest layer that knows
// a key decides. A snapshot is a set of layers and a commit; it stays as it is while the writer goes on.

/// The layers, newest first.
package struct StateLayers: Sendable {
    /// The table that is written to.
    var active = MemoryTable()
    /// One that is full and on its way into a run.
    var full: MemoryTable?
    package internal(set) var runs: [Run] = []

    package init(runs: [Run] = []) {
        self.runs = runs
    }

    init(active: MemoryTable, runs: [Run]) {
        self.active = active
        self.runs = runs
    }

    /// How many entries its runs have.
    var runEntries: Int { runs.reduce(0) { $0 + $1.root.count } }
    /// Bytes of memory behind the active table.
    package var memorySize: Int { active.size }
}

extension StateLayers {
    /// A key's value in the layers behind the active table.
    func valueBehindActive(_ key: UnsafeRawBufferPointer, at commit: UInt64) throws(StateError) -> StateValue? {
        if let full {
            switch full.find(key, at: commit) {
            case .value(let bytes): return StateValue(bytes, full)
            case .removed: return nil
            case .absent: break
            }
        }
        if runs.isEmpty { return nil }
        let hash = hash64(key)
        for run in runs where run.mayContain(hash: hash) {
            let (finding, block) = try run.find(key)
            switch finding {
            case .value(let bytes): return block.map { StateValue(bytes, $0) }
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
        switch layers.active.find(key, at: commit) {
        case .value(let bytes): StateValue(bytes, layers.active)
        case .removed: nil
        case .absent: try layers.valueBehindActive(key, at: commit)
        }
    }

    /// Moves through the keys in order, from one on.
    package func cursor(from key: UnsafeRawBufferPointer) throws(StateError) -> StateCursor {
        try StateCursor(self, from: key)
    }
}

/// A place in the state that moves forward in key order.
package struct StateCursor {
    private enum Layer {
        case memory(MemoryTable.Cursor)
        case run(Run.Cursor)

        var key: UnsafeRawBufferPointer? {
            switch self {
            case .memory(let cursor): cursor.key
            case .run(let cursor): cursor.key
            }
        }

        var value: UnsafeRawBufferPointer? {
            switch self {
            case .memory(let cursor): cursor.value
            case .run(let cursor): cursor.value
            }
        }

        mutating func advance() throws(StateError) {
            switch self {
            case .memory(var cursor):
                cursor.advance()
                self = .memory(cursor)
            case .run(var cursor):
                try cursor.advance()
                self = .run(cursor)
            }
        }
    }

    /// Keeps the memory tables.
    private let snapshot: StateSnapshot
    /// Newest first.
    private var layers: [Layer]
    private let showsRemoved: Bool
    /// The layer the current entry comes from.
    private var current: Int?

    init(
        _ snapshot: StateSnapshot, from key: UnsafeRawBufferPointer, showsRemoved: Bool = false
    ) throws(StateError) {
        self.snapshot = snapshot
        self.showsRemoved = showsRemoved
        layers = []
        let tables = [snapshot.layers.active, snapshot.layers.full].compactMap { $0 }
        for table in tables {
            let cursor = MemoryTable.Cursor(table, at: snapshot.commit, from: key)
            if cursor.key != nil { layers.append(.memory(cursor)) }
        }
        for run in snapshot.layers.runs {
            let cursor = try Run.Cursor(run, from: key)
            if cursor.key != nil { layers.append(.run(cursor)) }
        }
        try settle()
    }

    /// The current key; nil at the end. Valid, as the value is, until the cursor moves.
    package var key: UnsafeRawBufferPointer? { current.flatMap { layers[$0].key } }
    /// The current value; nil only where removals are shown.
    package var value: UnsafeRawBufferPointer? { current.flatMap { layers[$0].value } }

    package mutating func advance() throws(StateError) {
        guard let key = self.key, let current else { return }
        // Older values of the same key are hidden by the current one.
        for index in layers.indices where index != current {
            if let other = layers[index].key, other.hasSameBytes(as: key) { try layers[index].advance() }
        }
        try layers[current].advance()
        try settle()
    }

    /// Finds the smallest key, in the newest layer that has it, and steps over removed ones.
    private mutating func settle() throws(StateError) {
        while true {
            current = nil
            var smallest: UnsafeRawBufferPointer?
            for (index, layer) in layers.enumerated() {
                guard let key = layer.key else { continue }
                if let least = smallest, key.compare(least) >= 0 { continue }
                smallest = key
                current = index
            }
            guard let found = current, !showsRemoved, layers[found].value == nil, let key = smallest else { return }
            for index in layers.indices where index != found {
                if let other = layers[index].key, other.hasSameBytes(as: key) { try layers[index].advance() }
            }
            try layers[found].advance()
        }
    }
}
