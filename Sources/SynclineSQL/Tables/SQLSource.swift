// The source of a statement: the state of a store at a moment, and its log.

package import Syncline
import SynclineGround

package struct SQLSource: Sendable {
    package let reader: StateReader
    /// The last event that the state includes.
    package let event: UInt64
    package let storage: any LogStorage
    private let facts: StoreFacts

    package init(_ reader: StateReader, event: UInt64, _ storage: any LogStorage) {
        self.init(reader, event: event, storage, StoreFacts())
    }

    init(_ reader: StateReader, event: UInt64, _ storage: any LogStorage, _ facts: StoreFacts) {
        self.reader = reader
        self.event = event
        self.storage = storage
        self.facts = facts
    }

    /// The store's tables, by their names in SQL.
    func tables() throws(SyncError) -> [(name: String, stored: String)] {
        if let known = facts.known(at: reader.snapshot.commit).tables { return known }
        let stored = try reader.knownTables()
        let names = SQLName.tables(stored, besides: SystemTable.allCases.map(\.rawValue))
        let tables = zip(names, stored).map { (name: $0, stored: $1) }
        facts.add(at: reader.snapshot.commit) { $0.tables = tables }
        return tables
    }

    /// The columns of a table, and the number of its rows.
    func facts(of table: String) throws(SyncError) -> TableFacts {
        let key = ExactString(table)
        if let known = facts.known(at: reader.snapshot.commit).columns[key] { return known }
        guard let outline = try reader.outline(of: table, while: { !Task.isCancelled }) else {
            throw .queryCancelled
        }
        let found = try TableFacts(reader, table, outline)
        facts.add(at: reader.snapshot.commit) { $0.columns[key] = found }
        return found
    }

    /// What each column of an index of a table has.
    /// - Parameter place: The position of the index among those of the table.
    func contents(of table: String, _ place: Int, _ index: TableIndex) throws(SyncError) -> [IndexContent] {
        let key = StoreFacts.IndexName(table: ExactString(table), place: place)
        if let known = facts.known(at: reader.snapshot.commit).contents[key] { return known }
        let found = try reader.contents(
            table, index, isNumber: { NumericForm($0) != .none }, while: { !Task.isCancelled })
        guard let found else { throw .queryCancelled }
        facts.add(at: reader.snapshot.commit) { $0.contents[key] = found }
        return found
    }

    /// The same store at another event.
    func at(_ other: UInt64) throws(SyncError) -> SQLSource {
        if other == event { return self }
        let projector = try HistoryReading.run(storage) { () throws(SyncError) in
            try StateLoader(storage).load(through: other)
        }
        guard projector.through == other else {
            throw SyncError(
                .invalidQuery, "the store has no event @\(other)", hint: "The last event is @\(projector.through).")
        }
        return SQLSource(projector.reader(of: projector.store.endCommit()), event: other, storage)
    }
}

/// What statements found out about a store at one commit, the last that was asked for.
final class StoreFacts: Sendable {
    struct Known {
        /// The tables, by their names in SQL.
        var tables: [(name: String, stored: String)]?
        var columns: [ExactString: TableFacts] = [:]
        var contents: [IndexName: [IndexContent]] = [:]
    }

    /// A table, and the position of an index among those of it.
    struct IndexName: Hashable {
        var table: ExactString
        var place: Int
    }

    private let last = Mutex((commit: UInt64.max, known: Known()))

    func known(at commit: UInt64) -> Known {
        last.withLock { $0.commit == commit ? $0.known : Known() }
    }

    func add(at commit: UInt64, _ add: (inout Known) -> Void) {
        last.withLock { last in
            if last.commit != commit { last = (commit, Known()) }
            add(&last.known)
        }
    }
}

extension SyncError {
    /// The error for a statement whose task was cancelled.
    static var queryCancelled: SyncError { SyncError(.cancelled, "the query was cancelled") }
}

/// Called by SQLite, on the thread of the task, to ask whether to stop.
nonisolated func shouldStop(_ context: UnsafeMutableRawPointer?) -> Int32 { Task.isCancelled ? 1 : 0 }
