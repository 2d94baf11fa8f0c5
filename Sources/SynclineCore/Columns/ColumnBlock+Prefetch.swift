// Fetches what the values of a row need, before they are read: a row in columns is in as many places of its block as it
// has columns, and a read would wait for one after another.

extension ColumnBlock {
    /// Fetches where the columns are.
    func prefetchColumns() {
        UnsafeRawPointer(columns.baseAddress)?.prefetch(lines: 1 + valueCount * MemoryLayout<Column>.stride / 64)
    }

    /// Fetches what a row has in each column, except what only that leads to.
    func prefetchValues(of row: Int) {
        guard let memory = bytes.baseAddress else { return }
        for place in 0..<valueCount {
            let column = columns[place]
            let start = memory + column.start
            if let nulls = column.nulls { (memory + nulls + row >> 3).prefetch() }
            switch column.encoding {
            case .constant: start.prefetch()
            case .flags: (start + row >> 3).prefetch()
            case .integers, .instants:
                start.prefetch()
                prefetch(packed: column.start + 8, column.width, row)
            case .texts, .symbols, .any:
                TextSection.prefetch(bytes, column.start, row, rows, isLong: column.width == 2)
            case .dictionary: (start + 2 * column.count).prefetch()
            case .fixed: (start + 1 + row * column.count).prefetch()
            }
        }
    }

    /// Fetches the rest, once that is there.
    func prefetchTexts(of row: Int) {
        for place in 0..<valueCount {
            let column = columns[place]
            switch column.encoding {
            case .texts, .symbols, .any: text(column, row).baseAddress?.prefetch()
            case .dictionary: prefetch(packed: codes(of: column), column.width, row)
            case .constant, .flags, .integers, .instants, .fixed: break
            }
        }
    }

    @inline(__always)
    private func prefetch(packed start: Int, _ width: Int, _ row: Int) {
        guard let memory = bytes.baseAddress else { return }
        if width > PackedNumbers.mostPlanes { return (memory + start + (row * width) >> 3).prefetch() }
        // The planes are one after another.
        (memory + start + row >> 3).prefetch()
        (memory + start + width * ((rows + 7) / 8) - 1).prefetch()
    }
}
