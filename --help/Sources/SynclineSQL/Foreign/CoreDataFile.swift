// The SQLite store of Core Data as MSClient uses it. An entity is a table whose name is Z and the name of the entity in
// capitals, and its attributes are columns in the same way. Z_PRIMARYKEY has the names of the entities. The file has no
// names of attributes, and no Booleans.

import SynclineCore
import SynclineWire

struct CoreDataFile: ForeignReading {
    private struct Entity {
        var name: String
        var number: Int64
        var sqlName: String
        /// Whether other entities are in the same table.
        var isShared: Bool
    }

    let dates = ForeignDates.secondsSince2001
    let ignoresCase = true
    private let file: ForeignFile
    private let schema: [String: [(name: String, type: String)]]
    private let choice: TableChoice
    private let entities: [Entity]

    /// The tables of MSClient and the columns that are read.
    private static let required = [
        ("ZMS_TABLEOPERATIONS", ["ZID", "ZITEMID", "ZPROPERTIES", "ZTABLE"]),
        ("ZMS_TABLEOPERATIONERRORS", ["ZPROPERTIES"]), ("ZMS_TABLECONFIG", ["ZKEY", "ZTABLE"]),
        ("Z_PRIMARYKEY", ["Z_ENT", "Z_NAME", "Z_SUPER"]),
    ]

    init(_ file: ForeignFile, _ described: [ForeignTable]) throws(SyncError) {
        self.file = file
        schema = try file.schema()
        try ForeignStore.check(schema, CoreDataFile.required, "a store of MSClient")
        entities = try CoreDataFile.entities(file)
        choice = try TableChoice(described, of: entities.map(\.name))
    }

    private static func entities(_ file: ForeignFile) throws(SyncError) -> [Entity] {
        var found: [Int64: (name: String, parent: Int64)] = [:]
        for row in try file.run("SELECT Z_ENT, Z_NAME, Z_SUPER FROM Z_PRIMARYKEY") {
            guard case .integer(let number) = row[0], case .string(let name) = row[1] else { continue }
            if case .integer(let parent) = row[2] { found[number] = (name, parent) } else { found[number] = (name, 0) }
        }
        let parents = Set(found.values.map(\.parent))
        return found.sorted { $0.key < $1.key }.compactMap { number, entity in
            if entity.name.hasPrefix("MS_Table") { return nil }
            var root = entity
            // A circle, which Core Data does not write, ends after as many steps as there are entities.
            for _ in found.indices { root = found[root.parent] ?? root }
            return Entity(
                name: entity.name, number: number, sqlName: "Z" + root.name.uppercased(),
                isShared: entity.parent != 0 || parents.contains(number))
        }
    }

    // MARK: Tables

    private func columns(of entity: Entity) -> [FileTable.FileColumn]? {
        schema[entity.sqlName]?.compactMap { column in
            if column.name.hasPrefix("Z_") { return nil }
            let letters = String(column.name.dropFirst()).lowercased()
            if let system = CoreDataFile.systemNames[letters] {
                return .init(sqlName: column.name, name: system, choices: [], hasName: true)
            }
            let types = CoreDataFile.types(column.type)
            return .init(
                sqlName: column.name, name: letters, likelyType: types.count == 1 ? types[0] : nil, choices: types,
                hasName: false)
        }
    }

    /// The older versions of MSClient put `ms_` before the names of system columns.
    private static let systemNames = Dictionary(
        uniqueKeysWithValues: ["version", "createdAt", "updatedAt", "deleted"].flatMap { name in
            [(name.lowercased(), name), ("ms_" + name.lowercased(), name)]
        } + [("id", "id")])

    private static func types(_ declared: String) -> [ForeignType] {
        switch declared {
        case "VARCHAR": [.string]
        case "TIMESTAMP": [.date]
        case "FLOAT", "DECIMAL": [.number]
        case "BLOB": [.bytes, .uuid]
        default: [.integer, .bool]
        }
    }

    func tables() throws(SyncError) -> [FoundTable] {
        var tables: [FileTable] = []
        for entity in entities {
            guard let columns = columns(of: entity) else {
                if choice.description(of: entity.name)?.isSkipped == true { continue }
                throw SyncError(
                    .invalidConfiguration, "the file has no table \(entity.sqlName) for the entity \(entity.name)",
                    hint: "It is not a complete store of Core Data.")
            }
            guard columns.contains(where: { $0.name == "id" }) else { continue }
            tables.append(
                FileTable(
                    name: entity.name, sqlName: entity.sqlName, entity: entity.isShared ? entity.number : nil,
                    storeName: entity.name, columns: columns))
        }
        return try choice.choose(tables)
    }

    func leftTables() throws(SyncError) -> [ForeignReport.Left] {
        var left: [ForeignReport.Left] = []
        for entity in entities where choice.description(of: entity.name)?.isSkipped != true {
            guard let columns = columns(of: entity), !columns.contains(where: { $0.name == "id" }) else { continue }
            let count = try file.run(
                "SELECT count(*) FROM \(SQLName.quoted(entity.sqlName)) WHERE Z_ENT = ?", [.integer(entity.number)])
            if case .integer(let rows)? = count.first?.first, rows > 0 {
                left.add(entity.name, nil, .notSynced, count: Int(rows))
            }
        }
        return left
    }

    // MARK: The queue

    func queue(_ tables: [FoundTable]) throws(SyncError) -> FoundQueue {
        var queue = FoundQueue()
        for row in try file.run(
            "SELECT ZTABLE, ZITEMID, ZPROPERTIES FROM ZMS_TABLEOPERATIONS ORDER BY ZID, Z_PK")
        {
            guard case .string(let name) = row[0], case .string(let id) = row[1] else {
                queue.left.add("MS_TableOperations", nil, .unreadable("it has no table or no id"))
                continue
            }
            if choice.description(of: name)?.isSkipped == true { continue }
            guard let table = tables.first(where: { $0.name.matches(name) })?.storeName else {
                queue.left.add(name, id, .unreadable("the file has no such table"))
                continue
            }
            guard let operation = CoreDataFile.operation(table, id, row[2]) else {
                queue.left.add(table, id, .unreadable("its properties are not as expected"))
                continue
            }
            queue.operations.append(operation)
        }
        try addErrors(&queue, tables)
        for row in try file.run("SELECT ZTABLE, ZKEY FROM ZMS_TABLECONFIG ORDER BY ZTABLE, ZKEY") {
            guard case .string(let table) = row[0], case .string(let id) = row[1] else { continue }
            queue.queries.append(ForeignReport.Query(table: table, queryID: id))
        }
        return queue
    }

    private static func operation(_ table: String, _ id: String, _ properties: Value) -> FoundOperation? {
        guard let object = object(properties), case .integer(let type)? = object[member: "type"],
            let kind = kinds[type]
        else { return nil }
        var operation = FoundOperation(kind: kind, table: table, id: id)
        if kind == .delete, case .object(let item)? = object[member: "item"] { operation.item = item }
        return operation
    }

    private static let kinds: [Int64: OperationKind] = [0: .insert, 1: .update, 2: .delete]

    private static func object(_ properties: Value) -> Value? {
        guard case .bytes(let bytes) = properties, let value = try? Value(json: bytes), case .object = value else {
            return nil
        }
        return value
    }

    /// What the server had answered.
    private func addErrors(_ queue: inout FoundQueue, _ tables: [FoundTable]) throws(SyncError) {
        for row in try file.run("SELECT ZPROPERTIES FROM ZMS_TABLEOPERATIONERRORS ORDER BY Z_PK") {
            let error = CoreDataFile.object(row[0])
            var (name, id, status) = ("MS_TableOperationErrors", String?.none, Int64(0))
            if case .string(let table)? = error?[member: "table"] { name = table }
            if case .string(let item)? = error?[member: "itemId"] { id = item }
            if case .integer(let number)? = error?[member: "statusCode"] { status = number }
            let table = tables.first { $0.name.matches(name) }?.storeName ?? name
            queue.left.add(table, id, .answer(status: status))
        }
    }
}
