// The place where a request is answered: on the thread that serves its connection, or by workers while the connection
// is suspended.

/// Where a request is answered.
package enum AnswerPlace: Hashable, Sendable {
    /// On the thread that serves its connection: the work takes almost no time.
    case here
    /// By the workers for reads, within a time limit.
    case reads
    /// By the workers for writes: a write may wait for others that share its disk sync.
    case writes
    /// By a dedicated worker, for which nothing else waits.
    case health
    /// On the thread that serves its connection, which stays open.
    case events

    /// The methods that may change data.
    package static let writing: Set = ["POST", "PATCH", "PUT", "DELETE"]
}
