// The front of a store: its service, the workers that carry out its requests, and the listeners to its events.

import SynclineGround
import SynclineTables
import SynclineWire

/// Answers requests, independent of the HTTP library.
protocol RequestAnswering: Sendable {
    func answer(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse
    /// A request that asks for one row or one write, and can be answered together with others; nil for others.
    func single(_ request: HTTPRequest, _ context: inout RequestContext) -> SingleRequest?
    /// The answers to such requests, which all read or all write.
    func answer(_ singles: [SingleRequest]) -> [(response: HTTPResponse, notes: RequestNotes)]
    /// The place where a request must be answered.
    func place(of request: HTTPRequest) -> AnswerPlace
    /// The answer to a request for events, 200 if the caller may receive them, and what it listens to.
    func events(
        _ request: HTTPRequest, _ context: inout RequestContext
    ) -> (response: HTTPResponse, interest: EventInterest)
    /// Calls the body as soon as there may be news; nil if nothing listens any more.
    func listen(_ body: (@Sendable () -> Void)?)
    /// What changed since a mark; nil if it is not available now.
    func news(since known: ChangeMark?, isWhole: Bool) -> ChangeNews?
    /// The buckets of a caller at a mark.
    func buckets(_ tables: Set<String>, of subject: String, at mark: ChangeMark) -> CallerBuckets
    /// The answer with the headers that every answer to a request with these headers has.
    func marked(_ response: HTTPResponse, _ headers: [HTTPHeader]) -> HTTPResponse
    /// Its own metrics.
    var measures: @Sendable () -> [Measure] { get }
}

/// The defaults: no events, and no headers that every answer has.
extension RequestAnswering {
    func place(of request: HTTPRequest) -> AnswerPlace {
        AnswerPlace.writing.contains(request.method) ? .writes : .reads
    }

    func events(
        _ request: HTTPRequest, _ context: inout RequestContext
    ) -> (response: HTTPResponse, interest: EventInterest) { (answer(request, &context), EventInterest([])) }

    func single(_ request: HTTPRequest, _ context: inout RequestContext) -> SingleRequest? { nil }
    func answer(_ singles: [SingleRequest]) -> [(response: HTTPResponse, notes: RequestNotes)] { [] }
    func listen(_ body: (@Sendable () -> Void)?) {}
    func news(since known: ChangeMark?, isWhole: Bool) -> ChangeNews? { nil }
    func buckets(_ tables: Set<String>, of subject: String, at mark: ChangeMark) -> CallerBuckets { [:] }
    func marked(_ response: HTTPResponse, _ headers: [HTTPHeader]) -> HTTPResponse { response }

    var measures: @Sendable () -> [Measure] { { [] } }
}

final class StoreFront: Sendable {
    let service: any RequestAnswering
    let events: EventHub
    /// The clients whose reads are being carried out.
    let clients: ClientWatch
    /// Carry out writes of more than a row, patches and long bodies.
    private let writers: WorkerPool
    /// Answer requests that read or write a row.
    private let (jointReader, jointWriter): (JointWorker<JointRequest>, JointWorker<JointRequest>)
    private let readers: ReadWorkers
    private let healthWorker = WorkerPool("health", workers: 1)
    private let limits: ServerConfiguration.Limits

    init(_ configuration: ServerConfiguration, _ service: any RequestAnswering) {
        (self.service, limits) = (service, configuration.limits)
        events = EventHub(
            listen: { service.listen($0) }, buckets: { service.buckets($0, of: $1, at: $2) },
            news: { service.news(since: $0, isWhole: $1) })
        // A slow database of one tenant may take few threads of the process.
        writers = WorkerPool("writes", workers: configuration.tenant == nil ? 32 : 4)
        // One worker is always left for another client.
        let readers = ReadWorkers(
            workers: configuration.readWorkers,
            bounds: .init(
                waiting: configuration.limits.waitingReads, wait: .seconds(configuration.limits.readSeconds),
                running: max(1, configuration.readWorkers - 1)),
            looks: true)
        self.readers = readers
        let carryOut: @Sendable ([JointRequest]) -> Void = { jobs in
            for (job, answer) in zip(jobs, service.answer(jobs.map(\.single))) {
                job.finish(answer.response, answer.notes)
            }
        }
        let seconds = configuration.limits.readSeconds
        jointReader = JointWorker { jobs in
            WorkLimit.$current.withValue(WorkLimit(seconds: seconds)) { carryOut(jobs) }
        }
        jointWriter = JointWorker(carryOut)
        clients = ClientWatch { readers.waitingCount > 0 }
    }

    func answer(_ read: HTTPRequest, _ request: ConnectionRequest) -> ServerAnswer {
        let (workers, limit): (any Workers, WorkLimit?)
        switch service.place(of: read) {
        case .here: return .whole(service.answer(read, &request.context))
        case .events:
            let (response, interest) = service.events(read, &request.context)
            return response.status == 200 ? .events(response, interest) : .whole(response)
        case .writes:
            if let single = service.single(read, &request.context) { return .later(.joint(single)) }
            (workers, limit) = (writers, nil)
        case .reads:
            // If rows are locked, readers of others must not wait for them.
            let isLate = jointReader.isLate(now: .present)
            if !isLate, let single = service.single(read, &request.context) { return .later(.joint(single)) }
            (workers, limit) = (readers, self.limit)
        case .health: (workers, limit) = (healthWorker, self.limit)
        }
        let waiting = WaitingAnswer(
            workers: workers, limit: limit,
            answer: { [service] context in
                context.notes = RequestNotes()
                let response = WorkLimit.$current.withValue(limit) { service.answer(read, &context) }
                if limit?.stop == .unwanted { context.notes.explanation = "the client has closed its connection" }
                return response
            },
            refusal: { [self] context in
                let reason =
                    "\(readers.waitingCount) reads wait; limits.waitingReads is \(limits.waitingReads),"
                    + " limits.readSeconds is \(limits.readSeconds), and one address may use half of either"
                context.notes.explanation = reason
                return service.marked(StoreFront.busy(), read.headers)
            })
        return .later(.work(waiting))
    }

    /// A limit for a read that begins now.
    var limit: WorkLimit { WorkLimit(seconds: limits.readSeconds) }

    /// Answers a request together with others. Returns whether it will be answered.
    func join(_ joint: JointRequest) -> Bool { (joint.single.isWrite ? jointWriter : jointReader).add(joint) }

    /// The answer if there is no room for a request.
    static func busy(_ message: String = "The server is busy; try again") -> HTTPResponse {
        Refusal(503, "busy", message).response(retryAfter: 1)
    }

    /// Ends the workers, after the work that they took.
    func close() {
        // No connection may stay suspended.
        events.end()
        for joint in [jointReader, jointWriter] { joint.close() }
        for workers in [readers, writers, healthWorker] as [any Workers] { workers.close() }
    }

    var waitingWrites: Int { writers.waitingCount + jointWriter.waitingCount }
    var waitingReads: Int { readers.waitingCount + jointReader.waitingCount }
    var madeRoomCount: Int { readers.madeRoomCount }
}

/// The fronts of a server, and the one that a request is for.
protocol StoreFronts: Sendable {
    var all: [StoreFront] { get }
    /// Finds the front for a request, which is then as if the front's were the only one.
    func choose(for request: inout HTTPRequest, _ context: inout RequestContext) -> FrontChoice
    /// An answer to a request that was not given to a front, with the headers that every answer has.
    func marked(_ response: HTTPResponse, _ headers: [HTTPHeader]) -> HTTPResponse
    /// The metrics of the stores.
    var measures: [Measure] { get }
    /// Ends the workers, after the work that they took.
    func endWork()
}

enum FrontChoice {
    case front(StoreFront)
    /// There is no front yet.
    case later(Waiting)
    /// No front can answer.
    case answer(HTTPResponse)
}

/// A front for all requests.
struct OnlyFront: StoreFronts {
    let front: StoreFront

    init(_ configuration: ServerConfiguration, _ service: any RequestAnswering) {
        front = StoreFront(configuration, service)
    }

    var all: [StoreFront] { [front] }

    func choose(for request: inout HTTPRequest, _ context: inout RequestContext) -> FrontChoice { .front(front) }

    func marked(_ response: HTTPResponse, _ headers: [HTTPHeader]) -> HTTPResponse {
        front.service.marked(response, headers)
    }

    var measures: [Measure] { front.service.measures() }

    func endWork() { front.close() }
}
