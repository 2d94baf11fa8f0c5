// The state of a store on one page: its outbox, its last syncs, its tables, its history and its files.

public import Foundation
public import SynclineCore

/// The state of a store on one page, as ``SyncDatabase/status()`` reads it.
public struct StoreStatus: Sendable {
    /// The numbers of operations in the outbox, by what they wait for.
    public struct Outbox: Hashable, Sendable {
        /// Those that a push sends.
        public var toPush = 0
        /// Those in conflict with the server's row.
        public var conflicts = 0
        /// Those that the server refused.
        public var refused = 0
        /// Those that the app holds.
        public var held = 0
        /// Those that come after one of the same row that waits.
        public var after = 0
        /// The changes of other processes that are not taken in.
        public var ofOtherProcesses = 0

        package init() {}
    }

    /// A push: the operations that were sent until each had its answer, or until the store was closed.
    public struct Push: Hashable, Sendable {
        /// How it ended.
        public enum Outcome: String, Hashable, Sendable {
            /// Every operation is done, or was decided.
            case complete
            /// Something is left to decide, or to send again.
            case incomplete
            /// An answer is missing.
            case unanswered
        }

        /// Its first event.
        public var first: EventNumber
        /// Its last event so far.
        public var last: EventNumber
        /// When the first request was sent; nil if that is in an earlier event.
        public var begin: Date?
        /// When the last event of it was written.
        public var end: Date
        /// How many operations ended in each way: "done", "decided", "conflict", "parked", "not received", "failing" or
        /// "interrupted".
        public var operations: [String: Int] = [:]
        /// The operations that have no answer.
        var operationIDs: Set<String> = []

        /// The number of operations without an answer.
        public var unanswered: Int { operationIDs.count }

        /// How it ended.
        public var outcome: Outcome {
            if unanswered > 0 { return .unanswered }
            return operations.keys.contains { $0 != "done" && $0 != "decided" } ? .incomplete : .complete
        }

        init(_ event: UInt64, at time: Int64, isBegun: Bool) {
            first = EventNumber(rawValue: event)
            last = first
            end = Date(milliseconds: time)
            begin = isBegun ? end : nil
        }
    }

    /// The newest page of a query, or of the pulls of a table without one.
    public struct Page: Hashable, Sendable {
        /// Its event.
        public var event: EventNumber
        /// When it was written.
        public var date: Date
        /// The query's table.
        public var table: String
        /// The query's id.
        public var queryID: String?
        /// The number of rows that were new or others than before.
        public var rows = 0
        /// The number of rows that were removed.
        public var deleted = 0
        /// The number of rows that can't be read.
        public var unreadable = 0
    }

    /// One column of a table.
    public struct Column: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// Its declared type; nil if it has none.
        public var type: ColumnType?
        /// How many of its values do not fit the type.
        public var unfit: Int
    }

    /// One table.
    public struct Table: Hashable, Sendable {
        /// Its name.
        public var name: String
        /// The number of its rows.
        public var rows: Int
        /// The number of its operations in the outbox.
        public var pending: Int
        /// The number of operations that wait for a decision.
        public var undecided: Int
        /// The number of queries with a cursor.
        public var cursors: Int
        /// The columns of its rows and the typed ones, by name.
        public var columns: [Column]
        /// The columns that never leave the device.
        public var localColumns: [String]
        /// Whether the whole table never leaves the device.
        public var isLocal: Bool
    }

    /// The files of the log.
    public struct Files: Hashable, Sendable {
        /// The number of segments.
        public var segments = 0
        /// Their size in bytes.
        public var bytes: UInt64 = 0
        /// The number of checkpoints.
        public var checkpoints = 0
        /// Their size in bytes.
        public var checkpointBytes: UInt64 = 0
        /// The last event that the newest checkpoint covers.
        public var newestCheckpoint: EventNumber?
        /// Places of damage in what was read.
        public var damage = 0
    }

    /// The server to push to and pull from; nil if none is set.
    public var backend: String?
    /// The name of the protocol that it speaks, if that is set.
    public var dialect: String?
    /// The version of the schema; 0 if there is none.
    public var schema: UInt32
    /// The last event.
    public var lastEvent: EventNumber
    /// When it was written.
    public var lastDate: Date?
    /// The first event of the history that is kept.
    public var firstEvent: EventNumber
    /// When it was written.
    public var firstDate: Date?
    /// The outbox.
    public var outbox: Outbox
    /// The number of the server's rows that can't be read.
    public var unreadable: Int
    /// The tables that have rows or are declared, by name.
    public var tables: [Table]
    /// The cursors of queries.
    public var cursors: [QueryCursor]
    /// The newest push that the log tells of. One with nothing to send leaves no event.
    public var lastPush: Push?
    /// The newest page of each query. A pull that brought nothing leaves no event.
    public var lastPages: [Page]
    /// The first event in which the last push and pages were searched.
    public var searchedFrom: EventNumber
    /// The files of the log.
    public var files: Files

    /// The number of operations that wait for a decision.
    public var undecided: Int { outbox.conflicts + outbox.refused }

    /// The number of values that do not fit the type of their column.
    public var unfit: Int { tables.reduce(0) { $1.columns.reduce($0) { $0 + $1.unfit } } }

    /// Whether nothing is damaged, unreadable or undecided, no answer is missing, and no change of another process waits.
    public var isHealthy: Bool {
        files.damage == 0 && undecided == 0 && lastPush?.unanswered ?? 0 == 0 && outbox.ofOtherProcesses == 0
            && unreadable == 0 && unfit == 0
    }
}
