// Writes a run of entries that come in key order, and returns the facts needed to open it. The caller stores the
// blocks.

import SynclineGround

package struct RunWriter: ~Copyable {
    private var block = RunBlockWriter()
    /// Rows for blocks in columns.
    private var rows = ColumnBlockWriter()
    private var columns = ByteWriter(capacity: 1 << 14)
    private var symbols: SymbolTable?
    private var encoder: SymbolEncoder?
    /// How much smaller the last block in columns is than its rows.
    private var ratio = 0.5
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
        _ cursor: consuming StateCursor, expecting expected: Digest? = nil, symbols: SymbolTable? = nil, _ sink: Sink
    ) throws(SyncError) -> RunRoot {
        var writer = RunWriter()
        writer.use(symbols)
        if expected != nil { writer.digest = Digest() }
        var cursor = cursor
        while let key = cursor.key {
            // A row that can't be read is an error here, and never an empty value in a new block.
            let value: Bytes? = if let view = cursor.view { try view.bytes() } else { nil }
            try writer.append(key, value, sink)
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
        if try !addRow(key, value), !rows.append(other: key, value) {
            try closeRows(sink)
            if try !addRow(key, value) { try add(key, value, sink) }
        }
        if rows.count >= RunWriter.mostRows || rows.size >= fullSize { try writeRows(sink) }
        if KeyFilter.covers(key) { hashes.append(hash64(key)) }
        root.count += 1
        root.size += key.count + (value?.count ?? 0)
        if let value { digest?.add(key, value) }
    }

    /// Adds a row to the next block in columns, if it fits there and no block of entries as they are is open.
    private mutating func addRow(_ key: Bytes, _ value: Bytes?) throws(SyncError) -> Bool {
        guard let value, block.count == 0, let split = ColumnSplit.lengthPlace(key, value) else { return false }
        return rows.append(key, value, lengthAt: split)
    }

    /// Adds an entry to the block of entries as they are.
    private mutating func add(_ key: Bytes, _ value: Bytes?, _ sink: Sink) throws(SyncError) {
        if block.isFull(before: key, value) { try closeBlock(sink) }
        block.append(key, value)
        if block.isFull { try closeBlock(sink) }
    }

    // MARK: Columns

    /// Fewer rows take less room, or less time, as they are.
    private static let fewestRows = 32
    private static let mostRows = 1024
    /// The size of a block, which takes two pages.
    private static let target = RunBlockWriter.target + 4096
    /// How many bytes of texts a table of symbols is made from.
    private static let sampleSize = 1 << 14

    /// The size of rows that fill a block. The first ones are more, because the symbols are made from their texts.
    private var fullSize: Int {
        symbols == nil ? 1 << 16 : max(4096, Int(Double(RunWriter.target) / ratio))
    }

    private mutating func use(_ symbols: SymbolTable?) {
        self.symbols = symbols
        encoder = symbols.map { SymbolEncoder($0) }
    }

    /// Writes a block in columns of as many rows as fill it.
    private mutating func writeRows(_ sink: Sink) throws(SyncError) {
        if symbols == nil { use(.trained(on: rows.texts(upTo: RunWriter.sampleSize))) }
        var count = min(rows.count, RunWriter.mostRows, max(RunWriter.fewestRows, rows.count * fullSize / rows.size))
        while !rows.write(count, encoder, to: &columns) || columns.count > RunWriter.target {
            if count <= RunWriter.fewestRows { return try addRows(sink) }
            let fitting = Double(count) * Double(RunWriter.target) / Double(max(columns.count, 1)) * 0.98
            count = max(RunWriter.fewestRows, min(count - 1, Int(fitting)))
        }
        ratio = Double(columns.count) / (Double(rows.size) * Double(count) / Double(rows.count))
        try addToIndex(rows.firstKey, try columns.withView(sink), values: rows.values(inFirst: count), sink)
        rows.removeFirst(count)
    }

    /// Adds all rows as they are.
    private mutating func addRows(_ sink: Sink) throws(SyncError) {
        var rest = ColumnBlockWriter()
        swap(&rest, &rows)
        try rest.forEach { key, value throws(SyncError) in try add(key, value, sink) }
    }

    private mutating func closeRows(_ sink: Sink) throws(SyncError) {
        while rows.count >= RunWriter.fewestRows { try writeRows(sink) }
        if rows.count > 0 { try addRows(sink) }
    }

    private mutating func closeBlock(_ sink: Sink) throws(SyncError) {
        guard block.count > 0 else { return }
        try addToIndex(block.firstKey, try block.withBlock(sink), values: block.values, sink)
        block.removeAll()
    }

    private mutating func addToIndex(
        _ firstKey: [UInt8], _ address: UInt64, values: Int, _ sink: Sink
    ) throws(SyncError) {
        index.append(counted: firstKey)
        index.append(varint: address)
        index.append(varint: values)
        if index.count >= RunWriter.pieceSize { try closeIndex(sink) }
    }

    private mutating func closeIndex(_ sink: Sink) throws(SyncError) {
        guard index.count > 0 else { return }
        root.indexBlocks.append(try index.bytes.withBytes(sink))
        index.removeAll()
    }

    private mutating func finish(_ sink: Sink) throws(SyncError) -> RunRoot {
        try closeRows(sink)
        try closeBlock(sink)
        try closeIndex(sink)
        if let symbols { root.symbolBlocks = [try symbols.bytes.withBytes(sink)] }
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
