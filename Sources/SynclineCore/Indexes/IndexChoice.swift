// Chooses the index for a filter: one whose column the filter compares with a literal, in a part that every match
// must satisfy. It returns all rows that can match, and some that do not.

import SynclineGround

/// A range of an index.
struct IndexRange: Hashable {
    var column: String
    /// Its first key, and the first key after it.
    var start: [UInt8]
    var end: [UInt8]
    /// An estimate of its size: an exact value before a range with two ends before one with one.
    var rank: Int
}

enum IndexChoice {
    static func best(_ filter: FilterExpression, _ table: String, _ columns: [String]) -> IndexRange? {
        var ranges: [String: [(comparison: FilterExpression.Comparison, value: Value)]] = [:]
        collect(filter, columns, &ranges)
        return columns.compactMap { column in ranges[column].flatMap { range(table, column, $0) } }
            .max { $0.rank < $1.rank }
    }

    /// Collects the comparisons that hold for every match.
    private static func collect(
        _ filter: FilterExpression, _ columns: [String],
        _ ranges: inout [String: [(comparison: FilterExpression.Comparison, value: Value)]]
    ) {
        switch filter {
        case .and(let left, let right):
            collect(left, columns, &ranges)
            collect(right, columns, &ranges)
        case .compare(let comparison, .column(let path), .literal(let value, _))
        where path.count == 1 && comparison != .notEqual && columns.contains(path[0]) && isExact(value):
            ranges[path[0], default: []].append((comparison, value))
        case .column(let path) where path.count == 1 && columns.contains(path[0]):
            ranges[path[0], default: []].append((.equal, .bool(true)))
        default: break
        }
    }

    /// Returns whether only values of the same kind can equal it: a date string also equals dates.
    private static func isExact(_ value: Value) -> Bool {
        switch value {
        case .bool, .integer, .double: true
        case .string(let text): Timestamp(text) == nil
        default: false
        }
    }

    private static func range(
        _ table: String, _ column: String, _ comparisons: [(comparison: FilterExpression.Comparison, value: Value)]
    ) -> IndexRange? {
        var low: [UInt8]?
        var high: [UInt8]?
        var hasEqual = false
        var kind: UInt8 = 0
        for (comparison, value) in comparisons {
            var writer = ByteWriter()
            guard writer.append(indexValue: value) else { continue }
            let bytes = writer.bytes
            kind = bytes[0]
            if comparison == .equal { hasEqual = true }
            if [.equal, .greater, .greaterOrEqual].contains(comparison) {
                low = low.map { greater($0, bytes) } ?? bytes
            }
            if [.equal, .less, .lessOrEqual].contains(comparison) { high = high.map { less($0, bytes) } ?? bytes }
        }
        guard low != nil || high != nil else { return nil }
        let prefix = IndexKey.prefix(table, column).bytes
        // Values of different kinds never match.
        let start = prefix + (low ?? [kind])
        // After every row with the highest value: a row's id begins with its form, which is small.
        let end = prefix + (high.map { $0 + [0xff] } ?? [kind + 1])
        return IndexRange(
            column: column, start: start, end: end, rank: hasEqual ? 2 : low != nil && high != nil ? 1 : 0)
    }

    private static func greater(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        left.withBytes { one in right.withBytes { one.compare($0) } } >= 0 ? left : right
    }

    private static func less(_ left: [UInt8], _ right: [UInt8]) -> [UInt8] {
        left.withBytes { one in right.withBytes { one.compare($0) } } <= 0 ? left : right
    }
}

extension StateReader {
    /// Returns the keys of the rows that an index finds for a filter, in order; nil if no index applies, or if
    /// reading the whole table is faster.
    func candidates(_ query: RowQuery) throws(StateError) -> [[UInt8]]? {
        guard let filter = query.filter else { return nil }
        let columns = try indexedColumns(of: query.table)
        guard !columns.isEmpty, let range = IndexChoice.best(filter, query.table, columns) else { return nil }
        var rowPrefix = ByteWriter()
        rowPrefix.append(tablePrefix: query.table)
        let table = rowPrefix.bytes
        let prefix = IndexKey.prefix(query.table, range.column).count
        let limit = max(4096, snapshot.layers.runEntries / 16)
        var keys: [[UInt8]] = []
        var isTooMany = false
        try snapshot.forEach(from: range.start) { key, _ throws(StateError) in
            guard range.end.withBytes({ key.compare($0) < 0 }) else { return false }
            var reader = ByteReader(Bytes(rebasing: key[prefix...]))
            do throws(MalformedBytes) { try reader.skipIndexValue() } catch { throw .malformed("an index") }
            keys.append(table + [UInt8](reader.rest))
            isTooMany = keys.count > limit
            return !isTooMany
        }
        if isTooMany { return nil }
        return keys.sorted { left, right in left.withBytes { one in right.withBytes { one.compare($0) < 0 } } }
    }
}
