// An index on a column that has none, made in memory for the time of a statement. SQLite does the same for its own tables,
// but not for virtual ones. It finds rows by a hash of their value, so it may also find a few rows with another value.

import SynclineCore
import SynclineGround

final class MadeIndex {
    /// The last row with each hash, as a place in `ends`; and for each row, the one before it with the same hash.
    private var last: [UInt64: Int32] = [:]
    private var before: [Int32] = []
    /// The keys of all rows, one after another, and where each ends.
    private var bytes = ByteWriter(capacity: 1 << 16)
    private var ends: [Int] = []

    /// More would take too much memory.
    private static let sizeLimit = 32 << 20

    /// Nil if it would be too large.
    init?(_ reader: StateReader, table: String, column: String) throws(StateError) {
        var places = ColumnPlaces(column)
        let sink = HashSink()
        let cursor = try RowCursor(reader, table: table)
        while let row = cursor.row {
            sink.null()
            if let value = row.encoded(&places) { sink.write(encoded: value) }
            if let hash = sink.hash, let key = cursor.key {
                bytes.append(key)
                ends.append(bytes.count)
                before.append(last.updateValue(Int32(before.count), forKey: hash) ?? -1)
                if bytes.count > MadeIndex.sizeLimit || before.count & 4095 == 0 && Task.isCancelled { return nil }
            }
            try cursor.advance()
        }
    }

    /// The keys of the rows that can have a value.
    func keys(of value: Operand) -> [[UInt8]] {
        guard let hash = MadeIndex.hash(value) else { return [] }
        var keys: [[UInt8]] = []
        var place = last[hash] ?? -1
        bytes.withView { all in
            while place >= 0 {
                let start = place == 0 ? 0 : ends[Int(place) - 1]
                keys.append([UInt8](all[start..<ends[Int(place)]]))
                place = before[Int(place)]
            }
        }
        return keys
    }

    /// Values that are equal in SQL have the same hash. Null equals nothing.
    private static func hash(_ value: Operand) -> UInt64? {
        let sink = HashSink()
        switch value {
        case .null: sink.null()
        case .number(let number): sink.double(number.rounded)
        case .text(let text): sink.write(text: text)
        case .blob: sink.blob(UnsafeRawBufferPointer(start: nil, count: 0))
        case .brokenText: sink.null()
        }
        return sink.hash
    }
}

/// Computes the hash of a value.
private final class HashSink: ValueSink {
    private(set) var hash: UInt64?

    func null() { hash = nil }
    func integer(_ number: Int64) { double(Double(number)) }
    // Zero has two bit patterns.
    func double(_ number: Double) { hash = seeded { $0.combine(number == 0 ? 0 : number) } }
    func text(_ utf8: UnsafeRawBufferPointer) { hash = seeded { $0.combine(bytes: utf8) } }
    func blob(_ bytes: UnsafeRawBufferPointer) { hash = 1 }

    /// The hash depends on a random seed of the process, so rows can't be chosen so that all have the same hash.
    private func seeded(_ combine: (inout Hasher) -> Void) -> UInt64 {
        var hasher = Hasher()
        combine(&hasher)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
