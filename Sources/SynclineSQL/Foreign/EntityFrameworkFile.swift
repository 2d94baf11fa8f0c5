// The SQLite file that the Datasync Community Toolkit makes with Entity Framework Core. A table has the properties of a
// class as columns. JSON has their names with a small letter first. The queue names classes, and not tables.

import SynclineCore
import SynclineWire

struct EntityFrameworkFile: ForeignReading {
    let dates = ForeignDates.text
    let ignoresCase = false
    private let file: ForeignFile
    private let schema: [String: [(name: String, type: String)]]
    private let choice: TableChoice
    /// The names of classes without their namespaces.
    private let classes: [String]

    private static let queueTable = "DatasyncOperationsQueue"
    private static let tokenTable = "DatasyncDeltaTokens"

    private static let required = [
        (queueTable, ["Kind", "State", "EntityType", "ItemId", "EntityVersion", "Item", "Sequence"]),
        (tokenTable, ["Id"]),
    ]

    init(_ file: ForeignFile, _ described: [ForeignTable]) throws(SyncError) {
        self.file = file
        schema = try file.schema()
        try ForeignStore.check(
            schema, EntityFrameworkFile.required,
            "a file of the Datasync Community Toolkit or of Microsoft.Datasync.Client")
        choice = try TableChoice(described, of: EntityFrameworkFile.names(schema))
        let rows =
            try file.run("SELECT DISTINCT EntityType FROM DatasyncOperationsQueue")
            + file.run("SELECT Id FROM DatasyncDeltaTokens")
        classes = rows.compactMap { row in
            if case .string(let name)? = row.first { EntityFrameworkFile.simpleName(name) } else { nil }
        }
    }

    /// The tables of the app.
    private static func names(_ schema: [String: [(name: String, type: String)]]) -> [String] {
        schema.keys.filter { $0 != queueTable && $0 != tokenTable && !$0.hasPrefix("__EF") }.sorted()
    }

    /// The name of a class without namespace and outer class.
    private static func simpleName(_ name: String) -> String {
        String(name.split { $0 == "." || $0 == "+" }.last ?? "")
    }

    // MARK: Tables

    private func columns(of table: String) -> [FileTable.FileColumn] {
        (schema[table] ?? []).map { column in
            let name = EntityFrameworkFile.jsonName(column.name)
            let (type, choices): (ForeignType?, [ForeignType]) =
                switch column.type {
                case "REAL": (.number, [.number])
                case "TEXT": (nil, [.string, .date, .number, .json])
                case "BLOB": (nil, [.bytes])
                default: (nil, [.integer, .bool])
                }
            return .init(
                sqlName: column.name, name: name, type: type, likelyType: choices == [.bytes] ? .bytes : nil,
                choices: choices, hasName: true)
        }
    }

    /// The name that JSON has for a property: the capitals at its beginning are small, up to the last one before a small
    /// letter.
    static func jsonName(_ name: String) -> String {
        var letters = Array(name)
        for place in letters.indices {
            guard letters[place].isUppercase else { break }
            if place > 0, place + 1 < letters.count, !letters[place + 1].isUppercase { break }
            letters[place] = Character(letters[place].lowercased())
        }
        return String(letters)
    }

    /// Whether a table has what the client needs to sync it.
    private static func isSynced(_ columns: [FileTable.FileColumn]) -> Bool {
        ["id", "updatedAt", "version"].allSatisfy { name in columns.contains { $0.name == name } }
    }

    func tables() throws(SyncError) -> [FoundTable] {
        var tables: [FileTable] = []
        for name in EntityFrameworkFile.names(schema) {
            let columns = columns(of: name)
            guard EntityFrameworkFile.isSynced(columns) else { continue }
            let storeName = classes.first { EntityFrameworkFile.isName(name, of: $0) }?.lowercased()
            tables.append(FileTable(name: name, sqlName: name, storeName: storeName, columns: columns))
        }
        return try choice.choose(tables)
    }

    /// Whether a table is that of a class: it has its name, or its plural.
    private static func isName(_ table: String, of type: String) -> Bool {
        var plurals = [type, type + "s", type + "es"]
        if type.hasSuffix("y") { plurals.append(type.dropLast() + "ies") }
        return plurals.contains { $0.matches(table) }
    }

    func leftTables() throws(SyncError) -> [ForeignReport.Left] {
        try file.left(
            EntityFrameworkFile.names(schema).filter { name in
                choice.description(of: name)?.isSkipped != true && !EntityFrameworkFile.isSynced(columns(of: name))
            })
    }

    // MARK: The queue

    func queue(_ tables: [FoundTable]) throws(SyncError) -> FoundQueue {
        var queue = FoundQueue()
        for row in try file.run(
            """
            SELECT EntityType, ItemId, Kind, EntityVersion, Item FROM DatasyncOperationsQueue \
            WHERE State <> 1 ORDER BY Sequence, _rowid_
            """)
        {
            guard case .string(let type) = row[0], case .string(let id) = row[1] else {
                queue.left.add(EntityFrameworkFile.queueTable, nil, .unreadable("it has no entity or no id"))
                continue
            }
            let name = EntityFrameworkFile.simpleName(type)
            if isSkipped(name) { continue }
            guard let table = table(of: name, tables) else {
                queue.left.add(type, id, .unreadable("no table of the file is that of the entity"))
                continue
            }
            guard let operation = EntityFrameworkFile.operation(table, id, row[2], row[3], row[4]) else {
                queue.left.add(table, id, .unreadable("its kind or its item is not as expected"))
                continue
            }
            queue.operations.append(operation)
        }
        for row in try file.run("SELECT Id FROM DatasyncDeltaTokens ORDER BY Id") {
            guard case .string(let id)? = row.first else { continue }
            let name = EntityFrameworkFile.simpleName(id)
            queue.queries.append(ForeignReport.Query(table: table(of: name, tables) ?? name.lowercased(), queryID: id))
        }
        return queue
    }

    private func isSkipped(_ type: String) -> Bool {
        EntityFrameworkFile.names(schema).contains { name in
            EntityFrameworkFile.isName(name, of: type) && choice.description(of: name)?.isSkipped == true
        }
    }

    private func table(of type: String, _ tables: [FoundTable]) -> String? {
        let table =
            tables.first { $0.storeName == type.lowercased() }
            ?? tables.first { EntityFrameworkFile.isName($0.name, of: type) }
        return table?.storeName
    }

    private static let kinds: [Int64: OperationKind] = [0: .insert, 1: .delete, 2: .update]

    private static func operation(
        _ table: String, _ id: String, _ kind: Value, _ version: Value, _ item: Value
    ) -> FoundOperation? {
        guard case .integer(let number) = kind, let kind = kinds[number], case .string(let text) = item,
            case .object(let members)? = try? Value(json: text.utf8)
        else { return nil }
        var operation = FoundOperation(kind: kind, table: table, id: id, item: members)
        // An empty version overwrites what the server has.
        operation.version = version == .string("") ? .null : version
        return operation
    }
}
