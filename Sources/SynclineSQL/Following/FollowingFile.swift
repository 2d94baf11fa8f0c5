// An SQLite file that is made from a store and follows its events. An update is one transaction that ends at an exact event,
// so a file whose update was cut off is at an earlier event. A file that does not fit the store is rebuilt.

import Foundation
import SynclineCore
import SynclineGround

final class FollowingFile {
    /// Empty for a database in memory.
    private let path: String
    private let content: any FileContent
    /// Whether the path belongs to Syncline, so that no other program can have made the file.
    private let isPrivate: Bool
    /// Opened by the first update.
    private var connection: FileConnection?
    /// The event of the last update, and the version of the file after it.
    private var last: (event: UInt64, version: [[Value]])?

    init(path: String, content: any FileContent, isPrivate: Bool) {
        self.path = path
        self.content = content
        self.isPrivate = isPrivate
    }

    /// Updates the file to the event of a source, and calls `body` with the file and its event, which is a later one if
    /// another process has written it.
    func update<Result>(
        to source: SQLSource, _ body: (FileConnection, UInt64) throws(FileFailure) -> Result
    ) throws(SyncError) -> Result {
        do throws(FileFailure) {
            return try attempt(source, body)
        } catch {
            guard case .damaged = error, isReplaceable else { throw SyncError(error) }
            (connection, last) = (nil, nil)
            for suffix in ["", "-wal", "-shm", "-journal"] {
                try? FileManager.default.removeItem(atPath: path + suffix)
            }
        }
        do throws(FileFailure) { return try attempt(source, body) } catch { throw SyncError(error) }
    }

    private func attempt<Result>(
        _ source: SQLSource, _ body: (FileConnection, UInt64) throws(FileFailure) -> Result
    ) throws(FileFailure) -> Result {
        let file = try open()
        // SQLite's number changes if another connection changes the file.
        let version = try file.run("PRAGMA data_version")
        if let last, last.event == source.event, last.version == version { return try body(file, last.event) }
        try claim(file)
        let (form, writer) = try reading { () throws(SyncError) in
            (try content.form(source), try content.writer(file, source.reader))
        }
        let event = try file.transaction { () throws(FileFailure) in try write(file, writer, to: source, form) }
        try scrub(file)
        last = (event, try file.run("PRAGMA data_version"))
        return try body(file, event)
    }

    private func open() throws(FileFailure) -> FileConnection {
        if let connection { return connection }
        let made = try FileConnection(path)
        connection = made
        return made
    }

    /// Notes in a new file that it is ours. Refuses a file of another program.
    private func claim(_ file: FileConnection) throws(FileFailure) {
        let id = try file.run("PRAGMA application_id").first?.first
        if id == .integer(Int64(FileStamp.applicationID)) { return }
        guard try file.run("SELECT 1 FROM sqlite_schema LIMIT 1").isEmpty, id == .integer(0) else {
            throw .failed(
                SyncError(
                    .invalidConfiguration, "the file \(path) was not made by Syncline",
                    hint: "Choose another path."))
        }
        try file.run("PRAGMA journal_mode = WAL")
        try file.run("PRAGMA application_id = \(FileStamp.applicationID)")
    }

    /// Whether a damaged file may be removed: only if it is ours.
    private var isReplaceable: Bool {
        if isPrivate { return !path.isEmpty }
        guard let handle = FileHandle(forReadingAtPath: path), let head = try? handle.read(upToCount: 72) else {
            return false
        }
        // SQLite's header, and the application's number in it.
        return head.count == 72 && head.starts(with: "SQLite format 3".utf8)
            && head.suffix(4).reduce(0) { $0 << 8 | UInt32($1) } == FileStamp.applicationID
    }

    // MARK: Writing

    private func write(
        _ file: FileConnection, _ writer: any FileWriter, to source: SQLSource, _ form: String
    ) throws(FileFailure) -> UInt64 {
        let stamp = try FileStamp.read(file)
        if let stamp, stamp.form == form {
            let end = max(source.event, stamp.event)
            if let changed = ChangedRows(after: stamp, through: end, source.storage) {
                // Another process has written a later event.
                if stamp.event >= source.event { return stamp.event }
                try write(changed, writer, source)
                if changed.areForgotten { try markRemains(file, writer) }
                try writer.finish(source)
                try FileStamp(event: source.event, record: changed.record, form: form).write(file)
                return source.event
            }
        }
        try writer.recreate()
        if stamp != nil { try markRemains(file, writer) }
        let tables = try reading { () throws(SyncError) in try source.reader.tables() }
        for table in tables where content.includes(table) { try copy(table, writer, source) }
        try writer.finish(source)
        let record = try reading { () throws(SyncError) in try ChangedRows.record(source.event, source.storage) }
        try FileStamp(event: source.event, record: record, form: form).write(file)
        return source.event
    }

    // MARK: Purged rows

    /// Removes what the tables still have of rows that are gone for good, and notes that SQLite's log has it, too.
    private func markRemains(_ file: FileConnection, _ writer: any FileWriter) throws(FileFailure) {
        try writer.scrub()
        try file.run("PRAGMA user_version = 1")
    }

    /// Empties SQLite's log if it has rows that are gone for good. While another program reads the file, that is left to a
    /// later update.
    private func scrub(_ file: FileConnection) throws(FileFailure) {
        guard try file.run("PRAGMA user_version") == [[.integer(1)]], try file.emptyLog() else { return }
        try file.run("PRAGMA user_version = 0")
    }

    private func write(_ changed: ChangedRows, _ writer: any FileWriter, _ source: SQLSource) throws(FileFailure) {
        for table in changed.tables.map(\.text) where content.includes(table) {
            try writer.removeAll(of: table)
            try copy(table, writer, source)
        }
        for row in changed.rows where content.includes(row.table.text) && !changed.tables.contains(row.table) {
            let (table, id) = (row.table.text, row.id.text)
            let stored = try reading { () throws(SyncError) in try source.reader.row(table, id) }
            // A store that ignores case may spell the id in another way now.
            try writer.remove(id, of: table)
            if let stored { try writer.put(stored, of: table) }
        }
    }

    private func copy(_ table: String, _ writer: any FileWriter, _ source: SQLSource) throws(FileFailure) {
        let cursor = try reading { () throws(SyncError) in try RowCursor(source.reader, table: table) }
        var next = cursor.row
        while let row = next {
            try writer.put(try reading { () throws(SyncError) in try row.stored }, of: table)
            next = try reading { () throws(SyncError) in try cursor.advance() }
        }
    }
}

/// Runs a body that reads the store.
func reading<Result>(_ body: () throws(SyncError) -> Result) throws(FileFailure) -> Result {
    do throws(SyncError) { return try body() } catch { throw .failed(error) }
}
