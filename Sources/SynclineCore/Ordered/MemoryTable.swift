// A map in memory with one writer and any number of readers that never wait for it: a hash table finds keys, a skip
// list keeps them in order. A key keeps all its values since the table was created, each with the number of its
// commit, and a reader sees the newest value that is not newer than itself. New keys are sorted only when a reader
// needs the order, and that reader sorts them, so the writer never searches.

import SynclineGround

/// The part of the state that is not yet in a checkpoint.
final class MemoryTable: @unchecked Sendable {
    // Unchecked, because the compiler can't verify the protocol. One writer at a time calls `put`. Readers only
    // follow links that were stored with release after their targets were complete, and the targets never change.
    // The skip list is changed under a lock of its own, and read without.

    @exclusivity(unchecked) private var arena = Arena()
    @exclusivity(unchecked) private var random: UInt64 = 0x9e37_79b9_7f4a_7c15
    private let index = NodeIndex()
    /// The keys that are not sorted yet, newest first.
    private let waiting = Atomic<UInt>(0)
    /// 1 once it has a key.
    private let used = Atomic<UInt>(0)
    private let order: Mutex<NodeOrder>
    private let head: Node
    /// The size of its memory in bytes. Only the writer reads it.
    var size: Int { arena.size + index.size }

    init() {
        let head = Node(&arena, key: Bytes(start: nil, count: 0), height: NodeOrder.maximumHeight)
        self.head = head
        order = Mutex(NodeOrder(head.start))
    }

    /// Sets a key's value as of a commit, or marks it as removed. Returns the table's copy of the key.
    @discardableResult
    func put(_ key: Bytes, _ value: Bytes?, hash: UInt64, commit: UInt64) -> Bytes {
        let version = Version(&arena, commit: commit, value: value)
        if let found = index.find(key, hash) {
            found.push(version)
            return found.key
        }
        let node = Node(&arena, key: key, height: randomHeight())
        node.push(version)
        index.add(node, hash)
        if index.count == 1 { used.store(1, ordering: .releasing) }
        var newest = waiting.load(ordering: .relaxed)
        while true {
            node.setWaiting(newest)
            let (isDone, other) = waiting.weakCompareExchange(
                expected: newest, desired: UInt(bitPattern: node.start), ordering: .acquiringAndReleasing)
            if isDone { return node.key }
            newest = other
        }
    }

    /// A quarter of the nodes reach each further level. The choice depends only on the order of calls.
    private func randomHeight() -> Int {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return min(NodeOrder.maximumHeight, 1 + random.trailingZeroBitCount / 2)
    }

    // MARK: Reading

    /// The result of looking up a key.
    enum Finding {
        case absent
        case removed
        case value(Bytes)
    }

    @inline(__always)
    func find(_ key: Bytes, hash: UInt64, at commit: UInt64) -> Finding {
        isEmpty ? .absent : index.find(key, hash)?.finding(at: commit) ?? .absent
    }

    /// Whether it has no key that a reader can see. A reader sees the first key's mark, because it was made before the
    /// reader's commit was published.
    var isEmpty: Bool { used.load(ordering: .acquiring) == 0 }

    /// Returns the first key that is not before another, of all keys at this point.
    fileprivate func first(notBefore key: Bytes) -> Node? {
        sortWaiting()
        return NodeOrder.first(notBefore: key, from: head)
    }

    private func sortWaiting() {
        order.withLock { $0.add(waiting: Node(bitPattern: waiting.exchange(0, ordering: .acquiring))) }
    }

    /// Moves through the keys from larger to smaller ones, with their values as of a commit. Nodes have no link to
    /// the one before, so each step is a search.
    final class BackwardCursor: LayerCursor {
        /// Retains the memory.
        private let table: MemoryTable
        private let commit: UInt64

        init(_ table: MemoryTable, at commit: UInt64, before key: Bytes) {
            self.table = table
            self.commit = commit
            super.init()
            table.sortWaiting()
            settle(before: key)
        }

        override func advance() {
            if let key { settle(before: key) }
        }

        private func settle(before key: Bytes) {
            var found = NodeOrder.last(before: key, from: table.head)
            while let node = found {
                switch node.finding(at: commit) {
                // A key that is newer than the reader.
                case .absent: found = NodeOrder.last(before: node.key, from: table.head)
                case .removed: return show(node.key, nil)
                case .value(let value): return show(node.key, value)
                }
            }
            end()
        }
    }

    /// Moves through the keys in order, with their values as of a commit.
    final class Cursor: LayerCursor {
        /// Retains the memory.
        private let table: MemoryTable
        /// A newer table, whose keys are left out.
        private let newer: MemoryTable?
        private let commit: UInt64
        @exclusivity(unchecked) private var node: Node?

        init(_ table: MemoryTable, at commit: UInt64, from key: Bytes, below newer: MemoryTable? = nil) {
            (self.table, self.newer, self.commit) = (table, newer, commit)
            node = table.first(notBefore: key)
            super.init()
            settle()
        }

        /// Skips keys that are newer than the reader, or hidden.
        private func settle() {
            while let node {
                switch isHidden(node.key) ? .absent : node.finding(at: commit) {
                case .absent: self.node = node.next(0)
                case .removed: return show(node.key, nil)
                case .value(let value): return show(node.key, value)
                }
            }
            end()
        }

        @inline(__always)
        private func isHidden(_ key: Bytes) -> Bool {
            guard let newer else { return false }
            if case .absent = newer.find(key, hash: hash64(key), at: commit) { return false }
            return true
        }

        override func advance() {
            node = node?.next(0)
            settle()
        }
    }
}
