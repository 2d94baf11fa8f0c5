// The rows that commits changed and that live content was not told of yet. Writers only note the keys; what is noted is
// taken together, so live content of several tables never mixes two commits.

import SynclineCore

/// What live content is told of: changes that lead from one version of its tables to another.
struct LiveUpdate {
    /// The changes of each of its tables; nil if they are not known, and every table may have changed.
    let changes: [TableChanges]?
    /// The state after them.
    let reader: StateReader
    let oldVersion: UInt64
    let newVersion: UInt64
}

struct NotedChanges {
    /// Changes that are taken together.
    struct Batch {
        /// The changes of each table; nil if they are not known.
        fileprivate let changes: [[UInt8]: TableChanges]?
        fileprivate let reader: StateReader
        fileprivate let version: UInt64

        /// Returns the changes of some tables, or of all, that had a version before; nil if there are none.
        func update(of tables: [[UInt8]]?, from version: UInt64) -> LiveUpdate? {
            let mine = changes.map { all in tables?.compactMap { all[$0] } ?? Array(all.values) }
            if mine?.isEmpty ?? false { return nil }
            return LiveUpdate(changes: mine, reader: reader, oldVersion: version, newVersion: self.version)
        }
    }

    /// How many batches were taken.
    private var count: UInt64 = 0
    /// The last batch with changes of each table, and the last one whose changes are not known. Names of tables are
    /// compared by their bytes.
    private var versions: [[UInt8]: UInt64] = [:]
    private var unknown: UInt64 = 0
    /// The state that those versions describe; nil if there is no live content.
    private var reader: StateReader?
    /// The rows that changed since; nil if they are not known.
    private var rows: Set<[UInt8]>? = []
    /// The state after those changes; nil if there are none.
    private var newest: StateReader?
    private var isPassedOn = false

    /// With more rows than this, running the queries again is faster.
    private static let rowLimit = 100_000

    /// Live content begins, and there was none.
    mutating func begin(at current: StateReader) { (reader, newest, rows) = (current, nil, []) }

    /// No live content is left, so no state of the past is kept.
    mutating func end() { if !isPassedOn { reader = nil } }

    /// The newest state, and the version of some tables there, or of all; nil if changes are still being passed on.
    func state(of tables: [[UInt8]]?) -> (reader: StateReader, version: UInt64)? {
        guard newest == nil, !isPassedOn, let reader else { return nil }
        return (reader, version(of: tables))
    }

    /// The last batch with changes of some tables, or of any.
    func version(of tables: [[UInt8]]?) -> UInt64 {
        tables.map { $0.reduce(unknown) { max($0, versions[$1, default: 0]) } } ?? count
    }

    /// Notes which rows a commit changed; nil if they are not known. Returns whether passing on has to begin.
    mutating func add(_ changed: Set<[UInt8]>?, _ current: StateReader) -> Bool {
        if changed?.isEmpty ?? false, newest == nil, !isPassedOn {
            reader = current
            return false
        }
        newest = current
        if let changed, var all = rows {
            rows = []
            all.formUnion(changed)
            rows = all.count > NotedChanges.rowLimit ? nil : all
        } else {
            rows = nil
        }
        defer { isPassedOn = true }
        return !isPassedOn
    }

    /// Takes what was noted; nil if nothing is left, which ends passing on.
    mutating func take() -> Batch? {
        guard let before = reader, let after = newest else {
            (isPassedOn, newest) = (false, nil)
            return nil
        }
        let changes = rows.map { rows in
            Dictionary(grouping: rows, by: RowKey.table).reduce(into: [[UInt8]: TableChanges]()) {
                let table = String(decoding: $1.key, as: UTF8.self)
                $0[$1.key] = TableChanges(of: table, $1.value, from: before, to: after)
            }
        }
        (reader, newest, rows) = (after, nil, [])
        if changes?.isEmpty != true { count += 1 }
        if let changes {
            for table in changes.keys { versions[table] = count }
        } else {
            unknown = count
        }
        return Batch(changes: changes, reader: after, version: count)
    }
}
