// Writes a run of entries that come in key order, and returns the facts needed to open it. The caller stores the
// blocks.

import SynclineGround

package struct RunWriter: ~Copyable {
    private var block = RunBlockWriter()
    private var index = ByteWriter()
    private var root = RunRoot()
    private var hashes: [UInt64] = []
    /// The digest of the entries written, if it is wanted.
    private var digest: Digest?

    /// The size of index and filter blocks.
    private static let pieceSize = 1 << 16

    /// Stores a block and returns its address.
    package typealias Sink = (UnsafeRawBufferPointer) throws(SyncError) -> UInt64

    /// Writes all entries of a cursor. Throws at the end if their digest is not `expected`.
    package static func write(
        _ cursor: consuming StateCursor, expecting expected: Digest? = nil, _ sink: Sink
    ) throws(SyncError) -> RunRoot {
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
    ) throws(SyncError) {
        if block.isFull(before: key, value) { try closeBlock(sink) }
        block.append(key, value)
        if KeyFilter.covers(key) { hashes.append(hash64(key)) }
        root.count += 1
        root.size += key.count + (value?.count ?? 0)
        if let value { digest?.add(key, value) }
        if block.isFull { try closeBlock(sink) }
    }

    private mutating func closeBlock(_ sink: Sink) throws(SyncError) {
        guard block.count > 0 else { return }
        let address = try block.withBlock(sink)
        index.append(counted: block.firstKey)
        index.append(varint: address)
        block.removeAll()
        if index.count >= RunWriter.pieceSize { try closeIndex(sink) }
    }

    private mutating func closeIndex(_ sink: Sink) throws(SyncError) {
        guard index.count > 0 else { return }
        root.indexBlocks.append(try index.bytes.withBytes(sink))
        index.removeAll()
    }

    private mutating func finish(_ sink: Sink) throws(SyncError) -> RunRoot {
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
