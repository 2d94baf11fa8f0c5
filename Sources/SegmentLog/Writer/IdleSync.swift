// What a writer does while nobody appends: a sync soon after commits that only asked for order, and after a second a
// word in HEAD that witnesses the newest records.

import Synchronization

package final class IdleSync: Sendable {
    /// Milliseconds between looks.
    static let interval = 50
    /// Looks without a commit before HEAD is written.
    private static let patience = 20

    private let isOn: Bool
    private let isRunning = Atomic(false)
    private let seen = Mutex((batches: UInt64(0), quietLooks: 0))

    package init(isOn: Bool) {
        self.isOn = isOn
    }

    /// True if the caller must schedule the first look.
    package func start() -> Bool {
        isOn && !isRunning.exchange(true, ordering: .acquiringAndReleasing)
    }

    /// One look; true if another must follow. Failures show at the next commit, which meets the same disk.
    package func tick(_ appender: Appender) -> Bool {
        let quietLooks = seen.withLock { seen in
            seen.quietLooks = seen.batches == appender.statistics.batches ? seen.quietLooks + 1 : 0
            seen.batches = appender.statistics.batches
            return seen.quietLooks
        }
        let mayWrite = (try? appender.checkUsable()) != nil
        if mayWrite, appender.hasOrderedCommits { try? appender.sync() }
        guard quietLooks >= IdleSync.patience || !mayWrite || appender.failure != nil else { return true }
        isRunning.store(false, ordering: .releasing)
        if mayWrite { try? appender.attest(clean: false) }
        return false
    }
}
