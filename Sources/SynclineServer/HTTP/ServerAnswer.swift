// The answer to a request: whole, or work that makes it.

import SynclineTables
import SynclineWire

/// The answer to a request.
enum ServerAnswer {
    case whole(HTTPResponse)
    /// The head of a stream of events, and what it tells of.
    case events(HTTPResponse, EventInterest)
    /// The result of work done elsewhere, while the connection is suspended.
    case later(Waiting)
}

enum Waiting {
    case work(WaitingAnswer)
    /// A request that is answered together with others.
    case joint(SingleRequest)
    /// The request comes again, as soon as the body has called what it is given.
    case again(@Sendable (_ resume: @escaping @Sendable () -> Void) -> Void)
}

/// An answer that a worker produces.
struct WaitingAnswer: Sendable {
    let workers: any Workers
    /// Nil for work that always runs to its end.
    let limit: WorkLimit?
    let answer: @Sendable (inout RequestContext) -> HTTPResponse
    /// The answer if too many requests already wait.
    let refusal: @Sendable (inout RequestContext) -> HTTPResponse
}

/// A request that is answered together with others, and what takes its answer.
struct JointRequest: Sendable {
    let single: SingleRequest
    let finish: @Sendable (HTTPResponse, RequestNotes) -> Void
}
