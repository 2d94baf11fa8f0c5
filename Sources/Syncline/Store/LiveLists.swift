// Tells live queries which rows commits changed. The writer only notes the rows; a queue reads them, once
// for all queries of their table, and lets each query decide what they mean for it. A query of several tables is given
// the changes of all of them at once, so it never mixes two commits.

import Dispatch
import SynclineCore
import SynclineGround

final class LiveLists: Sendable {
    private struct Content {
        var lists: [Int: any LiveFollower] = [:]
        var next = 0
        /// How many times changes of each table were passed on. Names of tables are compared by their bytes.
        var versions: [[UInt8]: UInt64] = [:]
        /// The state that those versions describe; nil if there are no live queries.
        var reader: StateReader?
        /// The rows that changed since; nil if they are not known.
        var changed: Set<[UInt8]>? = []
        /// The state after those changes; nil if there are none.
        var newest: StateReader?
        var isRunning = false

        /// The version of several tables together: the sum of theirs.
        func version(of tables: [[UInt8]]) -> UInt64 { tables.reduce(0) { $0 + versions[$1, default: 0] } }

        mutating func add(_ rows: Set<[UInt8]>?) {
            guard var known = changed, let rows else { return changed = nil }
            changed = []
            known.formUnion(rows)
            changed = known.count > LiveLists.rowLimit ? nil : known
        }
    }

    /// Changes to be passed on together.
    private struct Batch {
        struct Follower {
            let list: any LiveFollower
            /// Its tables that changed.
            let tables: [[UInt8]]
            /// The version of all its tables before.
            let version: UInt64
        }

        let before: StateReader
        let after: StateReader
        /// The keys of the changed rows of each table; nil if they are not known.
        let rows: [[UInt8]: [[UInt8]]]?
        var followers: [Follower] = []

        /// Reads the changed rows of some tables, each once for all live queries; nil if they are not known.
        func changes(
            of tables: [[UInt8]], _ known: inout [[UInt8]: TableChanges]
        ) throws(SyncError) -> [TableChanges]? {
            guard let rows else { return nil }
            return try tables.map { table throws(SyncError) -> TableChanges in
                if let changes = known[table] { return changes }
                let name = String(decoding: table, as: UTF8.self)
                let changes = try TableChanges(of: name, rows[table] ?? [], from: before, to: after)
                known[table] = changes
                return changes
            }
        }
    }

    private let content = Mutex(Content())
    private let queue = DispatchQueue(label: "Syncline.LiveLists")

    /// For tests: returns when all noted changes have been passed on.
    func wait() { queue.sync {} }

    /// With more rows than this, running the queries again is faster.
    private static let rowLimit = 100_000

    var isEmpty: Bool { content.withLock { $0.lists.isEmpty } }

    // MARK: Observers

    /// Adds a live query and returns its number. No commit may be published meanwhile.
    func add(_ list: any LiveFollower, current: StateReader) -> Int {
        content.withLock { content in
            // Commits are not noted while there is no live query, not even while changes of an ended one are passed on.
            if content.lists.isEmpty { (content.reader, content.newest, content.changed) = (current, nil, []) }
            content.next += 1
            content.lists[content.next] = list
            return content.next
        }
    }

    func remove(_ number: Int?) {
        guard let number else { return }
        content.withLock { content in
            content.lists[number] = nil
            guard content.lists.isEmpty, !content.isRunning else { return }
            // No state of the past is kept if it is not needed.
            content.reader = nil
        }
    }

    func finish() {
        let lists = content.withLock { content in
            defer { (content.lists, content.reader, content.newest) = ([:], nil, nil) }
            return Array(content.lists.values)
        }
        for list in lists { list.finish() }
    }

    /// Returns the newest state, and the version of tables there; nil if changes are still being passed on.
    func newest(
        of tables: [[UInt8]], current: () throws(SyncError) -> StateReader
    ) throws(SyncError) -> (reader: StateReader, version: UInt64?) {
        try content.withLock { content in
            Result { () throws(SyncError) in
                if content.newest == nil, !content.isRunning, let reader = content.reader {
                    return (reader, content.version(of: tables))
                }
                return (try current(), nil)
            }
        }.get()
    }

    // MARK: Commits

    /// Notes which rows commits changed; nil if they are not known.
    func tell(_ rows: Set<[UInt8]>?, _ newest: StateReader) {
        let mustStart = content.withLock { content in
            if content.lists.isEmpty { return false }
            if rows?.isEmpty ?? false, content.newest == nil, !content.isRunning {
                content.reader = newest
                return false
            }
            content.newest = newest
            content.add(rows)
            defer { content.isRunning = true }
            return !content.isRunning
        }
        if mustStart { queue.async { self.passOn() } }
    }

    private func passOn() {
        while let batch = takeBatch() {
            var known: [[UInt8]: TableChanges] = [:]
            for follower in batch.followers {
                do throws(SyncError) {
                    let changes = try batch.changes(of: follower.tables, &known)
                    follower.list.update(changes, to: batch.after, from: follower.version)
                } catch {
                    follower.list.fail(error)
                }
            }
        }
    }

    /// Returns the changes to pass on; nil if none are left.
    private func takeBatch() -> Batch? {
        content.withLock { content in
            guard let before = content.reader, let after = content.newest else {
                content.isRunning = false
                content.newest = nil
                if content.lists.isEmpty { content.reader = nil }
                return nil
            }
            let rows = content.changed.map { Dictionary(grouping: $0, by: RowKey.table) }
            var batch = Batch(before: before, after: after, rows: rows)
            for list in content.lists.values {
                let changed = rows.map { rows in list.tables.filter { rows[$0] != nil } } ?? list.tables
                if changed.isEmpty { continue }
                batch.followers.append(
                    Batch.Follower(list: list, tables: changed, version: content.version(of: list.tables)))
            }
            for table in Set(batch.followers.flatMap(\.tables)) { content.versions[table, default: 0] += 1 }
            content.changed = []
            content.reader = after
            content.newest = nil
            return batch
        }
    }
}
