// An ordered map in memory with one writer and any number of readers that never wait: a skip list whose nodes are never
// moved or removed. A key keeps all its values since the table began, each with the number of the commit that made it,
// and a reader sees the newest value that is not newer than itself.

import Synchronization

/// The part of the state that is not yet in a checkpoint.
final class MemoryTable: @unchecked Sendable {
    // Unchecked, because the compiler can't see the protocol: one writer at a time calls `put`; readers only follow links
    // that were stored with release after what they lead to was complete, and nothing they lead to is ever changed.

    private var arena = Arena()
    private let head: Node
    private var height = 1
    /// The last node on each level: a key behind all others needs no search.
    private var last: [Node]
    private var random: UInt64 = 0x9e37_79b9_7f4a_7c15
    /// Where the key that was looked for last belongs, as long as no other was added since: the usual put needs no search.
    private var path: [Node]
    private let pathKey = KeyBuffer()
    private var pathCount = -1
    /// How many keys it has, removed ones included. Only the writer reads it.
    private(set) var count = 0
    /// Bytes of memory it holds. Only the writer reads it.
    var size: Int { arena.size }

    static let maximumHeight = 14

    init() {
        head = Node(&arena, key: Bytes(start: nil, count: 0), height: MemoryTable.maximumHeight)
        last = Array(repeating: head, count: MemoryTable.maximumHeight)
        path = last
    }

    /// Sets a key's value as of a commit, or marks it as removed. Returns the key as the table keeps it.
    @discardableResult
    func put(_ key: Bytes, _ value: Bytes?, commit: UInt64) -> Bytes {
        let version = Version(&arena, commit: commit, value: value)
        if let found = locate(key) {
            found.push(version)
            return found.key
        }
        return insert(key, version)
    }

    /// The writer's own way to find a key; the place is kept for the put that may follow.
    func findForPut(_ key: Bytes, at commit: UInt64) -> Finding {
        locate(key)?.finding(at: commit) ?? .absent
    }

    /// The node of a key; `path` becomes the nodes before its place, by level.
    private func locate(_ key: Bytes) -> Node? {
        if pathCount == count, pathKey.bytes.hasSameBytes(as: key) {
            guard let next = path[0].next(0), next.key.hasSameBytes(as: key) else { return nil }
            return next
        }
        pathKey.replace(behind: 0, with: key)
        pathCount = count
        if count > 0, key.compare(last[0].key) > 0 {
            for level in 0..<MemoryTable.maximumHeight { path[level] = last[level] }
            return nil
        }
        return search(key)
    }

    private func insert(_ key: Bytes, _ version: Version) -> Bytes {
        let levels = randomHeight()
        height = max(height, levels)
        let node = Node(&arena, key: key, height: levels)
        node.push(version)
        for level in 0..<levels {
            let next = path[level].next(level)
            node.setNext(level, next)
            if next == nil { last[level] = node }
        }
        for level in 0..<levels { path[level].setNext(level, node) }
        count += 1
        return node.key
    }

    /// A quarter of the nodes reach each further level. The choice does not depend on anything but the order of calls.
    private func randomHeight() -> Int {
        random ^= random << 13
        random ^= random >> 7
        random ^= random << 17
        return min(MemoryTable.maximumHeight, 1 + random.trailingZeroBitCount / 2)
    }

    private func search(_ key: Bytes) -> Node? {
        var node = head
        var candidate: Node?
        for level in stride(from: MemoryTable.maximumHeight - 1, through: height, by: -1) { path[level] = head }
        for level in stride(from: height - 1, through: 0, by: -1) {
            while let next = node.next(level) {
                // The node that stopped the level above would stop this one too.
                if next == candidate { break }
                if next.key.compare(key) >= 0 {
                    candidate = next
                    break
                }
                node = next
            }
            path[level] = node
        }
        guard let candidate, candidate.key.hasSameBytes(as: key) else { return nil }
        return candidate
    }

    // MARK: Reading

    /// What a table says of a key.
    enum Finding {
        case absent
        case removed
        case value(Bytes)
    }

    func find(_ key: Bytes, at commit: UInt64) -> Finding {
        guard let node = first(notBefore: key), node.key.hasSameBytes(as: key) else { return .absent }
        return node.finding(at: commit)
    }

    fileprivate func first(notBefore key: Bytes) -> Node? {
        var node = head
        var candidate: Node?
        for level in stride(from: MemoryTable.maximumHeight - 1, through: 0, by: -1) {
            while let next = node.next(level) {
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

    /// Moves through the keys in order, seeing what was there as of a commit.
    struct Cursor {
        private let table: MemoryTable
        private let commit: UInt64
        private var node: Node?

        init(_ table: MemoryTable, at commit: UInt64, from key: Bytes) {
            self.table = table
            self.commit = commit
            node = table.first(notBefore: key)
            skipUnborn()
        }

        /// Keys that are newer than the reader are not there.
        private mutating func skipUnborn() {
            while let node, case .absent = node.finding(at: commit) { self.node = node.next(0) }
        }

        var key: Bytes? { node?.key }

        /// The value; nil where the key was removed.
        var value: Bytes? {
            if case .value(let value)? = node?.finding(at: commit) { return value }
            return nil
        }

        mutating func advance() {
            node = node?.next(0)
            skipUnborn()
        }
    }
}

/// A key: its newest version, its links, then its bytes.
private struct Node: Equatable {
    private let start: UnsafeMutableRawPointer

    // Bytes 0…7 newest version · 8…11 key length · 12…15 height · then a link a level · then the key.
    private typealias Link = Atomic<UInt>

    init(_ arena: inout Arena, key: Bytes, height: Int) {
        start = arena.allocate(16 + 8 * height + key.count)
        start.storeBytes(of: UInt32(key.count), toByteOffset: 8, as: UInt32.self)
        start.storeBytes(of: UInt32(height), toByteOffset: 12, as: UInt32.self)
        start.initializeMemory(as: UInt.self, repeating: 0, count: 1)
        (start + 16).initializeMemory(as: UInt.self, repeating: 0, count: height)
        if let bytes = key.baseAddress { (start + 16 + 8 * height).copyMemory(from: bytes, byteCount: key.count) }
    }

    private init(start: UnsafeMutableRawPointer) {
        self.start = start
    }

    @inline(__always)
    private func link(at offset: Int) -> UnsafeMutablePointer<Link> {
        (start + offset).assumingMemoryBound(to: Link.self)
    }

    @inline(__always)
    func next(_ level: Int) -> Node? {
        UnsafeMutableRawPointer(bitPattern: link(at: 16 + 8 * level).pointee.load(ordering: .acquiring))
            .map { Node(start: $0) }
    }

    @inline(__always)
    func setNext(_ level: Int, _ node: Node?) {
        link(at: 16 + 8 * level).pointee.store(node.map { UInt(bitPattern: $0.start) } ?? 0, ordering: .releasing)
    }

    @inline(__always)
    var key: Bytes {
        let length = start.load(fromByteOffset: 8, as: UInt32.self)
        let height = start.load(fromByteOffset: 12, as: UInt32.self)
        return Bytes(start: start + 16 + 8 * Int(height), count: Int(length))
    }

    /// Makes a version the newest; one of the same commit takes the place of the other in what readers see.
    func push(_ version: Version) {
        version.setOlder(UnsafeMutableRawPointer(bitPattern: link(at: 0).pointee.load(ordering: .relaxed)))
        link(at: 0).pointee.store(UInt(bitPattern: version.start), ordering: .releasing)
    }

    func finding(at commit: UInt64) -> MemoryTable.Finding {
        var address = UnsafeMutableRawPointer(bitPattern: link(at: 0).pointee.load(ordering: .acquiring))
        while let start = address {
            let version = Version(start: start)
            if version.commit <= commit { return version.value.map { .value($0) } ?? .removed }
            address = version.older
        }
        return .absent
    }
}

/// A value of a key: bytes 0…7 commit · 8…15 the version before · 16…23 length, all ones where the key was removed ·
/// then the value.
private struct Version {
    let start: UnsafeMutableRawPointer

    private static let removed = UInt64.max

    init(_ arena: inout Arena, commit: UInt64, value: Bytes?) {
        start = arena.allocate(24 + (value?.count ?? 0))
        start.storeBytes(of: commit, as: UInt64.self)
        start.storeBytes(of: value.map { UInt64($0.count) } ?? Version.removed, toByteOffset: 16, as: UInt64.self)
        if let value, let bytes = value.baseAddress {
            (start + 24).copyMemory(from: bytes, byteCount: value.count)
        }
    }

    init(start: UnsafeMutableRawPointer) {
        self.start = start
    }

    func setOlder(_ older: UnsafeMutableRawPointer?) {
        start.storeBytes(of: UInt(bitPattern: older), toByteOffset: 8, as: UInt.self)
    }

    var commit: UInt64 { start.load(as: UInt64.self) }

    var older: UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: start.load(fromByteOffset: 8, as: UInt.self))
    }

    var value: Bytes? {
        let length = start.load(fromByteOffset: 16, as: UInt64.self)
        return length == Version.removed ? nil : Bytes(start: start + 24, count: Int(length))
    }
}
