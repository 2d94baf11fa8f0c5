// Where a request is answered: on the thread that serves its connection, or by workers while the connection is suspended.

import SynclineWire

/// Where a request is answered.
enum AnswerPlace: Hashable, Sendable {
    /// On the thread that serves its connection: it takes no time to speak of.
    case here
    /// By the workers for reads, within a time.
    case reads
    /// By the workers for writes: it may wait for others, with which it shares a sync of the disk.
    case writes
    /// By a worker of its own, for which nothing else waits.
    case health

    /// The methods that may change something.
    static let writing: Set = ["POST", "PATCH", "PUT", "DELETE"]
}

/// What is sent for a request.
enum ServerAnswer {
    case whole(HTTPResponse)
    /// The head of a stream of events.
    case events(HTTPResponse)
    /// What becomes of a request elsewhere, while its connection is suspended.
    case later(WaitingAnswer)
}

/// An answer that a worker finds.
struct WaitingAnswer: Sendable {
    let workers: any Workers
    /// Nil for what is carried out to its end.
    let limit: WorkLimit?
    let answer: @Sendable () -> HTTPResponse
    /// What is said when too many wait already.
    let refusal: @Sendable () -> HTTPResponse
}
