// The tables that a statement can name at one moment: those of the store, and those about the store.

import SynclineCore
import SynclineGround

final class TableCatalog {
    let source: SQLSource
    /// The store's tables, by their names in SQL.
    let storeTables: [(name: String, stored: String)]
    /// The same, by their names in SQL in lower case.
    private let stored: [ExactString: String]
    /// The tables that statements used, by their names in SQL in lower case.
    private(set) var used: [ExactString: VirtualTable] = [:]

    init(_ source: SQLSource) throws(SyncError) {
        self.source = source
        storeTables = try source.tables()
        stored = Dictionary(storeTables.map { (ExactString($0.name.lowercased()), $0.stored) }) { first, _ in first }
    }

    /// All names, in SQL.
    var names: [String] { storeTables.map(\.name) + SystemTable.allCases.map(\.rawValue) }

    /// The names that a database has from the start. Of very many tables, each is added when a statement names it.
    var offeredNames: [String] {
        storeTables.count <= TableCatalog.offerLimit ? names : SystemTable.allCases.map(\.rawValue)
    }

    private static let offerLimit = 2000

    /// Whether there is a table with a name in SQL.
    func has(_ name: String) -> Bool { stored(name) != nil || SystemTable(rawValue: name.lowercased()) != nil }

    /// Returns the table with a name in SQL.
    func table(_ name: String) throws(SyncError) -> VirtualTable {
        let key = name.lowercased()
        if let known = used[key] { return known }
        let table = try make(key)
        used[key] = table
        return table
    }

    private func make(_ key: String) throws(SyncError) -> VirtualTable {
        if let system = SystemTable(rawValue: key) { return system.table(self) }
        guard let stored = stored(key) else {
            throw SyncError(.internalError, "the table \(key) does not exist")
        }
        return StoreTable(source, name: stored, try source.facts(of: stored))
    }

    /// Whether a table that was used has a column of decimals.
    var usesDecimals: Bool {
        used.values.contains { ($0 as? StoreTable)?.types.contains { $0.isDecimal } ?? false }
    }

    /// The table of the store that has a name in SQL.
    func stored(_ name: String) -> String? { stored[name.lowercased()] }

    /// The error for a table that does not exist.
    func unknown(_ name: String) -> SyncError {
        let near = Suggestion.nearest(to: name, in: names)
        return SyncError(
            .unknownTable, "there is no table \"\(name)\"",
            hint: near.map { "Did you mean \"\($0)\"?" } ?? "`select name from syncline_tables` lists the tables.")
    }

    /// The error for a column that does not exist.
    func unknown(column: String) -> SyncError {
        let bare = column.split(separator: ".").last.map(String.init) ?? column
        let tables = used.values.compactMap { $0 as? StoreTable }
        if let wide = tables.first(where: { $0.leftOut.contains { $0.lowercased() == bare.lowercased() } }) {
            return SyncError(
                .invalidQuery,
                "the column \"\(bare)\" is not one of the first \(SQLName.columnLimit - 1) of \"\(wide.name)\"",
                hint: "SQLite has no room for more. A query or an export shows all columns.")
        }
        let near = Suggestion.nearest(to: bare, in: used.values.flatMap(\.columns).exact.sorted().map(\.text))
        return SyncError(
            .invalidQuery, "there is no column \"\(column)\"",
            hint: near.map { "Did you mean \"\($0)\"?" } ?? "Strings are in single quotes.")
    }
}
