// SIGTERM and SIGINT as something to wait for. The handler, which may run on any thread, does what a handler may: it writes a
// byte into a pipe.

import Synchronization

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

private let signalPipe = Atomic<Int32>(-1)

private nonisolated func noteStop(_ number: Int32) {
    var byte: UInt8 = 1
    #if canImport(Darwin)
        _ = Darwin.write(signalPipe.load(ordering: .acquiring), &byte, 1)
    #else
        _ = Glibc.write(signalPipe.load(ordering: .acquiring), &byte, 1)
    #endif
}

struct StopSignal {
    private let reading: Int32

    /// From here on the signals are noted instead of ending the process.
    init() throws(StartFailure) {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw StartFailure("no pipe can be made") }
        reading = ends[0]
        signalPipe.store(ends[1], ordering: .releasing)
        // Whoever started this process may have left them blocked.
        var stopping = sigset_t()
        sigemptyset(&stopping)
        for number in [SIGTERM, SIGINT] {
            sigaddset(&stopping, number)
            signal(number, noteStop)
        }
        pthread_sigmask(SIG_UNBLOCK, &stopping, nil)
        signal(SIGPIPE, SIG_IGN)
    }

    /// Whether a signal came before so many seconds were over.
    func wait(seconds: Int32) -> Bool {
        var question = pollfd(fd: reading, events: Int16(POLLIN), revents: 0)
        while true {
            let count = poll(&question, 1, seconds * 1000)
            // Interrupted: the byte is in the pipe.
            if count >= 0 { return count > 0 }
        }
    }
}
