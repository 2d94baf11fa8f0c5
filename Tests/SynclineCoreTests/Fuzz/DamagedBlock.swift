// A block in columns some of whose bytes are changed, and that is read in every way: it is refused, or each read returns.

import SynclineGround

#if !FUZZING
    import LogTesting

    @testable import SynclineCore
#endif

struct DamagedBlock {
    private let bytes: [UInt8]
    private let keys: [[UInt8]]
    private static let symbols = SymbolTable.sample(["buy milk", "the garden für the milk", "long long "])

    init(_ chance: inout Chance, most: Int = 300) {
        let rows = ColumnRows(&chance, most: most)
        var writer = ColumnBlockWriter()
        for (place, key) in rows.keys.enumerated() {
            key.withBytes { key in rows.values[place].withBytes { _ = writer.append(key, $0, lengthAt: rows.split) } }
            // An entry between two rows: a removed key, or a value of another form.
            guard chance.below(6) == 0 else { continue }
            let value = chance.below(2) == 0 ? nil : chance.bytes(chance.below(60))
            (key + [0]).withBytes { key in
                guard let value else { return _ = writer.append(other: key, nil) }
                value.withBytes { _ = writer.append(other: key, $0) }
            }
        }
        var block = ByteWriter()
        var count = rows.keys.count
        while !writer.write(count, SymbolEncoder(DamagedBlock.symbols), to: &block) { count = (count + 1) / 2 }
        (bytes, keys) = (block.bytes, rows.keys)
    }

    /// A change of a byte; the header, and where the columns are, change most often.
    struct Change {
        let offset: Int
        let byte: UInt8
    }

    static func changes(_ chance: inout Chance) -> [Change] {
        (0...chance.below(4)).map { _ in
            Change(
                offset: chance.below(2) == 0 ? chance.below(120) : chance.below(1 << 16),
                byte: chance.below(3) == 0
                    ? [0, 1, 0x7f, 0x80, 0xff][chance.below(5)] : UInt8(truncatingIfNeeded: chance.next()))
        }
    }

    /// Reads the block with some bytes changed. Returns false if it was refused.
    func read(changing changes: [Change], cutting cut: Int = 0) -> Bool {
        var bytes = bytes
        bytes.removeLast(min(cut, bytes.count - 1))
        for change in changes where bytes.count > 1 { bytes[1 + change.offset % (bytes.count - 1)] = change.byte }
        return DamagedBlock.read(bytes, keys)
    }

    /// Reads whatever bytes as a block.
    static func read(_ bytes: [UInt8], _ keys: [[UInt8]]) -> Bool {
        let block = bytes.withBytes { RunBlock($0) }
        guard let columns = block.columns else { return false }
        columns.symbols = symbols
        let row = ColumnRow()
        row.move(to: .passUnretained(columns))
        for place in 0..<columns.rows {
            row.move(to: place)
            for column in 0..<columns.valueCount { _ = row.value(column) }
            _ = try? row.whole()
            _ = try? row.values()
        }
        for key in keys.prefix(2) + [[], [255, 255]] {
            key.withBytes { key in
                columns.prefetch(key)
                _ = columns.findOther(key)
                guard var cursor = try? RunBlock.Cursor(block, from: key) else { return }
                while cursor.isValid {
                    _ = cursor.key.count
                    _ = cursor.view?.plain.count
                    guard (try? cursor.advance()) != nil else { return }
                }
            }
        }
        defer { extendLifetime(columns) }
        let cursor = ColumnCursor(.passUnretained(columns))
        (keys.last ?? [255]).withBytes { limit in
            _ = try? cursor.visit(before: limit, nil) { _, view throws(SyncError) in view.plain.count >= 0 }
        }
        filter(columns, row)
        return true
    }

    /// Filters every column as a query does.
    private static func filter(_ columns: ColumnBlock, _ row: ColumnRow) {
        var bits = RowBits()
        for place in 0..<columns.valueCount {
            let column = columns.columns[place]
            if column.encoding == .integers || column.encoding == .instants {
                for literal in [Int64.min, -1, 0, 7, .max] {
                    for comparison in FilterExpression.Comparison.allCases {
                        bits.begin(0..<columns.rows)
                        columns.keep(bits, column, comparison, literal)
                    }
                }
            }
            if column.encoding == .symbols {
                for place in 0..<columns.rows { _ = row.leading(columns.text(column, place)) }
            }
        }
    }
}
