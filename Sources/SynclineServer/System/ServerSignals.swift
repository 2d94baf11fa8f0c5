// Signals that a thread can wait for. The handler, which may run on any thread, only writes a byte into a pipe, which
// is async-signal-safe.

import CLibrary
import SynclineGround

private let signalPipe = Atomic<Int32>(-1)

private nonisolated func note(_ number: Int32) {
    var byte = UInt8(truncatingIfNeeded: number)
    #if canImport(Darwin)
        _ = Darwin.write(signalPipe.load(ordering: .acquiring), &byte, 1)
    #else
        _ = Glibc.write(signalPipe.load(ordering: .acquiring), &byte, 1)
    #endif
}

struct ServerSignals {
    enum Command: Hashable {
        case stop
        /// SIGHUP: the reloadable settings are read again.
        case reload
    }

    private let reading: Int32

    /// From now on, the signals are recorded instead of ending the process.
    init() throws(StartFailure) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw StartFailure("a pipe could not be created") }
        reading = ends[0]
        signalPipe.store(ends[1], ordering: .releasing)
        // The parent process may have left them blocked.
        var noted = sigset_t()
        sigemptyset(&noted)
        for number in [SIGTERM, SIGINT, SIGHUP] {
            sigaddset(&noted, number)
            signal(number, note)
        }
        pthread_sigmask(SIG_UNBLOCK, &noted, nil)
        for number in [SIGPIPE, SIGXFSZ] { signal(number, SIG_IGN) }
    }

    /// The request of a signal; nil if none arrived up to an instant.
    func wait(until end: ContinuousClock.Instant) -> Command? {
        var question = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        while true {
            let rest = ContinuousClock.Instant.present.duration(to: end).milliseconds + 1
            let count = poll(&question, 1, Int32(clamping: max(0, rest)))
            if count == 0 { return nil }
            var byte: UInt8 = 0
            // Interrupted: the byte is in the pipe.
            if count > 0, read(reading, &byte, 1) == 1 { return Int32(byte) == SIGHUP ? .reload : .stop }
        }
    }
}
