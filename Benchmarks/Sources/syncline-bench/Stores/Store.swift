// What a sync client needs of its store, and which stores can do it: rows by id, and with each change an operation that
// waits to be pushed, both in one transaction.

/// A store under test, opened on one directory. Its calls may suspend; most block the thread instead.
protocol Store: AnyObject, Sendable {
    /// Inserts rows and queues an operation for each, as one transaction.
    func insert(_ rows: TodoRows, _ range: Range<Int>) async throws
    /// Reads a whole row by its id; its size.
    func get(_ rows: TodoRows, _ index: Int) async throws -> Int
    /// Reads all rows that match a filter no index serves; how many they are.
    func filter() async throws -> Int
    /// Makes an index over the tags.
    func index() async throws
    /// Reads all rows with a tag by the index; how many they are.
    func find(tag: String) async throws -> Int
    /// Makes the indexes that the questions of lists use.
    func indexLists() async throws
    /// Answers a question of a list; how many rows, or the number counted.
    func ask(_ question: ListQuestion, _ place: ListPlace) async throws -> Int
    /// What would be pushed; how many operations.
    func plan() async throws -> Int
    func close() async throws
}

/// Not every store does everything: one without queries takes no part in their workloads.
extension Store {
    func filter() async throws -> Int { throw BenchError("no filter") }
    func index() async throws { throw BenchError("no index") }
    func find(tag: String) async throws -> Int { throw BenchError("no index") }
    func indexLists() async throws { throw BenchError("no index") }
    func ask(_ question: ListQuestion, _ place: ListPlace) async throws -> Int { throw BenchError("no lists") }
    func plan() async throws -> Int { throw BenchError("no plan") }
}

/// A store with its settings.
enum StoreName: String, CaseIterable, Codable, Sendable {
    case syncline
    case synclineTuned = "syncline-tuned"
    case sqliteRowid = "sqlite-rowid"
    case sqliteRowidTuned = "sqlite-rowid-tuned"
    case sqliteClustered = "sqlite-without-rowid"
    case sqliteClusteredTuned = "sqlite-without-rowid-tuned"
    case lmdb
    case rocksdb
    case duckdb

    var isSQLite: Bool { rawValue.hasPrefix("sqlite") }
    var isSyncline: Bool { self == .syncline || self == .synclineTuned }
    var hasQueries: Bool { isSyncline || isSQLite }
    /// Whether it is made for questions about many rows, and only asked those.
    var isAnalytic: Bool { self == .duckdb }
    /// Whether its program is installed. Libraries are always there.
    var isInstalled: Bool { self != .duckdb || DuckDBStore.program != nil }

    /// Opens the store in a directory that exists, or creates it there.
    func open(_ directory: String, _ durability: Durability) async throws -> any Store {
        switch self {
        case .syncline: try await SynclineStore(directory, durability)
        case .synclineTuned: try await SynclineStore(directory, durability, tuned: true)
        case .sqliteRowid: try SQLiteStore(directory, durability, .init())
        case .sqliteRowidTuned: try SQLiteStore(directory, durability, .init(tuned: true))
        case .sqliteClustered: try SQLiteStore(directory, durability, .init(clustered: true))
        case .sqliteClusteredTuned: try SQLiteStore(directory, durability, .init(clustered: true, tuned: true))
        case .lmdb: try LMDBStore(directory, durability)
        case .rocksdb: try RocksDBStore(directory, durability)
        case .duckdb: try DuckDBStore(directory)
        }
    }
}
