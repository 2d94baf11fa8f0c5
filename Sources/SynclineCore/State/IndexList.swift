// The list of a table's indexes, kept among the settings.

import SynclineGround

/// An index of a table, as the state keeps it. Each query looks at all of a table, so copies are cheap.
package final class TableIndex: Hashable, Sendable {
    /// The columns it is sorted by, in this order.
    package let columns: [String]
    /// Columns whose values it keeps beside the sorted ones.
    package let including: [String]
    /// Its number among the indexes of the table.
    let number: UInt8
    /// The types of the columns that it is sorted by. They decide its keys.
    package let types: [ColumnType]
    /// Whether it keeps the column `id`. An id is not a column of a row, so such an index says nothing about it.
    let keepsID: Bool

    init(columns: [String], including: [String] = [], number: UInt8, types: TableTypes = TableTypes()) {
        self.columns = columns
        self.including = including
        self.number = number
        self.types = columns.map { types[$0] }
        keepsID = (columns + including).containsExactly("id")
    }

    package static func == (one: TableIndex, other: TableIndex) -> Bool {
        one.number == other.number && one.columns == other.columns && one.including == other.including
            && one.types == other.types
    }

    package func hash(into hasher: inout Hasher) {
        hasher.combine(columns)
        hasher.combine(number)
    }

    /// Whether an entry has a mark that says what its key leaves open about the values. An index that includes columns
    /// has the values themselves.
    package var hasMarks: Bool { including.isEmpty }

    /// The same index with other names for its columns.
    package func mapping(_ name: (String) -> String) -> TableIndex {
        TableIndex(columns: columns.map(name), including: including.map(name), number: number)
    }

    /// The same index in a table whose columns have these types.
    func typed(by types: TableTypes) -> TableIndex {
        TableIndex(columns: columns, including: including, number: number, types: types)
    }

    /// The same index without a column that it includes; nil if it is sorted by that column.
    func without(_ column: String) -> TableIndex? {
        if columns.containsExactly(column) { return nil }
        return TableIndex(
            columns: columns, including: including.filter { !$0.hasSameBytes(as: column) }, number: number)
    }

    /// The type of a column that it is sorted by.
    func type(of column: String) -> ColumnType {
        columns.firstIndex { $0.hasSameBytes(as: column) }.map { types[$0] } ?? .any
    }

    /// The columns up to the first that was there before, as after a column was renamed to another of the index.
    package var distinctColumns: ArraySlice<String> {
        columns.indices.first { place in columns[..<place].contains { $0.hasSameBytes(as: columns[place]) } }
            .map { columns[..<$0] } ?? columns[...]
    }

    /// Whether it is sorted by these columns. Names are compared by their bytes.
    package func isSorted(by others: [String]) -> Bool {
        columns.count == others.count && zip(columns, others).allSatisfy { $0.hasSameBytes(as: $1) }
    }
}

/// The indexes by table.
package struct IndexList: Hashable, Sendable {
    private var indexes: [ExactString: [TableIndex]] = [:]

    var isEmpty: Bool { indexes.isEmpty }

    func indexes(of table: String) -> [TableIndex] { indexes[ExactString(table)] ?? [] }

    /// All indexes, each with its table.
    package var all: [(table: String, index: TableIndex)] {
        indexes.flatMap { table, indexes in indexes.map { (table.text, $0) } }
    }

    mutating func add(_ table: String, _ index: TableIndex) {
        indexes[ExactString(table), default: []].append(index)
    }

    mutating func remove(_ table: String, _ index: TableIndex) {
        let left = indexes(of: table).filter { $0 != index }
        indexes[ExactString(table)] = left.isEmpty ? nil : left
    }

    /// The smallest number that no index of the table has; nil if all are taken.
    func freeNumber(for table: String) -> UInt8? {
        let taken = Set(indexes(of: table).map(\.number))
        return (UInt8.min...UInt8.max).first { !taken.contains($0) }
    }
}

extension StateReader {
    /// All indexes, by table.
    func allIndexes(_ types: TypeCatalog) throws(SyncError) -> IndexList {
        var all = IndexList()
        let prefix = StateReader.settingKey(SettingName.indexes)
        try snapshot.forEach(prefix: prefix) { key, value throws(SyncError) in
            let lists = try value.decoded(as: "an index") { reader throws(MalformedBytes) in try reader.value() }
            guard let (table, name) = key[prefix.count...].names, let number = UInt8(name),
                let index = TableIndex(number, lists)
            else { throw .malformed("an index") }
            all.add(table, index.typed(by: types[table]))
            return true
        }
        return all
    }
}

extension TableIndex {
    /// What the state keeps of it: its columns, and those that are included.
    package var value: Value { .array([columns, including].map { .array($0.map { .string($0) }) }) }

    package convenience init?(_ number: UInt8, _ value: Value) {
        guard case .array(let lists) = value, lists.count == 2, let columns = TableIndex.names(lists[0]),
            let including = TableIndex.names(lists[1]), !columns.isEmpty
        else { return nil }
        self.init(columns: columns, including: including, number: number)
    }

    private static func names(_ list: Value) -> [String]? {
        guard case .array(let values) = list else { return nil }
        let names = values.compactMap { if case .string(let name) = $0 { name } else { nil } }
        return names.count == values.count ? names : nil
    }
}

extension SettingName {
    package static let indexes = "indexes\0"

    package static func index(_ table: String, _ index: TableIndex) -> String { "\(indexes)\(table)\0\(index.number)" }
}
