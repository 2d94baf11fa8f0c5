// What an open store knows of sync and does not have in its log.

import Foundation
import SynclineCore
import SynclineGround

/// What is known since the store was opened.
struct SyncFacts: Hashable, Sendable {
    /// The commits of other processes that could not be taken in.
    var waiting: [SyncIssue] = []
    /// When a push was last not stopped.
    var lastPush: Date?
    /// When a pull of each table was last complete.
    var lastPulls: [String: Date] = [:]
}

extension SyncDatabase {
    /// Changes what is known, and tells those that observe it.
    func note(_ change: (inout SyncFacts) -> Void) {
        let isNew = facts.withLock { facts in
            let old = facts
            change(&facts)
            return facts != old
        }
        if isNew { writer.observers.tellFollowers() }
    }
}
