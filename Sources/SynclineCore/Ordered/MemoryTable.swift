// A map in memory with one writer and any number of readers that never wait for it: a hash table finds keys, a skip list
// has them in order. A key keeps all its values since the table began, each with the number of the commit that made it,
// and a reader sees the newest value that is not newer than itself. New keys wait to be put in order until somebody asks
// for an order: whoever does sorts them, so the writer never searches.

import Synchronization

/// The part of the state that is not yet in a checkpoint.
final class MemoryTable: @unchecked Sendable {
    // Unchecked, because the compiler can't see the protocol: one writer at a time calls `put`; readers only follow links
    // that were stored with release after what they lead to was complete, and nothing they lead to is ever changed. The
    // skip list is changed under a lock of its own, and followed without.

    @exclusivity(unchecked) private var arena = Arena()
    @exclusivity(unchecked) private var random: UInt64 = 0x9e37_79b9_7f4a_7c15
    private let index = NodeIndex()
    /// The keys that are not in order yet, newest first.
    private let waiting = Atomic<UInt>(0)
    private let order: Mutex<NodeOrder>
    private let head: Node
    /// How many keys it has, removed ones included. Only the writer reads it.
    var count: Int { index.count }
    /// Bytes of memory it holds. Only the writer reads it.
    var size: Int { arena.size + index.size }

    init() {
        let head = Node(&arena, key: Bytes(start: nil, count: 0), height: NodeOrder.maximumHeight)
        self.head = head
        order = Mutex(NodeOrder(head.start))
    }

    /// Sets a key's value as of a commit, or marks it as removed. Returns the key as the table keeps it.
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
        var newest = waiting.load(ordering: .relaxed)
        while true {
            node.setWaiting(newest)
            let (isDone, other) = waiting.weakCompareExchange(
                expected: newest, desired: UInt(bitPattern: node.start), ordering: .acquiringAndReleasing)
            if isDone { return node.key }
            newest = other
        }
    }

    /// A quarter of the nodes reach each further level. The choice does not depend on anything but the order of calls.
    private func randomHeight() -> Int {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return min(NodeOrder.maximumHeight, 1 + random.trailingZeroBitCount / 2)
    }

    // MARK: Reading

    /// What a table says of a key.
    enum Finding {
        case absent
        case removed
        case value(Bytes)
    }

    func find(_ key: Bytes, hash: UInt64, at commit: UInt64) -> Finding {
        index.find(key, hash)?.finding(at: commit) ?? .absent
    }

    /// The first key that does not come before one, of all keys there are by now.
    fileprivate func first(notBefore key: Bytes) -> Node? {
        order.withLock { $0.add(waiting: Node(bitPattern: waiting.exchange(0, ordering: .acquiring))) }
        return NodeOrder.first(notBefore: key, behind: head)
    }

    /// Moves through the keys in order, seeing what was there as of a commit.
    final class Cursor: LayerCursor {
        /// Keeps the memory.
        private let table: MemoryTable
        private let commit: UInt64
        @exclusivity(unchecked) private var node: Node?

        init(_ table: MemoryTable, at commit: UInt64, from key: Bytes) {
            self.table = table
            self.commit = commit
            node = table.first(notBefore: key)
            super.init()
            settle()
        }

        /// Keys that are newer than the reader are not there.
        private func settle() {
            while let node {
                switch node.finding(at: commit) {
                case .absent: self.node = node.next(0)
                case .removed: return show(node.key, nil)
                case .value(let value): return show(node.key, value)
                }
            }
            end()
        }

        override func advance() {
            node = node?.next(0)
            settle()
        }
    }
}
