// The work of an idle writer: a sync soon after `ordered` commits, and after a second without a commit an update
// of HEAD that proves the newest records.

import SynclineGround

package final class IdleSync: Sendable {
    /// Milliseconds between checks.
    static let interval = 50
    /// Checks without a commit before HEAD is written.
    private static let quietChecks = 20

    private let isOn: Bool
    private let isRunning = Atomic(false)
    private let seen = Mutex((batches: UInt64(0), quietCount: 0))

    package init(isOn: Bool) {
        self.isOn = isOn
    }

    /// Returns whether the caller must schedule the first check.
    package func start() -> Bool {
        isOn && !isRunning.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// Runs one check; returns whether another must follow. Failures appear at the next commit, which uses the same
    /// disk.
    package func tick(_ appender: Appender) -> Bool {
        let quietCount = seen.withLock { seen in
            seen.quietCount = seen.batches == appender.statistics.batches ? seen.quietCount + 1 : 0
            seen.batches = appender.statistics.batches
            return seen.quietCount
        }
        let mayWrite = (try? appender.checkUsable()) != nil
        if mayWrite, appender.hasOrderedCommits { try? appender.sync() }
        guard quietCount >= IdleSync.quietChecks || !mayWrite || appender.failure != nil else { return true }
        isRunning.store(false, ordering: .releasing)
        if mayWrite { try? appender.attest(clean: false) }
        return false
    }
}
