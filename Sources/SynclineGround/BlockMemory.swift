// Memory for blocks of the state. Almost all of them have one of two sizes, and an app that reads many rows allocates and
// frees them all the time, in no order. The system's allocator searches for room and merges what is free; here each block
// takes a piece of a slab, and all pieces of a slab are alike.

import CLibrary

public enum BlockMemory {
    /// A block of one page or two, and the frame around it.
    private static let pieceSizes = (short: 4352, long: 8448)
    private static let short = Mutex(Slabs(pieceSizes.short))
    private static let long = Mutex(Slabs(pieceSizes.long))

    /// Smaller sizes would waste most of a piece, and the system's allocator has lists of its own for them.
    private static func isPiece(_ size: Int) -> Bool { size > pieceSizes.short / 4 && size <= pieceSizes.long }
    /// Allocates memory, aligned for words.
    public static func allocate(byteCount size: Int) -> UnsafeMutableRawBufferPointer {
        guard isPiece(size) else { return .allocate(byteCount: size, alignment: 16) }
        let piece = size <= pieceSizes.short ? short.withLock { $0.take() } : long.withLock { $0.take() }
        return UnsafeMutableRawBufferPointer(start: piece.start, count: size)
    }

    /// Frees memory, all of which must be given.
    public static func deallocate(_ memory: UnsafeMutableRawBufferPointer) {
        guard isPiece(memory.count), let start = memory.baseAddress else { return memory.deallocate() }
        let piece = Piece(start: start)
        if memory.count <= pieceSizes.short {
            short.withLock { $0.put(piece) }
        } else {
            long.withLock { $0.put(piece) }
        }
    }
}

// Unchecked: it is only ever in one place, with a slab or with the caller.
struct Piece: @unchecked Sendable {
    let start: UnsafeMutableRawPointer
}

/// Slabs, of which those that have free pieces are linked. The others are found by the addresses of their pieces.
struct Slabs {
    private let pieceSize: Int
    private var first: Slab?
    /// The number of all slabs.
    private(set) var count = 0

    init(_ pieceSize: Int) { self.pieceSize = pieceSize }

    mutating func take() -> Piece {
        let slab = first ?? add()
        let piece = slab.take()
        if slab.isFull { remove(slab) }
        return piece
    }

    mutating func put(_ piece: Piece) {
        let slab = Slab(of: piece)
        if slab.isFull { insert(slab) }
        slab.put(piece)
        // The last one is kept, so that a few blocks don't allocate a slab again and again.
        if slab.isEmpty, slab.next != nil || slab.previous != nil {
            remove(slab)
            slab.deallocate()
            count -= 1
        }
    }

    private mutating func add() -> Slab {
        let slab = Slab(pieceSize)
        count += 1
        insert(slab)
        return slab
    }

    private mutating func insert(_ slab: Slab) {
        slab.setNeighbors(nil, first)
        first?.setNeighbors(slab, first?.next)
        first = slab
    }

    private mutating func remove(_ slab: Slab) {
        let (previous, next) = (slab.previous, slab.next)
        if let previous { previous.setNeighbors(previous.previous, next) } else { first = next }
        next?.setNeighbors(previous, next?.next)
    }
}

/// Memory that begins with its own description and is divided into pieces. It is aligned to its size.
private struct Slab {
    private struct Head {
        var previous: UnsafeMutablePointer<Head>?
        var next: UnsafeMutablePointer<Head>?
        /// The piece that was freed last. Each free piece begins with the address of the one freed before it.
        var free: UnsafeMutableRawPointer?
        /// How many pieces are not free.
        var used = 0
        /// How many pieces were ever used.
        var touched = 0
        let pieceSize: Int
    }

    private let head: UnsafeMutablePointer<Head>

    private static let size = 1 << 17
    private static let headSize = 64

    init(_ pieceSize: Int) {
        let memory = UnsafeMutableRawPointer.allocate(byteCount: Slab.size, alignment: Slab.size)
        #if os(Linux)
            // The system adds all pages at once (`MADV_POPULATE_WRITE`), which takes less time than one after another. Older
            // systems refuse it.
            madvise(memory, Slab.size, 23)
        #endif
        head = memory.initializeMemory(as: Head.self, repeating: Head(pieceSize: pieceSize), count: 1)
    }

    init(of piece: Piece) {
        let start = UInt(bitPattern: piece.start) & ~UInt(Slab.size - 1)
        guard let memory = UnsafeMutableRawPointer(bitPattern: start) else { preconditionFailure("a piece of no slab") }
        head = memory.assumingMemoryBound(to: Head.self)
    }

    private init?(_ head: UnsafeMutablePointer<Head>?) {
        guard let head else { return nil }
        self.head = head
    }

    func deallocate() { UnsafeMutableRawPointer(head).deallocate() }

    var previous: Slab? { Slab(head.pointee.previous) }
    var next: Slab? { Slab(head.pointee.next) }
    var isFull: Bool { head.pointee.used == (Slab.size - Slab.headSize) / head.pointee.pieceSize }
    var isEmpty: Bool { head.pointee.used == 0 }

    func setNeighbors(_ previous: Slab?, _ next: Slab?) {
        head.pointee.previous = previous?.head
        head.pointee.next = next?.head
    }

    func take() -> Piece {
        head.pointee.used += 1
        if let piece = head.pointee.free {
            head.pointee.free = piece.load(as: UnsafeMutableRawPointer?.self)
            return Piece(start: piece)
        }
        defer { head.pointee.touched += 1 }
        return Piece(
            start: UnsafeMutableRawPointer(head) + Slab.headSize + head.pointee.touched * head.pointee.pieceSize)
    }

    func put(_ piece: Piece) {
        piece.start.storeBytes(of: head.pointee.free, as: UnsafeMutableRawPointer?.self)
        head.pointee.free = piece.start
        head.pointee.used -= 1
    }
}
