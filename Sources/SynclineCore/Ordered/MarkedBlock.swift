// A block that keys are looked for in. Where that happens again and again, some of its keys are kept whole beside it, so that a
// search reads what lies between two of them and not the block from its beginning, most of which would have to come from memory.

final class MarkedBlock: Sendable {
    let block: RunBlock
    private let keys: KeyList
    private let marks: [Mark]

    /// An entry whose key is kept.
    private struct Mark {
        let offset: UInt32
        /// How much of its key it shares with the entry before.
        let shared: UInt32
    }

    /// How many bytes lie between two marks, about.
    private static let distance = 512

    /// How much memory it takes.
    let size: Int

    /// Without marks, as it is when it is read.
    convenience init(_ block: RunBlock) {
        self.init(block, KeyList(), [])
    }

    /// With marks. A damaged block has them up to the damage: a search goes on from there, and finds it.
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

    /// Begins with the first entry that is not before a key.
    func cursor(from key: Bytes) throws(MalformedBytes) -> RunBlock.Cursor {
        try RunBlock.Cursor(block, from: key, start(for: key))
    }

    private func start(for key: Bytes) -> RunBlock.Start {
        guard let (place, shared) = keys.last(notBehind: key) else { return .init() }
        let mark = marks[place]
        // The entry before shares with the mark's key just what the mark says, and is less behind it: more than that it
        // can't share with a key that is not before the mark's.
        return .init(offset: Int(mark.offset), matched: min(shared, Int(mark.shared)))
    }
}
