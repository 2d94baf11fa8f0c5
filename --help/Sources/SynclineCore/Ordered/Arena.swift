// Memory that only grows and is freed all at once. Allocations never move, so readers may keep pointers into it
// while they retain its owner.

struct Arena: ~Copyable {
    private var blocks: [UnsafeMutableRawPointer] = []
    private var free = UnsafeMutableRawBufferPointer(start: nil, count: 0)
    /// The number of bytes taken from the system.
    private(set) var size = 0

    private static let blockSize = 1 << 18

    init() {}

    deinit {
        for block in blocks { block.deallocate() }
    }

    /// Allocates `count` bytes, aligned for words.
    mutating func allocate(_ count: Int) -> UnsafeMutableRawPointer {
        let rounded = (count + 7) & ~7
        if rounded > free.count {
            if rounded > Arena.blockSize / 4 { return takeBlock(rounded) }
            free = .init(start: takeBlock(Arena.blockSize), count: Arena.blockSize)
        }
        guard let start = free.baseAddress else { preconditionFailure("an arena's block has an address") }
        free = .init(rebasing: free[rounded...])
        return start
    }

    private mutating func takeBlock(_ size: Int) -> UnsafeMutableRawPointer {
        let block = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 16)
        blocks.append(block)
        self.size += size
        return block
    }
}
