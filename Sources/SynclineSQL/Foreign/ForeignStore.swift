// The database file of another client, and the store that is made from it.

import SegmentLog
public import Syncline
import SynclineGround

/// The database file of another client, which is imported with the operations that it had not sent.
///
/// The file is only read: a copy of it is opened. An import makes a new store, whole or not at all. Its rows are those that
/// the server had sent, and its pending changes those of the other client, so that a push sends what that client would
/// have sent.
public struct ForeignStore: Sendable {
    private let path: String
    private let client: ForeignClient
    private let tables: [ForeignTable]

    /// The file of a client. Describe each table for which the file lacks information; an error says which.
    public init(at path: String, from client: ForeignClient, tables: [ForeignTable] = []) {
        self.path = path
        self.client = client
        self.tables = tables
    }

    /// Reads the whole file, and returns what would be imported and what would be left out. Creates no store.
    @concurrent
    public func check() async throws(SyncError) -> ForeignReport { try await run(into: nil, .init()) }

    /// Makes a store in a directory that is missing or empty. Open it afterwards.
    ///
    /// Use the configuration with which the app opens the store. A file of Datasync needs the protocol `.datasync3`. If
    /// ``ForeignReport/left`` is not empty, the store lacks what it lists.
    @concurrent
    public func makeStore(
        at path: String, _ configuration: SyncConfiguration = .init()
    ) async throws(SyncError) -> ForeignReport {
        guard let draft = try DraftFolder(of: path) else {
            throw SyncError(
                .storeExists, "\(path) is not empty; a file is imported into a new store",
                hint: "Name a new directory.")
        }
        do throws(SyncError) {
            let report = try await write(into: draft.storage, configuration)
            try draft.putInPlace()
            return report
        } catch {
            draft.remove()
            throw error
        }
    }

    /// Makes a store in a storage.
    @concurrent
    package func write(
        into storage: any LogStorage, _ configuration: SyncConfiguration
    ) async throws(SyncError) -> ForeignReport {
        var configuration = configuration
        configuration.creation = .always
        // It becomes durable when it is closed.
        configuration.durability = .buffered
        configuration.isShared = false
        let database = try await SyncDatabase.open(storage, configuration)
        do throws(SyncError) {
            let report = try await run(into: database, configuration)
            try await database.close()
            return report
        } catch {
            try? await database.close()
            throw error
        }
    }

    // MARK: Running

    private func run(
        into database: SyncDatabase?, _ configuration: SyncConfiguration
    ) async throws(SyncError) -> ForeignReport {
        let file = try ForeignFile(path)
        let reading = try reading(file)
        let tables = try reading.tables()
        let queue = try reading.queue(tables)
        if let database { try await database.declare(tables.compactMap(\.types)) }
        var plan = ForeignPlan(queue, ignoresCase: reading.ignoresCase, localColumns: configuration.localColumns)
        for table in tables {
            plan.begin(table)
            try await self.read(table, file, reading.dates, &plan, into: database)
        }
        let (bases, changes) = plan.finish()
        if let database {
            for (table, rows) in bases { try await database.store(known: rows, of: table) }
            try await database.store(decided: changes)
        }
        var left = try reading.leftTables()
        left += plan.left
        return ForeignReport(
            client: client, tables: plan.tables, operations: changes.count, left: left, queries: queue.queries)
    }

    private func read(
        _ table: FoundTable, _ file: ForeignFile, _ dates: ForeignDates, _ plan: inout ForeignPlan,
        into database: SyncDatabase?
    ) async throws(SyncError) {
        var last: Int64?
        while let part = try file.rows(of: table, after: last) {
            if Task.isCancelled { throw SyncError(.cancelled, "the import was cancelled") }
            var known: [PulledRow] = []
            for row in part.rows {
                if let row = plan.read(row.dropFirst(), of: table, dates), let base = plan.add(row, of: table) {
                    known.append(base)
                }
            }
            let local = plan.takeLocalChanges()
            if let database {
                if !known.isEmpty { try await database.store(known: known, of: table.storeName) }
                if !local.isEmpty { try await database.store(decided: local) }
            }
            last = part.last
        }
    }

    private func reading(_ file: ForeignFile) throws(SyncError) -> any ForeignReading {
        switch client {
        case .msclient: return try CoreDataFile(file, tables)
        case .datasync:
            if try file.schema()["__operations"] != nil { return try OfflineStoreFile(file, tables) }
            return try EntityFrameworkFile(file, tables)
        }
    }

    /// Throws unless a file has tables and columns; the error names the first that is missing.
    static func check(
        _ schema: [String: [(name: String, type: String)]], _ required: [(table: String, columns: [String])],
        _ kind: String
    ) throws(SyncError) {
        for (table, columns) in required {
            guard let found = schema[table] else {
                throw SyncError(
                    .invalidConfiguration, "the file has no table \(table), so it is not \(kind)",
                    hint: "Name the client that wrote the file: msclient or datasync.")
            }
            for column in columns where !found.contains(where: { $0.name == column }) {
                throw SyncError(
                    .invalidConfiguration, "the table \(table) has no column \(column), so the file is not \(kind)",
                    hint: "A version of the client that is not known wrote it.")
            }
        }
    }
}

extension SyncConfiguration {
    /// The columns of each table that never leave the device.
    fileprivate var localColumns: [String: Set<ExactString>] {
        var columns: [String: Set<ExactString>] = [:]
        for table in schema?.tables ?? [] where !table.localColumns.isEmpty {
            columns[table.name, default: []].formUnion(table.localColumns.exact)
        }
        return columns
    }
}
