// Makes a run of entries that come in key order, and says at the end how to open it. Where the blocks go is its caller's.

package struct RunWriter: ~Copyable {
    private var block = RunBlockWriter()
    private var index = ByteWriter()
    private var root = RunRoot()
    private var hashes: [UInt64] = []
    /// The sum of the entries written, where it is asked for.
    private var digest: Digest?

    /// The largest block handed to the sink holds a single entry; others are near 8 KiB, index and filter blocks 64 KiB.
    private static let pieceSize = 1 << 16

    /// Where a block goes, and its address.
    package typealias Sink = (UnsafeRawBufferPointer) throws(StateError) -> UInt64

    /// Writes all that a cursor brings. Throws at the end if that is not what `expected` is the digest of.
    package static func write(
        _ cursor: consuming StateCursor, expecting expected: Digest? = nil, _ sink: Sink
    ) throws(StateError) -> RunRoot {
        var writer = RunWriter()
        if expected != nil { writer.digest = Digest() }
        var cursor = cursor
        while let key = cursor.key {
            try writer.append(key, cursor.value, sink)
            try cursor.advance()
        }
        if writer.digest != expected { throw .untrue }
        return try writer.finish(sink)
    }

    private init() {}

    private mutating func append(
        _ key: UnsafeRawBufferPointer, _ value: UnsafeRawBufferPointer?, _ sink: Sink
    ) throws(StateError) {
        block.append(key, value)
        if KeyFilter.covers(key) { hashes.append(hash64(key)) }
        root.count += 1
        root.size += key.count + (value?.count ?? 0)
        if let value { digest?.add(key, value) }
        if block.isFull { try closeBlock(sink) }
    }

    private mutating func closeBlock(_ sink: Sink) throws(StateError) {
        guard block.count > 0 else { return }
        let address = try block.writer.bytes.withBytes(sink)
        index.append(counted: block.firstKey)
        index.append(varint: address)
        block.removeAll()
        if index.count >= RunWriter.pieceSize { try closeIndex(sink) }
    }

    private mutating func closeIndex(_ sink: Sink) throws(StateError) {
        guard index.count > 0 else { return }
        root.indexBlocks.append(try index.bytes.withBytes(sink))
        index.removeAll()
    }

    private mutating func finish(_ sink: Sink) throws(StateError) -> RunRoot {
        try closeBlock(sink)
        try closeIndex(sink)
        let filter = KeyFilter(hashes: hashes)
        var writer = ByteWriter()
        filter.encode(into: &writer)
        var start = 0
        while start < writer.count {
            let end = min(start + RunWriter.pieceSize, writer.count)
            root.filterBlocks.append(try Array(writer.bytes[start..<end]).withBytes(sink))
            start = end
        }
        return root
    }
}
