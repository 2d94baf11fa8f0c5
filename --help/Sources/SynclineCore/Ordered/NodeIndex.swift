// Finds a key's node by its hash: open addressing with one writer and readers that never wait. A slot is filled once
// and never changed. When half are taken the writer creates a table twice as large, and the smaller ones remain for
// readers that still use them.

import SynclineGround

final class NodeIndex: @unchecked Sendable {
    // Unchecked for the same reason as in `MemoryTable`.

    /// Slots of 16 bytes: the hash, then the node, which is zero while the slot is free.
    private struct Slots {
        let start: UnsafeMutableRawPointer
        let mask: Int

        init(count: Int) {
            start = .allocate(byteCount: 8 + 16 * count, alignment: 16)
            start.initializeMemory(as: UInt64.self, repeating: 0, count: 1 + 2 * count)
            start.storeBytes(of: count - 1, as: Int.self)
            mask = count - 1
        }

        init(start: UnsafeMutableRawPointer) {
            self.start = start
            mask = start.load(as: Int.self)
        }

        @inline(__always)
        func hash(_ slot: Int) -> UInt64 { start.load(fromByteOffset: 8 + 16 * slot, as: UInt64.self) }

        @inline(__always)
        func node(_ slot: Int) -> AtomicLink { AtomicLink(at: start + 16 + 16 * slot) }

        func fill(_ hash: UInt64, _ node: UnsafeMutableRawPointer) {
            var slot = Int(truncatingIfNeeded: hash) & mask
            while self.node(slot).ownTarget != nil { slot = (slot + 1) & mask }
            start.storeBytes(of: hash, toByteOffset: 8 + 16 * slot, as: UInt64.self)
            self.node(slot).set(node)
        }
    }

    private let current: Atomic<UInt>
    /// All tables, the current one last. Only the writer uses this.
    @exclusivity(unchecked) private var all: [Slots]
    @exclusivity(unchecked) private(set) var count = 0

    /// The size of its memory in bytes.
    var size: Int { all.reduce(0) { $0 + 16 * ($1.mask + 1) } }

    init() {
        let slots = Slots(count: 1 << 9)
        all = [slots]
        current = Atomic(UInt(bitPattern: slots.start))
    }

    deinit {
        for slots in all { slots.start.deallocate() }
    }

    func find(_ key: Bytes, _ hash: UInt64) -> Node? {
        guard let start = UnsafeMutableRawPointer(bitPattern: current.load(ordering: .acquiring)) else { return nil }
        let slots = Slots(start: start)
        var slot = Int(truncatingIfNeeded: hash) & slots.mask
        while let found = slots.node(slot).target {
            let node = Node(start: found)
            if slots.hash(slot) == hash, node.key.hasSameBytes(as: key) { return node }
            slot = (slot + 1) & slots.mask
        }
        return nil
    }

    /// Adds a node whose key is not in the index.
    func add(_ node: Node, _ hash: UInt64) {
        if 2 * count > all[all.count - 1].mask { grow() }
        all[all.count - 1].fill(hash, node.start)
        count += 1
    }

    private func grow() {
        let old = all[all.count - 1]
        let larger = Slots(count: 2 * (old.mask + 1))
        for slot in 0...old.mask {
            if let node = old.node(slot).ownTarget { larger.fill(old.hash(slot), node) }
        }
        all.append(larger)
        current.store(UInt(bitPattern: larger.start), ordering: .releasing)
    }
}
