// The state of sync in numbers and moments, for telemetry.

public import Foundation
import SynclineCore

/// How sync is doing: what is left to be sent or decided, and when it last worked. ``SyncStatus`` says what automatic sync
/// is doing at the moment, ``SyncIssue`` what each issue is about.
public struct SyncHealth: Hashable, Codable, Sendable {
    /// The number of changes that are not pushed yet.
    public var pending = 0
    /// The number of operations in conflict.
    public var conflicts = 0
    /// The number of operations that the server refused, or whose right was lost.
    public var refused = 0
    /// The number of rows that are held.
    public var held = 0
    /// The number of the server's rows that can't be read.
    public var unreadable = 0
    /// The number of commits of other processes that can't be taken in.
    public var waiting = 0
    /// When a push was last not stopped since the store was opened, also if there was nothing to send.
    public var lastPush: Date?
    /// When a pull of each table was last complete since the store was opened; before that, when one last moved a cursor
    /// of the table.
    public var lastPulls: [String: Date] = [:]

    /// Creates a value for an empty store.
    public init() {}
}

extension SyncHealth {
    init(pending: Int, _ issues: [SyncIssue], _ cursors: [(table: String, state: CursorState)], _ facts: SyncFacts) {
        self.pending = pending
        for issue in issues {
            switch issue.kind {
            case .conflict: conflicts += 1
            case .refused: refused += 1
            case .held: held += 1
            case .unreadable: unreadable += 1
            case .waiting: waiting += 1
            }
        }
        lastPush = facts.lastPush
        for (table, cursor) in cursors {
            let moved = Date(milliseconds: cursor.updated)
            lastPulls[table] = max(moved, lastPulls[table] ?? moved)
        }
        lastPulls.merge(facts.lastPulls) { $1 }
    }
}
