// Ctrl-C, as something a command that goes on and on can ask for. Commands that do not ask are ended by the signal.

import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// Set when the user wants the command to end.
package final class Interrupt: Sendable {
    private let flag = Atomic(false)
    private let listensToSignals: Bool

    package init(listensToSignals: Bool = false) {
        self.listensToSignals = listensToSignals
    }

    package var isSet: Bool {
        flag.load(ordering: .acquiring) || listensToSignals && wasSignalled.load(ordering: .acquiring)
    }

    package func set() {
        flag.store(true, ordering: .releasing)
    }

    /// From here on an interrupt is noted instead of ending the process.
    package func listen() {
        guard listensToSignals else { return }
        for number in [SIGINT, SIGTERM, SIGHUP] { signal(number, noteSignal) }
    }
}

private let wasSignalled = Atomic(false)

private nonisolated func noteSignal(_ number: Int32) {
    wasSignalled.store(true, ordering: .releasing)
}

/// From here on, writing into a pipe that nobody reads is an error instead of the end of the process.
package func ignoreBrokenPipes() {
    signal(SIGPIPE, SIG_IGN)
}
