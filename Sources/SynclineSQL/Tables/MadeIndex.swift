// An index on a column that has none, made in memory for the time of a statement. SQLite does the same for its own tables,
// but not for virtual ones. It finds rows by a hash of their value, so it may also find a few rows with another value.

import SynclineCore
import SynclineGround

final class MadeIndex {
    /// The newest entry with each hash; and for each entry, the one before it with the same hash.
    private var last: [UInt64: Int32] = [:]
    private var before: [Int32] = []
    /// The row of each entry. A string that looks like a number has two: as a string and as a number.
    private var rows: [Int32] = []
    /// The keys of all rows, one after another, and where each ends.
    private var bytes = ByteWriter(capacity: 1 << 16)
    private var ends: [Int] = []

    /// Whether strings that differ in case are equal.
    private let ignoresCase: Bool

    /// More would take too much memory.
    private static let sizeLimit = 32 << 20

    /// Makes an index on a column, or on the id. Nil if it would be too large.
    init?(
        _ reader: StateReader, table: String, column: String?, _ type: ColumnType = .string
    ) throws(SyncError) {
        ignoresCase = type.isUUID
        var places = ColumnPlaces(column ?? "")
        let sink = HashSink(ignoresCase: ignoresCase)
        let cursor = try RowCursor(reader, table: table)
        while let row = cursor.row {
            sink.null()
            if column == nil {
                row.withID { sink.text($0) }
            } else if let value = row.encoded(&places) {
                sink.write(encoded: value, as: type)
            }
            if let hash = sink.hash, let key = cursor.key {
                bytes.append(key)
                ends.append(bytes.count)
                add(hash)
                if let number = sink.numberHash { add(number) }
                if bytes.count > MadeIndex.sizeLimit || ends.count & 4095 == 0 && Task.isCancelled { return nil }
            }
            try cursor.advance()
        }
    }

    /// Adds an entry for the newest row.
    private func add(_ hash: UInt64) {
        rows.append(Int32(ends.count - 1))
        before.append(last.updateValue(Int32(before.count), forKey: hash) ?? -1)
    }

    /// Adds the keys of the rows that can have a value.
    func addKeys(of value: Operand, to keys: inout RowKeys) {
        guard let hash = hash(value) else { return }
        addKeys(with: hash, to: &keys)
        if case .number = value { addKeys(with: HashSink.otherNumber, to: &keys) }
    }

    private func addKeys(with hash: UInt64, to keys: inout RowKeys) {
        var entry = last[hash] ?? -1
        bytes.withView { all in
            while entry >= 0 {
                let row = Int(rows[Int(entry)])
                keys.append(key: [UInt8](all[(row == 0 ? 0 : ends[row - 1])..<ends[row]]))
                entry = before[Int(entry)]
            }
        }
    }

    /// Values that are equal in SQL have the same hash. Null equals nothing.
    private func hash(_ value: Operand) -> UInt64? {
        let sink = HashSink(ignoresCase: ignoresCase)
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
    private let ignoresCase: Bool
    private(set) var hash: UInt64?
    /// The hash as a number, for a string that looks like one.
    private(set) var numberHash: UInt64?

    /// The hash of all strings that are numbers, but not in digits alone. SQLite and Swift may round them differently.
    static let otherNumber: UInt64 = 2

    init(ignoresCase: Bool) {
        self.ignoresCase = ignoresCase
    }

    func null() { (hash, numberHash) = (nil, nil) }
    func integer(_ number: Int64) { double(Double(number)) }
    func double(_ number: Double) { (hash, numberHash) = (HashSink.hash(number), nil) }
    func blob(_ bytes: UnsafeRawBufferPointer) { (hash, numberHash) = (1, nil) }

    func text(_ utf8: UnsafeRawBufferPointer) {
        hash = HashSink.seeded { hasher in
            guard ignoresCase else { return hasher.combine(bytes: utf8) }
            for byte in utf8 { hasher.combine(byte &- 0x41 < 26 ? byte | 0x20 : byte) }
        }
        switch NumericForm(utf8) {
        case .none: numberHash = nil
        case .integer(let number): numberHash = HashSink.hash(Double(number))
        case .other: numberHash = HashSink.otherNumber
        }
    }

    /// Zero has two bit patterns.
    private static func hash(_ number: Double) -> UInt64 { seeded { $0.combine(number == 0 ? 0 : number) } }

    /// The hash depends on a random seed of the process, so rows can't be chosen so that all have the same hash.
    private static func seeded(_ combine: (inout Hasher) -> Void) -> UInt64 {
        var hasher = Hasher()
        combine(&hasher)
        return UInt64(truncatingIfNeeded: hasher.finalize())
    }
}
