// A block that is searched for keys. If that happens repeatedly, some of its keys are kept whole beside it, so that
// a search reads only the part between two of them instead of the block from its beginning.

import SynclineGround

final class MarkedBlock: Sendable {
    let block: RunBlock
    private let keys: KeyList
    private let marks: [Mark]

    /// An entry whose key is kept.
    private struct Mark {
        let offset: UInt32
        /// The length of the prefix its key shares with the previous entry's.
        let shared: UInt32
    }

    /// The approximate number of bytes between two marks.
    private static let distance = 512

    /// Its size in memory.
    let size: Int

    /// Creates a block without marks, as after reading.
    convenience init(_ block: RunBlock) {
        self.init(block, KeyList(), [])
    }

    /// Creates a block with marks. A damaged block has them up to the damage; a search continues from there and
    /// finds it.
    convenience init(marking block: RunBlock) {
        var (keys, marks) = (KeyList(), [Mark]())
        try? MarkedBlock.mark(block, &keys, &marks)
        self.init(block, keys, marks)
    }

    private init(_ block: RunBlock, _ keys: KeyList, _ marks: [Mark]) {
        self.block = block
        self.keys = keys
        self.marks = marks
        size = block.bytes.count + keys.size + marks.count * MemoryLayout<Mark>.size
    }

    var isMarked: Bool { !marks.isEmpty }

    private static func mark(
        _ block: RunBlock, _ keys: inout KeyList, _ marks: inout [Mark]
    ) throws(MalformedBytes) {
        // A block that is larger than usual has large values, and not more keys.
        let expected = min(block.bytes.count, RunBlockWriter.target) / distance + 1
        keys.reserve(expected)
        marks.reserveCapacity(expected)
        var cursor = try RunBlock.Cursor(block, from: Bytes(start: nil, count: 0))
        var next = 0
        while cursor.isValid {
            if cursor.start >= next {
                keys.append(cursor.key)
                marks.append(Mark(offset: UInt32(cursor.start), shared: UInt32(truncatingIfNeeded: cursor.shared)))
                next = cursor.start + distance
            }
            try cursor.advance()
        }
    }

    func find(_ key: Bytes) throws(MalformedBytes) -> MemoryTable.Finding {
        try block.find(key, from: start(for: key))
    }

    /// Returns a cursor at the first entry that is not before a key.
    func cursor(from key: Bytes) throws(MalformedBytes) -> RunBlock.Cursor {
        try RunBlock.Cursor(block, from: key, start(for: key))
    }

    // MARK: Parts between marks

    /// The number of parts. A block without marks is one part.
    var parts: Int { max(1, marks.count) }

    /// Returns the last part that begins before a key, or at it; the first one if there is none.
    func part(of key: Bytes) -> Int { keys.last(notBehind: key)?.place ?? 0 }

    /// Returns a cursor at the first entry of a part.
    func cursor(atPart part: Int) throws(MalformedBytes) -> RunBlock.Cursor {
        guard part < marks.count else { return try RunBlock.Cursor(block, from: Bytes(start: nil, count: 0)) }
        return try RunBlock.Cursor(block, at: Int(marks[part].offset), keys.copy(part))
    }

    /// The offset at which a part ends.
    func end(ofPart part: Int) -> Int {
        part + 1 < marks.count ? Int(marks[part + 1].offset) : block.bytes.count
    }

    private func start(for key: Bytes) -> RunBlock.Start {
        guard let (place, shared) = keys.last(notBehind: key) else { return .init() }
        let mark = marks[place]
        // The previous entry shares with the mark's key exactly the mark's prefix, and is less after it. So it can't
        // share more with a key that is not before the mark's.
        return .init(offset: Int(mark.offset), matched: min(shared, Int(mark.shared)))
    }
}
