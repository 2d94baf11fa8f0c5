// A position among the entries of blocks in columns, which moves forward: rows, and the other entries beside them.

import SynclineGround

/// Rows of a block that come one after another with no other entry between them. They are valid until the cursor that gave
/// them moves.
struct ColumnStretch {
    /// It is moved from row to row.
    let row: Unmanaged<ColumnRow>
    let rows: Range<Int>
}

final class ColumnCursor {
    // Its owner retains the block.
    @exclusivity(unchecked) unowned(unsafe) private var block: ColumnBlock
    /// The rows and the other entries that are passed.
    @exclusivity(unchecked) private var row = 0
    @exclusivity(unchecked) private var other = 0
    @exclusivity(unchecked) private var keyBuffer = ByteWriter(capacity: 128)
    /// The current entry: its key; and its value, nil if the key was removed.
    @exclusivity(unchecked) private(set) var key = Bytes(start: nil, count: 0)
    @exclusivity(unchecked) private(set) var view: ValueView?
    private let sight = ColumnRow()
    /// The rows that a filter wants.
    @exclusivity(unchecked) private var wanted = RowBits()

    /// Begins with the first entry of a block.
    init(_ block: Unmanaged<ColumnBlock>) {
        self.block = block._withUnsafeGuaranteedRef { $0 }
        sight.move(to: block)
    }

    func open(_ block: Unmanaged<ColumnBlock>) {
        self.block = block._withUnsafeGuaranteedRef { $0 }
        (row, other) = (0, 0)
        sight.move(to: block)
    }

    /// Moves to the first entry that is not before a key.
    func seek(_ key: Bytes) {
        row = block.place(of: key).row
        other = block.otherPlace(of: key).place
    }

    var isAtEnd: Bool { row == block.rows && other == block.others }

    private var isAtOther: Bool { other < block.others && block.rank(of: other) <= row }

    func moveOn() { if isAtOther { other += 1 } else { row += 1 } }

    /// The current row and those that follow it before a key, if there is one; nil at another entry.
    func stretch(before limit: Bytes?) -> ColumnStretch? {
        var end = limit.map { block.place(of: $0).row } ?? block.rows
        if other < block.others { end = min(end, block.rank(of: other)) }
        return row < end ? ColumnStretch(row: .passUnretained(sight), rows: row..<end) : nil
    }

    /// Moves to another row of the stretch, which is not read.
    func skip(to row: Int) { self.row = row }

    /// Reads the current entry.
    func show() throws(MalformedBytes) {
        if isAtOther { return try showOther() }
        sight.isWanted = false
        sight.move(to: row)
        view = ValueView(sight)
        setKey(block.id(row))
    }

    private func showOther() throws(MalformedBytes) {
        let entry = try block.otherEntry(other)
        view = entry.value.map { ValueView($0) }
        setKey(entry.id)
    }

    @inline(__always)
    private func setKey(_ id: Bytes) {
        keyBuffer.removeAll()
        keyBuffer.append(block.prefix)
        keyBuffer.append(id)
        key = keyBuffer.inPlace
    }

    /// Moves to the end, and returns how many entries, from the current one on, have a value.
    func countRest() throws(MalformedBytes) -> Int {
        var count = block.rows - row
        while other < block.others {
            if try block.otherEntry(other).value != nil { count += 1 }
            other += 1
        }
        row = block.rows
        return count
    }

    /// Calls `body` with the entries before a limit, if there is one, except for those of removed keys, until it returns
    /// false. Returns false if it did. A filter leaves out rows.
    /// - Parameter hidden: A bit for each entry that is left out, rows first.
    func visit(
        before limit: Bytes?, leavingOut hidden: [UInt64]? = nil, _ filter: (any ColumnFilter)?,
        _ body: (Bytes, ValueView) throws(SyncError) -> Bool
    ) throws(SyncError) -> Bool {
        // One reference for all of them.
        let block = block
        let end = limit.map { block.place(of: $0).row } ?? block.rows
        let otherEnd = limit.map { block.otherPlace(of: $0).place } ?? block.others
        let isFiltered = (filter != nil || hidden != nil) && end > row
        if isFiltered { wanted.begin(row..<end) }
        if let hidden, isFiltered { wanted.keepWords { ~hidden.bits($0) } }
        var isSure = false
        if let filter, isFiltered {
            isSure = filter.removeUnwanted(from: wanted, of: block, sight)
            if isSure, try filter.take(wanted, of: block, sight) { wanted.removeAll() }
        }
        while true {
            let next = isFiltered ? wanted.next(from: row) ?? end : row
            while other < otherEnd, block.rank(of: other) <= next {
                do throws(MalformedBytes) { try showOther() } catch { throw .malformed("a run's block") }
                let isHidden = hidden?.contains(entry: block.rows + other) ?? false
                other += 1
                if let view, !isHidden, try !body(key, view) { return false }
            }
            row = next
            if row >= end { return true }
            setKey(block.id(row))
            sight.move(to: row)
            sight.isWanted = isSure
            guard try body(key, ValueView(sight)) else { return false }
            row += 1
        }
    }
}
