// The order of a memory table's keys: a skip list whose nodes are never moved or removed. One thread at a time adds
// nodes, many at once in their own order, so that most positions are close to the previous one; readers may follow
// at any time.

struct NodeOrder {
    static let maximumHeight = 14

    /// The last node on each level: a key after all others needs no search.
    private var last: [Node]
    /// The nodes before the position found last, by level.
    private var path: [Node]
    private let head: Node

    init(_ head: UnsafeMutableRawPointer) {
        self.head = Node(start: head)
        last = Array(repeating: self.head, count: NodeOrder.maximumHeight)
        path = last
    }

    /// A node with the first bytes of its key as numbers, which decide most comparisons.
    private struct Item {
        let high: UInt64
        let low: UInt64
        let node: Node

        init(_ node: Node) {
            self.node = node
            let key = node.key
            high = Item.word(key, at: 0)
            low = Item.word(key, at: 8)
        }

        private static func word(_ key: Bytes, at offset: Int) -> UInt64 {
            if key.count >= offset + 8 {
                return UInt64(bigEndian: key.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
            }
            var word: UInt64 = 0
            for place in offset..<offset + 8 { word = word << 8 | (place < key.count ? UInt64(key[place]) : 0) }
            return word
        }

        func isBefore(_ other: Item) -> Bool {
            if high != other.high { return high < other.high }
            if low != other.low { return low < other.low }
            return node.key.compare(other.node.key) < 0
        }
    }

    /// Adds the waiting nodes, given the newest of them.
    mutating func add(waiting newest: Node?) {
        guard let newest else { return }
        var items: [Item] = []
        var next: Node? = newest
        while let node = next {
            items.append(Item(node))
            next = node.waiting
        }
        // Restores the order in which the keys were made.
        items.reverse()
        items.sort { $0.isBefore($1) }
        for level in 0..<NodeOrder.maximumHeight { path[level] = head }
        for item in items { add(item.node) }
    }

    /// Adds a node whose key comes after the previous one's.
    private mutating func add(_ node: Node) {
        let key = node.key
        if last[0] == head || last[0].key.compare(key) < 0 {
            for level in 0..<NodeOrder.maximumHeight { path[level] = last[level] }
        } else {
            search(key)
        }
        for level in 0..<node.height {
            let next = path[level].next(level)
            node.setNext(level, next)
            if next == nil { last[level] = node }
        }
        for level in 0..<node.height {
            path[level].setNext(level, node)
            path[level] = node
        }
    }

    /// Moves the path to the position of a later key.
    private mutating func search(_ key: Bytes) {
        var moved: Node?
        for level in stride(from: NodeOrder.maximumHeight - 1, through: 0, by: -1) {
            var node = moved ?? path[level]
            while let next = node.next(level), next.key.compare(key) < 0 {
                node = next
                moved = next
            }
            path[level] = node
        }
    }

    /// Returns the last node whose key is before another; nil if there is none.
    static func last(before key: Bytes, from head: Node) -> Node? {
        var node = head
        for level in stride(from: maximumHeight - 1, through: 0, by: -1) {
            while let next = node.next(level), next.key.compare(key) < 0 { node = next }
        }
        return node == head ? nil : node
    }

    /// Returns the first node after the head whose key is not before another.
    static func first(notBefore key: Bytes, from head: Node) -> Node? {
        var node = head
        var candidate: Node?
        for level in stride(from: maximumHeight - 1, through: 0, by: -1) {
            while let next = node.next(level) {
                // The node that stopped the level above would stop this one too.
                if next == candidate { break }
                if next.key.compare(key) >= 0 {
                    candidate = next
                    break
                }
                node = next
            }
        }
        return candidate
    }
}
