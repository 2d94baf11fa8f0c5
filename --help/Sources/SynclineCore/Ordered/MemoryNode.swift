// The parts of a memory table: a node for each key, and its versions. Both are bytes in an arena that never move.
// Links that readers follow are atomic.

/// A key: its newest version, its links, then its bytes.
struct Node: Equatable {
    let start: UnsafeMutableRawPointer

    // Bytes 0…7 newest version · 8…11 key length · 12…15 height · 16…23 the next that waits to be put in order · then a
    // link a level · then the key.
    init(_ arena: inout Arena, key: Bytes, height: Int) {
        start = arena.allocate(24 + 8 * height + key.count)
        start.storeBytes(of: UInt32(key.count), toByteOffset: 8, as: UInt32.self)
        start.storeBytes(of: UInt32(height), toByteOffset: 12, as: UInt32.self)
        start.initializeMemory(as: UInt64.self, repeating: 0, count: 1)
        (start + 16).initializeMemory(as: UInt64.self, repeating: 0, count: 1 + height)
        if let bytes = key.baseAddress { (start + 24 + 8 * height).copyMemory(from: bytes, byteCount: key.count) }
    }

    init(start: UnsafeMutableRawPointer) {
        self.start = start
    }

    /// Nil for zero.
    init?(bitPattern address: UInt) {
        guard let start = UnsafeMutableRawPointer(bitPattern: address) else { return nil }
        self.start = start
    }

    private var newest: AtomicLink {
        @inline(__always) get { AtomicLink(at: start) }
    }

    @inline(__always)
    private func link(_ level: Int) -> AtomicLink { AtomicLink(at: start + 24 + 8 * level) }

    var height: Int { Int(start.load(fromByteOffset: 12, as: UInt32.self)) }

    @inline(__always)
    func next(_ level: Int) -> Node? { link(level).target.map { Node(start: $0) } }

    @inline(__always)
    func setNext(_ level: Int, _ node: Node?) { link(level).set(node?.start) }

    /// The next node that waits to be sorted; only the thread that took the whole list follows this link.
    var waiting: Node? { Node(bitPattern: start.load(fromByteOffset: 16, as: UInt.self)) }

    func setWaiting(_ next: UInt) {
        start.storeBytes(of: next, toByteOffset: 16, as: UInt.self)
    }

    @inline(__always)
    var key: Bytes {
        let length = start.load(fromByteOffset: 8, as: UInt32.self)
        return Bytes(start: start + 24 + 8 * height, count: Int(length))
    }

    /// Makes a version the newest; it hides another version of the same commit from readers.
    func push(_ version: Version) {
        version.setOlder(newest.ownTarget)
        newest.set(version.start)
    }

    func finding(at commit: UInt64) -> MemoryTable.Finding {
        var address = newest.target
        while let start = address {
            let version = Version(start: start)
            if version.commit <= commit { return version.value.map { .value($0) } ?? .removed }
            address = version.older
        }
        return .absent
    }
}

/// A value of a key: bytes 0…7 commit · 8…15 previous version · 16…23 length, all ones if the key was removed · then
/// the value.
struct Version {
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
