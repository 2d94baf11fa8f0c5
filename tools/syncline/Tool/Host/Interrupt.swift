// Ctrl-C as a flag that a long command can read. Commands that do not read it are ended by the signal.

import CLibrary
import SynclineGround

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

    /// From now on, an interrupt sets the flag instead of ending the process.
    package func listen() {
        guard listensToSignals else { return }
        for number in Interrupt.signals { signal(number, noteSignal) }
    }

    /// From now on, an interrupt ends the process again. One that was noted has ended the command that listened.
    func stopListening() {
        guard listensToSignals else { return }
        for number in Interrupt.signals { signal(number, SIG_DFL) }
        wasSignalled.store(false, ordering: .releasing)
    }

    private static let signals = [SIGINT, SIGTERM, SIGHUP]
}

private let wasSignalled = Atomic(false)

private nonisolated func noteSignal(_ number: Int32) {
    wasSignalled.store(true, ordering: .releasing)
}

/// From now on, writing into a closed pipe, or past the limit of a file's size, is an error instead of the end of the
/// process.
package func reportFailedWrites() {
    for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
}
