// Decides which tables and columns of a file are imported, from what the file says and what the app describes. The code
// is pure.

import SynclineCore
import SynclineGround

/// A table as the file has it.
struct FileTable {
    /// The name that a description uses.
    var name: String
    var sqlName: String
    var entity: Int64?
    /// The name in the store, if the file tells it.
    var storeName: String?
    /// All columns but those of the database itself.
    var columns: [FileColumn]

    struct FileColumn {
        var sqlName: String
        /// The name in JSON, or the best guess.
        var name: String
        /// The type, if the file tells it.
        var type: ForeignType?
        /// The type if the description has none; nil if it must have one.
        var likelyType: ForeignType?
        /// The types from which a description has to choose.
        var choices: [ForeignType]
        /// Whether the name is known, and not only its letters without their case.
        var hasName: Bool
    }
}

struct TableChoice {
    private let described: [ForeignTable]

    init(_ described: [ForeignTable], of names: [String]) throws(SyncError) {
        self.described = described
        for (number, table) in described.enumerated() {
            guard names.contains(where: { $0.matches(table.name) }) else {
                throw SyncError(
                    .invalidConfiguration, "the file has no table \(table.name)",
                    hint: Suggestion.nearest(to: table.name, in: names).map { "Did you mean \($0)?" })
            }
            if described[..<number].contains(where: { $0.name.matches(table.name) }) {
                throw SyncError(.invalidConfiguration, "the table \(table.name) is described twice")
            }
        }
    }

    /// The description of a table.
    func description(of name: String) -> ForeignTable? { described.first { $0.name.matches(name) } }

    /// Returns the tables that are imported. Throws if a description is missing, with an example of it.
    func choose(_ tables: [FileTable]) throws(SyncError) -> [FoundTable] {
        var found: [FoundTable] = []
        var missing: [ForeignTable] = []
        var reasons: [String] = []
        for table in tables {
            let description = description(of: table.name)
            if description?.isSkipped == true { continue }
            if let description { try check(description, table) }
            let gaps = gaps(of: table, description)
            if gaps.isEmpty, let storeName = description?.storeName ?? table.storeName {
                found.append(self.found(table, storeName, description))
            } else {
                reasons += gaps
                missing.append(example(of: table, description))
            }
        }
        if missing.isEmpty { return found }
        if reasons.isEmpty { reasons = ["the name of \(missing[0].name) on the server is not known"] }
        throw SyncError(
            .invalidConfiguration, "the file lacks information: \(reasons.joined(separator: "; "))",
            hint: "Describe each table, in a shell with --columns: " + missing.map { "'\($0)'" }.joined(separator: " "))
    }

    /// Every column that is described must be there.
    private func check(_ description: ForeignTable, _ table: FileTable) throws(SyncError) {
        for column in description.columns where !table.columns.contains(where: { column.describes($0) }) {
            let names = table.columns.filter { !$0.isSystem }.map(\.name)
            throw SyncError(
                .invalidConfiguration, "the table \(table.name) has no column \(column.fileName ?? column.name)",
                hint: names.isEmpty ? nil : "It has \(names.joined(separator: ", ")).")
        }
    }

    /// The unknown facts about the columns.
    private func gaps(of table: FileTable, _ description: ForeignTable?) -> [String] {
        table.columns.compactMap { column in
            if column.isSystem { return nil }
            let described = description?.columns.first { $0.describes(column) }
            let name = "\(table.name).\(column.name)"
            guard let described else {
                if column.hasName, column.type != nil { return nil }
                return column.hasName ? "the type of \(name)" : "the name and type of \(name)"
            }
            return described.type ?? column.type ?? column.likelyType == nil ? "the type of \(name)" : nil
        }
    }

    private func found(_ table: FileTable, _ storeName: String, _ description: ForeignTable?) -> FoundTable {
        let columns = table.columns.compactMap { column -> FoundTable.FoundColumn? in
            if column.isSystem { return .init(sqlName: column.sqlName, name: column.name, type: nil) }
            let described = description?.columns.first { $0.describes(column) }
            guard let type = described?.type ?? column.type ?? column.likelyType, type != .skip else { return nil }
            return .init(sqlName: column.sqlName, name: described?.name ?? column.name, type: type)
        }
        return FoundTable(
            name: table.name, storeName: storeName, sqlName: table.sqlName, entity: table.entity, columns: columns)
    }

    /// A description in which only the choices have to be checked.
    private func example(of table: FileTable, _ description: ForeignTable?) -> ForeignTable {
        var example = ForeignTable(
            table.name, as: description?.storeName ?? (table.storeName == nil ? table.name.lowercased() : nil))
        example.columns = table.columns.filter { !$0.isSystem }.map { column in
            let described = description?.columns.first { $0.describes(column) }
            return ForeignColumn(
                described?.name ?? column.name,
                described?.type ?? column.type ?? column.likelyType ?? column.choices.first,
                from: described?.fileName)
        }
        return example
    }
}

extension FileTable.FileColumn {
    /// Whether it is the id or a column of the server.
    var isSystem: Bool { name == "id" || Item.systemColumns.contains(name) }
}

extension ForeignColumn {
    fileprivate func describes(_ column: FileTable.FileColumn) -> Bool {
        (fileName ?? name).matches(column.name) || (fileName ?? name).matches(column.sqlName)
    }
}

extension String {
    /// Whether two names are the same for SQLite, which ignores case.
    func matches(_ other: String) -> Bool { lowercased().hasSameBytes(as: other.lowercased()) }
}
