// The stores that take part, by name, and how each is opened.

/// A store with its settings.
enum EngineName: String, CaseIterable, Codable, Sendable {
    case floor
    case log
    case sqliteRowid = "sqlite-rowid"
    case sqliteRowidConnections = "sqlite-rowid-connections"
    case sqliteRowidTuned = "sqlite-rowid-tuned"
    case sqliteClustered = "sqlite-without-rowid"
    case sqliteClusteredTuned = "sqlite-without-rowid-tuned"
    case rocksdb
    case leveldb
    case lmdb

    var isSQLite: Bool { rawValue.hasPrefix("sqlite") }

    /// Opens the store in a directory that exists, or creates it there.
    func open(_ directory: String, _ durability: Durability) throws -> any Engine {
        switch self {
        case .floor: try FloorEngine(directory, durability)
        case .log: try SegmentLogEngine(directory, durability)
        case .sqliteRowid: try SQLiteEngine(directory, durability, .init())
        case .sqliteRowidConnections: try SQLiteEngine(directory, durability, .init(connectionEach: true))
        case .sqliteRowidTuned: try SQLiteEngine(directory, durability, .init(tuned: true))
        case .sqliteClustered: try SQLiteEngine(directory, durability, .init(clustered: true))
        case .sqliteClusteredTuned: try SQLiteEngine(directory, durability, .init(clustered: true, tuned: true))
        case .rocksdb: try RocksDBEngine(directory, durability)
        case .leveldb: try LevelDBEngine(directory, durability)
        case .lmdb: try LMDBEngine(directory, durability)
        }
    }

    /// Opens a store that is there, to read all of it.
    func openForReading(_ directory: String) throws -> any RecordReader {
        self == .log ? try SegmentLogRecords(directory) : try open(directory, .buffered)
    }

    /// A reader of a store that another process writes.
    func follow(_ directory: String) throws -> (any Follower)? {
        switch self {
        case .log: try SegmentLogFollower(directory)
        case .sqliteRowid: try SQLiteFollower(directory)
        default: nil
        }
    }

    /// Opens the log as a writer would after a crash, and nothing more. Only the log splits opening so.
    func recover(_ directory: String) throws {
        guard self == .log else { throw BenchError("\(rawValue) has no recovery apart from opening") }
        try SegmentLogEngine.recover(directory)
    }
}

/// An engine and the way its writers call it: one row of a table.
struct EngineVariant: Hashable, Codable, Sendable {
    var engine: EngineName
    var style = Style.threads

    /// Whether writers are threads that block or tasks that suspend.
    enum Style: String, Codable, Sendable {
        case threads, tasks
    }

    var label: String { style == .tasks ? engine.rawValue + "-async" : engine.rawValue }

    init(_ engine: EngineName, _ style: Style = .threads) {
        self.engine = engine
        self.style = style
    }
}
