// Database files of other clients, written as those clients write them, and what a store made from them sends.

import Foundation
import SegmentLog
import SynclineCore
import SynclineSQL
import SynclineTesting
import SynclineWire

@testable import Syncline

/// A moment in the three forms of the files: 2026-05-19T21:30:00.123Z.
enum Moment {
    static let text = "2026-05-19T21:30:00.123Z"
    static let since2001 = "800919000.123"
    static let since1970 = "1779226200123"
    static let plain = "2026-05-19 21:30:00.1234567+00:00"
}

/// A store of MSClient with the entities TodoItem and List. Rows and operations are added by statements.
struct CoreDataFixture {
    let path: String

    init(_ directory: TemporaryDirectory) throws {
        path = directory.path + "/Todo List.sqlite"
        try run(
            """
            CREATE TABLE Z_PRIMARYKEY (Z_ENT INTEGER PRIMARY KEY, Z_NAME VARCHAR, Z_SUPER INTEGER, Z_MAX INTEGER);
            CREATE TABLE Z_METADATA (Z_VERSION INTEGER PRIMARY KEY, Z_UUID VARCHAR(255), Z_PLIST BLOB);
            CREATE TABLE Z_MODELCACHE (Z_CONTENT BLOB);
            INSERT INTO Z_PRIMARYKEY VALUES (1, 'MS_TableConfig', 0, 0), (2, 'MS_TableOperationErrors', 0, 0),
                (3, 'MS_TableOperations', 0, 0), (4, 'TodoItem', 0, 0);
            CREATE TABLE ZMS_TABLECONFIG (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZKEYTYPE INTEGER,
                ZID VARCHAR, ZKEY VARCHAR, ZTABLE VARCHAR, ZVALUE VARCHAR);
            CREATE TABLE ZMS_TABLEOPERATIONERRORS (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER,
                ZOPERATIONID INTEGER, ZTABLEKIND INTEGER, ZID VARCHAR, ZPROPERTIES BLOB);
            CREATE TABLE ZMS_TABLEOPERATIONS (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZID INTEGER,
                ZTABLEKIND INTEGER, ZITEMID VARCHAR, ZTABLE VARCHAR, ZPROPERTIES BLOB);
            CREATE TABLE ZTODOITEM (Z_PK INTEGER PRIMARY KEY, Z_ENT INTEGER, Z_OPT INTEGER, ZCOMPLETE INTEGER,
                ZDELETED INTEGER, ZPARTS INTEGER, ZCREATEDAT TIMESTAMP, ZDUEAT TIMESTAMP, ZUPDATEDAT TIMESTAMP,
                ZPRICE FLOAT, ZID VARCHAR, ZTEXT VARCHAR, ZVERSION VARCHAR, ZPHOTO BLOB);
            """)
    }

    /// What the file does not contain.
    static let tables = [
        ForeignTable(
            "TodoItem",
            columns: [
                ForeignColumn("complete", .bool), ForeignColumn("parts", .integer), ForeignColumn("dueAt"),
                ForeignColumn("price"), ForeignColumn("text"), ForeignColumn("photo", .bytes),
            ])
    ]

    func run(_ statements: String) throws {
        let file = try PlainSQLite(path)
        for statement in statements.split(separator: ";") where !statement.allSatisfy(\.isWhitespace) {
            try file.run(String(statement))
        }
    }

    /// Adds a row, with some columns as they are in SQL.
    func add(_ id: String, _ columns: [String: String] = [:]) throws {
        let names = columns.keys.sorted()
        let list = (["Z_ENT", "Z_OPT", "ZID"] + names).joined(separator: ", ")
        let values = (["4", "1", "'\(id)'"] + names.map { columns[$0] ?? "NULL" }).joined(separator: ", ")
        try run("INSERT INTO ZTODOITEM (\(list)) VALUES (\(values))")
    }

    /// Adds an operation: 0 insert, 1 update, 2 delete.
    func add(operation number: Int, _ type: Int, _ id: String, item: String? = nil) throws {
        let item = item.map { #","item":"# + $0 } ?? ""
        try run(
            """
            INSERT INTO ZMS_TABLEOPERATIONS (Z_ENT, Z_OPT, ZID, ZTABLEKIND, ZITEMID, ZTABLE, ZPROPERTIES)
            VALUES (3, 1, \(number), 0, '\(id)', 'TodoItem', CAST('{"type":\(type)\(item)}' AS BLOB))
            """)
    }
}

/// A file of the Datasync Community Toolkit with the class App.TodoItem.
struct EntityFrameworkFixture {
    let path: String

    init(_ directory: TemporaryDirectory) throws {
        path = directory.path + "/app.db"
        try run(
            """
            CREATE TABLE "__EFMigrationsHistory" ("MigrationId" TEXT NOT NULL PRIMARY KEY, "ProductVersion" TEXT NOT NULL);
            CREATE TABLE "DatasyncDeltaTokens" ("Id" TEXT NOT NULL PRIMARY KEY, "Value" INTEGER NOT NULL);
            CREATE TABLE "DatasyncOperationsQueue" ("Id" TEXT NOT NULL PRIMARY KEY, "Kind" INTEGER NOT NULL,
                "State" INTEGER NOT NULL, "LastAttempt" TEXT NULL, "HttpStatusCode" INTEGER NULL,
                "EntityType" TEXT NOT NULL, "ItemId" TEXT NOT NULL, "EntityVersion" TEXT NOT NULL, "Item" TEXT NOT NULL,
                "Sequence" INTEGER NOT NULL, "Version" INTEGER NOT NULL);
            CREATE TABLE "TodoItems" ("Id" TEXT NOT NULL PRIMARY KEY, "Title" TEXT NOT NULL,
                "IsComplete" INTEGER NOT NULL, "Price" REAL NOT NULL, "DueAt" TEXT NULL, "UpdatedAt" TEXT NULL,
                "Version" TEXT NULL, "Deleted" INTEGER NOT NULL);
            INSERT INTO DatasyncDeltaTokens VALUES ('App.TodoItem', 1779226200123);
            """)
    }

    static let tables = [
        ForeignTable(
            "TodoItems",
            columns: [
                ForeignColumn("title", .string), ForeignColumn("isComplete", .bool), ForeignColumn("dueAt", .date),
            ])
    ]

    func run(_ statements: String) throws {
        let file = try PlainSQLite(path)
        for statement in statements.split(separator: ";") where !statement.allSatisfy(\.isWhitespace) {
            try file.run(String(statement))
        }
    }

    func add(_ id: String, title: String, complete: Int = 0, price: Double = 0, due: String = "NULL", version: String)
        throws
    {
        try run(
            """
            INSERT INTO TodoItems VALUES ('\(id)', '\(title)', \(complete), \(price), \(due), '\(Moment.plain)',
                '\(version)', 0)
            """)
    }

    /// Adds an operation: 0 add, 1 delete, 2 replace.
    func add(operation sequence: Int, _ kind: Int, _ id: String, version: String = "", state: Int = 0, item: String)
        throws
    {
        try run(
            """
            INSERT INTO DatasyncOperationsQueue VALUES ('op\(sequence)', \(kind), \(state), NULL,
                \(state == 2 ? "412" : "NULL"), 'App.TodoItem', '\(id)', '\(version)', '\(item)', \(sequence), 0)
            """)
    }
}

/// A store that was made from a file, with a simulated server.
struct ImportedStore {
    let report: ForeignReport
    let database: SyncDatabase
    let server: SimulatedServer
    let network: SimulatedNetwork

    init(
        _ path: String, _ client: ForeignClient, _ tables: [ForeignTable], _ directory: TemporaryDirectory,
        _ table: String = "t", rows: [Value] = [], schema: SyncSchema? = nil
    ) async throws {
        let serverProtocol: ServerProtocol = client == .msclient ? .zumo2 : .datasync3
        server = SimulatedServer(serverProtocol)
        server.setTable(table, rows: rows)
        network = SimulatedNetwork(server)
        var configuration = SyncConfiguration(serverProtocol: serverProtocol, schema: schema)
        configuration.connect(to: network)
        let store = directory.path + "/store"
        report = try await ForeignStore(at: path, from: client, tables: tables).makeStore(at: store, configuration)
        configuration.creation = .never
        database = try await SyncDatabase.open(at: store, configuration)
    }

    /// The writes that were sent: method, path, `If-Match`, and the body with its members sorted.
    var sent: [String] {
        network.requests.filter { $0.method != "GET" }.map { request in
            var line = "\(request.method) \(request.path)"
            if let version = request.headers.value("If-Match") { line += " if \(version)" }
            if let body = request.body, case .object(let members)? = try? Value(json: body) {
                line += " \(Value.object(members.sorted { $0.name < $1.name }).debugDescription)"
            }
            return line
        }
    }

    func row(_ table: String, _ id: String) async throws -> [String: Value]? {
        try await database.rows(of: table).get(id: id).map { row in
            Dictionary(uniqueKeysWithValues: row.columns.members.map { ($0.name, $0.value) })
        }
    }
}
