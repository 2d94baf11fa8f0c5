// What a statement reads: the state of a store at a moment, and its log.

package import SegmentLog
import Syncline
package import SynclineCore
import SynclineGround

package struct SQLSource: Sendable {
    package let reader: StateReader
    /// The last event that the state includes.
    package let event: UInt64
    package let storage: any LogStorage
    private let outlines: OutlineCache

    package init(_ reader: StateReader, event: UInt64, _ storage: any LogStorage) {
        self.init(reader, event: event, storage, OutlineCache())
    }

    init(_ reader: StateReader, event: UInt64, _ storage: any LogStorage, _ outlines: OutlineCache) {
        self.reader = reader
        self.event = event
        self.storage = storage
        self.outlines = outlines
    }

    /// The columns of a table, and the number of its rows.
    func outline(of table: String) throws(StateError) -> TableOutline {
        if let known = outlines.find(table, at: reader.snapshot.commit) { return known }
        guard let outline = try reader.outline(of: table, while: { !Task.isCancelled }) else {
            throw .failed(.queryCancelled)
        }
        outlines.keep(outline, of: table, at: reader.snapshot.commit)
        return outline
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

/// The outlines of tables at one commit, the newest that was asked for.
final class OutlineCache: Sendable {
    private let known = Mutex((commit: UInt64.max, outlines: [ExactString: TableOutline]()))

    func find(_ table: String, at commit: UInt64) -> TableOutline? {
        known.withLock { $0.commit == commit ? $0.outlines[ExactString(table)] : nil }
    }

    func keep(_ outline: TableOutline, of table: String, at commit: UInt64) {
        known.withLock { known in
            if known.commit != commit { known = (commit, [:]) }
            known.outlines[ExactString(table)] = outline
        }
    }
}

extension SyncError {
    /// The error for a statement whose task was cancelled.
    static var queryCancelled: SyncError { SyncError(.cancelled, "the query was cancelled") }
}

/// Called by SQLite, on the thread of the task, to ask whether to stop.
nonisolated func shouldStop(_ context: UnsafeMutableRawPointer?) -> Int32 { Task.isCancelled ? 1 : 0 }
