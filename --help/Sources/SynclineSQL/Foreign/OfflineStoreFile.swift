// The SQLite file of Microsoft.Datasync.Client. A table has the name that it has on the server, and its columns have their
// names in JSON, with types that say what they hold.

import SynclineCore
import SynclineWire

struct OfflineStoreFile: ForeignReading {
    let dates = ForeignDates.millisecondsSince1970
    let ignoresCase = false
    private let file: ForeignFile
    private let schema: [String: [(name: String, type: String)]]
    private let choice: TableChoice

    private static let required = [
        ("__operations", ["kind", "state", "tableName", "itemId", "item", "sequence"]),
        ("__errors", ["status", "tableName", "item"]), ("__config", ["id"]),
    ]

    init(_ file: ForeignFile, _ described: [ForeignTable]) throws(SyncError) {
        self.file = file
        schema = try file.schema()
        try ForeignStore.check(schema, OfflineStoreFile.required, "a store of Microsoft.Datasync.Client")
        if schema["__operations"]?.contains(where: { $0.name == "tableKind" }) == true {
            throw SyncError(
                .invalidConfiguration,
                "the table __operations has a column tableKind, so the file is of the older Azure Mobile Apps client for .NET",
                hint: "Let that client push its changes, then pull them here.")
        }
        choice = try TableChoice(described, of: OfflineStoreFile.names(schema))
    }

    private static func names(_ schema: [String: [(name: String, type: String)]]) -> [String] {
        schema.keys.filter { !$0.hasPrefix("__") }.sorted()
    }

    // MARK: Tables

    func tables() throws(SyncError) -> [FoundTable] {
        var tables: [FileTable] = []
        for name in OfflineStoreFile.names(schema) {
            let columns = (schema[name] ?? []).map { column in
                FileTable.FileColumn(
                    sqlName: column.name, name: column.name, type: OfflineStoreFile.types[column.type], choices: [],
                    hasName: true)
            }
            guard columns.contains(where: { $0.name == "id" }) else { continue }
            tables.append(FileTable(name: name, sqlName: name, storeName: name, columns: columns))
        }
        return try choice.choose(tables)
    }

    private static let types: [String: ForeignType] = [
        "INTEGER": .integer, "TEXT": .string, "REAL": .number, "NUMERIC": .number, "BOOLEAN": .bool, "DATETIME": .date,
        "FLOAT": .number, "BLOB": .bytes, "GUID": .string, "JSON": .json, "URI": .string, "TIMESPAN": .string,
    ]

    func leftTables() throws(SyncError) -> [ForeignReport.Left] {
        try file.left(
            OfflineStoreFile.names(schema).filter { name in
                choice.description(of: name)?.isSkipped != true
                    && schema[name]?.contains(where: { $0.name == "id" }) != true
            })
    }

    // MARK: The queue

    func queue(_ tables: [FoundTable]) throws(SyncError) -> FoundQueue {
        var queue = FoundQueue()
        for row in try file.run(
            "SELECT tableName, itemId, kind, item FROM __operations WHERE state IS NOT 1 ORDER BY sequence, _rowid_")
        {
            guard case .string(let name) = row[0], case .string(let id) = row[1] else {
                queue.left.add("__operations", nil, .unreadable("it has no table or no id"))
                continue
            }
            if choice.description(of: name)?.isSkipped == true { continue }
            guard let table = tables.first(where: { $0.name == name })?.storeName else {
                queue.left.add(name, id, .unreadable("the file has no such table"))
                continue
            }
            guard case .integer(let number) = row[2], let kind = OfflineStoreFile.kinds[number] else {
                queue.left.add(table, id, .unreadable("its kind is not known"))
                continue
            }
            queue.operations.append(
                FoundOperation(kind: kind, table: table, id: id, item: OfflineStoreFile.item(row[3])))
        }
        for row in try file.run("SELECT tableName, item, status FROM __errors ORDER BY _rowid_") {
            guard case .string(let table) = row[0] else { continue }
            var (id, status) = (String?.none, Int64(0))
            if case .string(let text)? = OfflineStoreFile.item(row[1])?[member: "id"] { id = text }
            if case .integer(let number) = row[2] { status = number }
            queue.left.add(tables.first { $0.name == table }?.storeName ?? table, id, .answer(status: status))
        }
        for row in try file.run("SELECT id FROM __config ORDER BY id") {
            guard case .string(let key)? = row.first else { continue }
            // `dt.TABLE.QUERY`
            let parts = key.split(separator: ".", maxSplits: 2).map(String.init)
            guard parts.count == 3, parts[0] == "dt" else { continue }
            queue.queries.append(ForeignReport.Query(table: parts[1], queryID: parts[2]))
        }
        return queue
    }

    private static let kinds: [Int64: OperationKind] = [1: .delete, 2: .insert, 3: .update]

    private static func item(_ text: Value) -> [Value.Member]? {
        guard case .string(let text) = text, case .object(let members)? = try? Value(json: text.utf8) else {
            return nil
        }
        return members
    }
}
