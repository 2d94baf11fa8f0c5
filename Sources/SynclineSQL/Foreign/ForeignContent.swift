// The content of another client's file, as far as an import needs it.

import SynclineCore

/// A table whose rows are imported.
struct FoundTable {
    /// The name in descriptions of the file.
    var name: String
    /// The name in the store.
    var storeName: String
    /// The name in SQLite.
    var sqlName: String
    /// The number of the entity, if a table of Core Data holds several.
    var entity: Int64?
    var columns: [FoundColumn]

    /// A column that is read.
    struct FoundColumn {
        var sqlName: String
        /// The name in the store: of a system column, `id`, or of a column of the app.
        var name: String
        /// Nil for a system column and the id.
        var type: ForeignType?
    }
}

/// An operation that the other client had not sent, or had not seen confirmed.
struct FoundOperation {
    var kind: OperationKind
    /// The table's name in the store.
    var table: String
    var id: String
    /// The item in the queue; nil if the row has the content.
    var item: [Value.Member]?
    /// The version that the operation names: nil if it is that of the row or of the item.
    var version: Value?
}

/// The content of a file besides rows.
struct FoundQueue {
    /// In the order in which they would be sent.
    var operations: [FoundOperation] = []
    /// What can't be imported.
    var left: [ForeignReport.Left] = []
    /// Queries whose position the client had stored.
    var queries: [ForeignReport.Query] = []
}

/// A kind of file.
protocol ForeignReading {
    /// How the file has dates.
    var dates: ForeignDates { get }
    /// Whether ids are compared without regard to case.
    var ignoresCase: Bool { get }
    /// The tables of the app. Throws if something of them is not known.
    func tables() throws(SyncError) -> [FoundTable]
    /// The operations, and what else the client stored about its sync.
    func queue(_ tables: [FoundTable]) throws(SyncError) -> FoundQueue
    /// What the file has besides, that is not imported.
    func leftTables() throws(SyncError) -> [ForeignReport.Left]
}

extension FoundTable {
    /// The types that the file knows of its columns; nil if there is none. A number may be a double or a decimal.
    var types: TypeDeclaration? {
        let typed = columns.compactMap { column in
            column.type?.column.map { TypedColumn(column.name, $0) }
        }
        return typed.isEmpty ? nil : TypeDeclaration(table: storeName, columns: typed)
    }
}

extension ForeignType {
    fileprivate var column: ColumnType? {
        switch self {
        case .string: .string
        case .integer: .integer
        case .bool: .boolean
        case .date: .date
        case .uuid: .uuid
        case .bytes: .bytes
        case .json: .json
        case .number, .skip: nil
        }
    }
}
