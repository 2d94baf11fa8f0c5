// A mirror: a copy of a store as an SQLite file, for programs that read SQLite.

public import Syncline

/// An SQLite file with an ordinary table for each table of a store, for programs that read SQLite.
///
/// Other programs should only read the file: what they write is lost when the row changes in the store. The table
/// `syncline_stamp` has the number of the event that the file is at.
public struct SQLMirror: Sendable {
    private let database: SyncDatabase
    private let path: String

    /// A mirror in a file, which the first update makes. A file that was not made by Syncline is never changed.
    public init(_ database: SyncDatabase, at path: String) {
        self.database = database
        self.path = path
    }

    /// Updates the file to the store's newest event in one transaction, and returns the number of that event.
    @discardableResult
    @concurrent
    public func update() async throws(SyncError) -> EventNumber {
        EventNumber(rawValue: try MirrorFile(path).update(to: database.sqlSource))
    }

    /// Updates the file now and after every commit, until the task is cancelled or the store is closed. Calls
    /// `progress` after each update with the number of the event.
    @concurrent
    public func follow(_ progress: @Sendable (EventNumber) -> Void = { _ in }) async throws(SyncError) {
        let signals = database.signals(of: nil)
        let file = try MirrorFile(path)
        progress(EventNumber(rawValue: try file.update(to: database.sqlSource)))
        for await _ in signals { progress(EventNumber(rawValue: try file.update(to: database.sqlSource))) }
        if Task.isCancelled { throw .queryCancelled }
    }
}

/// The file of a mirror. It stays open between updates. One thread uses it at a time.
package final class MirrorFile {
    private let file: FollowingFile

    package init(_ path: String) throws(SyncError) {
        if path.isEmpty || path.utf8.contains(0) {
            throw SyncError(
                .invalidConfiguration, "the path of a mirror is empty or has a zero byte",
                hint: "Give the path of a file.")
        }
        file = FollowingFile(path: path, content: MirrorContent(), isPrivate: false)
    }

    /// Updates the file to the event of a source, and returns the number of that event, or of a later one if another
    /// process has written it.
    package func update(to source: SQLSource) throws(SyncError) -> UInt64 {
        try file.update(to: source) { _, event in event }
    }
}
