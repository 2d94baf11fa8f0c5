// An interrupted run ends its workers and removes its data before it ends.

import Foundation

/// From here on, SIGINT, SIGTERM and SIGHUP run `cleanUp` and end the process. Called before other threads exist.
func onInterruption(_ cleanUp: @escaping @Sendable () -> Void) {
    var signals = sigset_t()
    sigemptyset(&signals)
    for signal in [SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, signal) }
    pthread_sigmask(SIG_BLOCK, &signals, nil)
    let waited = signals
    Thread.detachNewThread {
        var waited = waited
        var signal: Int32 = 0
        sigwait(&waited, &signal)
        cleanUp()
        _exit(128 + signal)
    }
}
