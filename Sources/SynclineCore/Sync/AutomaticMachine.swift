// Decides when a store syncs automatically: soon after a local or remote change, at intervals, at once on request or
// when the network returns, and with growing delays after failures. It is told events and times; the driver waits
// and syncs.

package struct AutomaticMachine: Sendable {
    package enum Signal: Hashable, Sendable {
        /// The app changed rows.
        case changed
        /// The server has changes.
        case told
        case requested
        /// The network is available again.
        case reconnected
        /// A requested time has come.
        case alarm
        /// A round has ended.
        case ended(SyncError?)
    }

    package enum Action: Hashable, Sendable {
        case run
        /// Runs a round that pulls only what the server announced.
        case fetch
        /// Sets an alarm in place of the previous one; nil for none.
        case alarm(at: Int64?)
    }

    package enum Phase: Hashable, Sendable {
        case idle, running
        /// Waiting because a round failed.
        case waiting(until: Int64, SyncError)
    }

    package private(set) var phase = Phase.idle
    /// The delay after a change, and the interval after a round, in milliseconds; nil for never.
    private let delay: Int64?
    private let interval: Int64?
    private var failures = 0
    private var alarm: Int64?
    /// Whether announcements alone require the next round, and when a whole one is due.
    private var (isForNews, wholeDue) = (false, Int64?.none)
    private var isWhole = true
    /// Whether an event during a round requires another one, and whether that one begins at once.
    private var (wantsAnother, isAtOnce) = (false, false)

    package init(delay: Int64?, interval: Int64?) {
        self.delay = delay
        self.interval = interval
    }

    /// `backoff` returns the wait after a number of failures.
    package mutating func handle(_ signal: Signal, now: Int64, backoff: (Int) -> Int64) -> Action? {
        switch (signal, phase) {
        case (.ended(let error), _):
            return ended(error, now: now, backoff)
        case (.changed, .running):
            guard delay != nil else { return nil }
            (wantsAnother, isForNews) = (true, false)
            return nil
        case (.told, .running):
            isForNews = isForNews || !wantsAnother
            wantsAnother = true
            return nil
        case (.requested, .running), (.reconnected, .running):
            (wantsAnother, isAtOnce) = (true, true)
            return nil
        case (.alarm, .running):
            return nil
        case (.changed, .idle):
            guard let delay else { return nil }
            isForNews = false
            return bring(alarm: now + delay)
        case (.told, .idle):
            let action = bring(alarm: now + (delay ?? 0))
            isForNews = isForNews || action != nil
            return action
        case (.changed, .waiting), (.told, .waiting):
            // It is sent with the next attempt.
            return nil
        case (.requested, _), (.reconnected, _):
            failures = 0
            return run()
        case (.alarm, _):
            guard let alarm, alarm <= now else { return set(alarm: alarm) }
            let isDue = wholeDue.map { $0 <= now } ?? false
            return run(isWhole: !isForNews || isDue)
        }
    }

    private mutating func run(isWhole: Bool = true) -> Action {
        phase = .running
        (alarm, self.isWhole, isForNews) = (nil, isWhole, false)
        (wantsAnother, isAtOnce) = (false, false)
        return isWhole ? .run : .fetch
    }

    /// Sets an alarm, unless there is an earlier one.
    private mutating func bring(alarm moment: Int64) -> Action? {
        alarm.map { $0 > moment } ?? true ? set(alarm: moment) : nil
    }

    private mutating func set(alarm moment: Int64?) -> Action {
        alarm = moment
        return .alarm(at: moment)
    }

    private mutating func ended(_ error: SyncError?, now: Int64, _ backoff: (Int) -> Int64) -> Action {
        if isAtOnce {
            failures = 0
            return run()
        }
        if let error {
            failures += 1
            isForNews = false
            let until = now + backoff(failures)
            phase = .waiting(until: until, error)
            return set(alarm: until)
        }
        failures = 0
        phase = .idle
        if isWhole { wholeDue = interval.map { now + $0 } }
        if wantsAnother { return set(alarm: now + (delay ?? 0)) }
        return set(alarm: wholeDue.map { max($0, now) })
    }
}
