// Waiting for PostgreSQL, never forever: each wait has a limit, is interrupted if the server stops, and checks once a
// second whether the database answers at all.

import CLibrary
import SynclineGround
import SynclineTables

/// Interrupts all waits: a pipe whose other end is closed.
final class Interruption: Sendable {
    let reading: Int32
    private let writing: Mutex<Int32>

    init() {
        var ends: [Int32] = [-1, -1]
        // Without a pipe, no wait is interrupted, and each still has its limit.
        _ = pipe(&ends)
        reading = ends[0]
        writing = Mutex(ends[1])
    }

    deinit {
        cut()
        ListenSocket.close(reading)
    }

    func cut() {
        writing.withLock { end in
            if end >= 0 { ListenSocket.close(end) }
            end = -1
        }
    }
}

/// The limits for the waits of a connection.
struct PostgresWaitLimits: Sendable {
    var limits = DatabaseLimits()
    var interruption = Interruption()
    /// Whether a request's time limit applies.
    var isForRequests = true
    /// Whether the database answers on other connections.
    var answersOthers: @Sendable () -> Bool = { true }

    /// A wait with a limit, which ends earlier if a request's time is over.
    func wait(_ time: Duration, isForRequest: Bool = true) -> SocketWait {
        let limit = isForRequest && isForRequests ? WorkLimit.current : nil
        return SocketWait(waits: self, deadline: .present + time, limit: limit)
    }
}

/// Waits for a socket.
struct SocketWait {
    fileprivate let waits: PostgresWaitLimits
    fileprivate let deadline: ContinuousClock.Instant
    fileprivate let limit: WorkLimit?

    /// Returns when the socket is ready; throws the reason why the wait ended without it.
    func wait(_ socket: Int32, _ events: Int32) throws(StoreFailure) {
        var questions = [
            pollfd(fd: socket, events: Int16(events), revents: 0),
            pollfd(fd: waits.interruption.reading, events: Int16(POLLIN), revents: 0),
        ]
        // Whether the database answers on other connections is checked once a second; whether the request still waits,
        // more often.
        let slice: Int64 = limit == nil ? 1000 : 20
        var waited: Int64 = 0
        while true {
            let left = ContinuousClock.Instant.present.duration(to: deadline).milliseconds
            let count = poll(&questions, 2, Int32(max(0, min(left, slice))))
            if count < 0, errno == EINTR { continue }
            // A ready socket counts, even if the server stops.
            if count > 0, questions[0].revents != 0 { return }
            if count > 0 { throw .busy(FailureReason(.busy, "the server is stopping")) }
            if count < 0 || left <= slice {
                throw .busy(FailureReason(.timedOut, "PostgreSQL did not answer in time"))
            }
            try limit?.check()
            waited += slice
            if waited % 1000 == 0, !waits.answersOthers() { throw PostgresWatch.standsStill }
        }
    }
}
