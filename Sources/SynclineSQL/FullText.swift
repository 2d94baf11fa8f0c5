// Full-text search: an SQLite file in the store's folder that follows the store's events.

import SegmentLog
public import Syncline
import SynclineGround

/// Full-text indexes on tables of a store.
///
/// The indexes are in an SQLite file in the folder of the store. A search first updates the file to the newest event. The
/// file is rebuilt if it is missing or damaged, or if the declaration of the indexes changes.
public actor FullText {
    private let database: SyncDatabase
    private let indexes: [FullTextIndex]
    private let file: FollowingFile

    /// Full-text indexes, at most one for each table, which the first search or update makes. A store has one set of
    /// them.
    public init(_ database: SyncDatabase, _ indexes: [FullTextIndex]) {
        self.database = database
        self.indexes = indexes
        let path = FullText.path(database.storage)
        // If this fails, opening the file reports it.
        if path != nil { try? database.storage.createDirectory(SyncDatabase.derivedFolder) }
        file = FollowingFile(path: path ?? "", content: FullTextContent(indexes: indexes), isPrivate: true)
    }

    /// Updates the indexes to the store's newest event, and returns the number of that event.
    @discardableResult
    public func update() throws(SyncError) -> EventNumber {
        try checkIndexes()
        return EventNumber(rawValue: try file.update(to: database.sqlSource) { _, event in event })
    }

    /// Returns the rows of a table that match, the best first.
    public func search(_ table: String, _ query: TextQuery) throws(SyncError) -> [TextMatch] {
        try search(table, query, database.sqlSource)
    }

    /// Observes a search: yields its current matches, and new ones after each commit that changes them.
    public nonisolated func observe(_ table: String, _ query: TextQuery) -> SQLResults<TextMatch> {
        SQLResults(database: database, tables: { _ in [table] }) { source throws(SyncError) in
            try await self.search(table, query, source)
        }
    }

    /// A search of a table must find one index.
    private func checkIndexes() throws(SyncError) {
        for (number, index) in indexes.enumerated()
        where indexes[..<number].contains(where: { $0.table.hasSameBytes(as: index.table) }) {
            throw SyncError(
                .invalidConfiguration, "\(index.table) has two full-text indexes",
                hint: "Declare one index with the columns of both.")
        }
    }

    private func search(_ table: String, _ query: TextQuery, _ source: SQLSource) throws(SyncError) -> [TextMatch] {
        try checkIndexes()
        guard let number = indexes.firstIndex(where: { $0.table.hasSameBytes(as: table) }) else {
            throw SyncError(
                .unknownTable, "\(table) has no full-text index", hint: "Declare one with FullTextIndex.")
        }
        if query.expression.isEmpty { return [] }
        return try file.update(to: source) { file, _ throws(FileFailure) in
            try FullText.matches(try FullText.run(query, number, file), of: table, source)
        }
    }

    /// The rows that were found, as they are in the store.
    static func matches(
        _ found: [[Value]], of table: String, _ source: SQLSource
    ) throws(FileFailure) -> [TextMatch] {
        var matches: [TextMatch] = []
        for match in found {
            guard case .string(let id) = match[0], case .double(let rank) = match[1],
                case .string(let snippet) = match[2],
                let row = try reading({ () throws(SyncError) in try source.reader.row(table, id) })
            else { continue }
            matches.append(TextMatch(row: row, rank: rank, snippet: snippet))
        }
        return matches
    }

    static func run(
        _ query: TextQuery, _ number: Int, _ file: FileConnection
    ) throws(FileFailure) -> [[Value]] {
        do throws(FileFailure) {
            return try file.run(
                """
                SELECT i.id, t.rank, snippet(text_\(number), -1, ?, ?, '…', ?) FROM text_\(number) t \
                JOIN ids_\(number) i ON i.number = t.rowid WHERE text_\(number) MATCH ? \
                ORDER BY t.rank, i.id LIMIT ? OFFSET ?
                """,
                [
                    .string(query.matchStart), .string(query.matchEnd),
                    .integer(Int64(max(1, min(query.snippetLength, 64)))), .string(query.expression),
                    .integer(Int64(max(0, query.limit))), .integer(Int64(max(0, query.skip))),
                ])
        } catch {
            guard case .refused(_, let reason) = error else { throw error }
            throw .failed(
                SyncError(
                    .invalidQuery, "the search can't be run: \(reason)",
                    hint: "An expression has the syntax of SQLite's FTS5."))
        }
    }

    /// The path of the file in a store's folder; nil for a store that is not in a directory.
    static func path(_ storage: any LogStorage) -> String? {
        guard storage is POSIXStorage else { return nil }
        return storage.location + "/" + SyncDatabase.derivedFolder + "/text.sqlite"
    }
}
