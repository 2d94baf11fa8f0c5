// The shell around the service: libmicrohttpd reads requests and writes answers on a fixed number of threads, and the
// callbacks in HTTPServer+Callbacks.swift pass each request to this class. The `Acceptor` accepts connections.

import CMicroHTTPD
import Dispatch
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
    func news(since known: ChangeMark?, isWhole: Bool) -> ChangeNews? { nil }
    func buckets(_ tables: Set<String>, of subject: String, at mark: ChangeMark) -> CallerBuckets { [:] }
    func marked(_ response: HTTPResponse, _ headers: [HTTPHeader]) -> HTTPResponse { response }

    var measures: @Sendable () -> [Measure] { { [] } }
}

final class HTTPServer: Sendable {
    let configuration: ServerConfiguration
    let metrics = Metrics()
    let log: ServerLog
    let events: EventHub
    /// Carry out writes of more than a row, patches and long bodies.
    private let writers = WorkerPool("writes", workers: 32)
    /// Answer requests that read or write a row.
    private let (jointReader, jointWriter): (JointWorker<JointRequest>, JointWorker<JointRequest>)
    private let readers: ReadWorkers
    private let healthWorker = WorkerPool("health", workers: 1)
    /// The clients whose reads are being carried out.
    let clients: ClientWatch
    /// The clients that listen for events: one that has left must not keep another's place.
    let listening = ClientWatch(interval: 1000)
    /// The server's own URL.
    let url: String
    private let service: any RequestAnswering
    private let environment: any ServerEnvironment
    private let limiter: RateLimiter?
    private let ids: RequestIDs
    private let running = Atomic(0)
    /// The same requests, for waiting until all of them are answered.
    private let requests = DispatchGroup()
    let table: ConnectionTable
    private let socket: ListenSocket
    /// Nil before they are started and after they are stopped.
    private let serving = Mutex<(acceptor: Acceptor, threads: ConnectionThreads)?>(nil)
    /// Whether new requests are no longer started.
    private let stopping = Atomic(false)

    init(
        _ configuration: ServerConfiguration, _ service: any RequestAnswering, tls: TLSCertificate?,
        _ environment: any ServerEnvironment = SystemServerEnvironment()
    ) throws(StartFailure) {
        self.configuration = configuration
        self.service = service
        self.environment = environment
        log = ServerLog(configuration.log, environment)
        ids = RequestIDs(environment)
        events = EventHub(buckets: { service.buckets($0, of: $1, at: $2) }) { service.news(since: $0, isWhole: $1) }
        limiter = configuration.requestsPerSecond.map { RateLimiter(perSecond: $0) }
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
        let proxies = configuration.trustedProxies
        let table = ConnectionTable(
            configuration.limits, threads: configuration.connectionThreads, isSecure: tls != nil,
            isExempt: { $0.isOwn || proxies.contains($0) }, end: { ListenSocket.end($0) })
        self.table = table
        socket = try ListenSocket(configuration.listen)
        url = (tls == nil ? "http://" : "https://") + socket.authority
        tls?.present()
        guard let threads = ConnectionThreads(self, isSecure: tls != nil) else {
            socket.close()
            throw StartFailure("the HTTP server can't be started")
        }
        do throws(StartFailure) {
            let acceptor = try Acceptor(socket.descriptor, table) { threads.serve($0, $1, $2) }
            serving.withLock { $0 = (acceptor, threads) }
            acceptor.start()
        } catch {
            threads.stop()
            socket.close()
            throw error
        }
    }

    /// Stops: accepts no more connections, starts no more requests, and waits for the answers to the running ones. Each
    /// answer says that it is the last of its connection.
    /// - Parameter interrupt: Interrupts waits for external resources after they have lasted too long.
    func stop(waitingSeconds: Int = 7, interrupt: () -> Void = {}) {
        let serving = self.serving.withLock { serving in
            defer { serving = nil }
            return serving
        }
        guard let serving else { return }
        stopping.store(true, ordering: .releasing)
        serving.acceptor.stop()
        socket.close()
        // No connection may stay suspended.
        events.end()
        // Long reads are given up sooner: their clients can ask again.
        if !drain(seconds: (waitingSeconds + 1) / 2) { clients.leaveAll() }
        if !drain(seconds: waitingSeconds / 2) {
            interrupt()
            // Connections with running work are resumed, and their answers must still be sent.
            closePools()
            drain(seconds: 1)
        }
        closePools()
        serving.threads.stop()
    }

    private func closePools() {
        for joint in [jointReader, jointWriter] { joint.close() }
        for workers in [readers, writers, healthWorker] as [any Workers] { workers.close() }
    }

    /// Waits for a limited time until every request is answered.
    @discardableResult
    private func drain(seconds: Int) -> Bool {
        if requests.wait(timeout: .now() + .seconds(min(1, seconds))) == .success { return true }
        if seconds <= 1 { return false }
        // A client that has not sent a whole request after a second has not been promised anything.
        table.endUnfinished()
        return requests.wait(timeout: .now() + .seconds(seconds - 1)) == .success
    }

    var isStopping: Bool { stopping.load(ordering: .acquiring) }

    var connections: Int { table.count }

    // MARK: Requests

    func begin() {
        running.add(1, ordering: .relaxed)
        requests.enter()
    }

    /// Called when the request's answer is sent, or its connection lost.
    func end(_ request: ConnectionRequest) {
        running.subtract(1, ordering: .relaxed)
        defer { requests.leave() }
        if let stream = request.endStream() { listening.forget(stream) }
        let time = request.start.duration(to: .present)
        metrics.count(
            request.method, status: request.status, time, bytesIn: request.body.count, bytesOut: request.bytesOut)
        log.note(request.line(now: environment.now(), time))
    }

    /// Chooses the request's id.
    func name(_ request: ConnectionRequest) {
        let given = request.headers.value(RequestID.header).flatMap { RequestID($0) }
        request.id = (given ?? ids.make()).text
    }

    /// Records an answer for the log. Internal failures are logged at once.
    func note(_ response: HTTPResponse, to request: ConnectionRequest) {
        request.status = response.status
        request.code = response.code
        request.bytesOut = response.body.count
        let notes = request.context.notes
        let failure = notes.failure
        if let failure { metrics.count(failure.kind) }
        guard response.status >= 500 || failure != nil else { return }
        let code = response.code ?? "no code"
        let reason = (failure?.text ?? notes.explanation ?? explanation(of: code)).map { ": \($0)" } ?? ""
        let asked = "\(request.method) \(request.path)"
        log.note(
            trouble: "\(asked) was answered \(response.status) \(code)\(reason) [\(request.id)]",
            kind: failure?.kind.rawValue ?? code)
    }

    /// The limit that was reached, if the code names it.
    private func explanation(of code: String) -> String? {
        code == "took-too-long" ? "limits.readSeconds is \(configuration.limits.readSeconds)" : nil
    }

    func answer(_ request: ConnectionRequest) -> ServerAnswer {
        if isStopping { return .whole(stopped(request)) }
        let read: HTTPRequest
        do throws(Refusal) {
            read = try request.read(configuration.limits)
        } catch {
            return .whole(refusal(error, request))
        }
        if let limiter, !limiter.admits(request.client.text) {
            var response = refusal(Refusal(429, "too-many-requests", "Too many requests; wait a moment"), request)
            response.headers.append(HTTPHeader("Retry-After", "1"))
            return .whole(response)
        }
        if read.method == "GET", read.path == "/metrics", configuration.metricsListen == nil {
            return .whole(measures)
        }
        request.context = RequestContext(url: request.url(url))
        return answer(read, request)
    }

    private func answer(_ read: HTTPRequest, _ request: ConnectionRequest) -> ServerAnswer {
        let (workers, limit): (any Workers, WorkLimit?)
        switch service.place(of: read) {
        case .here: return .whole(service.answer(read, &request.context))
        case .events: return listen(read, request)
        case .writes:
            if let single = service.single(read, &request.context) { return .later(.joint(single)) }
            (workers, limit) = (writers, nil)
        case .reads:
            // If rows are locked, readers of others must not wait for them.
            let isLate = jointReader.isLate(now: .present)
            if !isLate, let single = service.single(read, &request.context) { return .later(.joint(single)) }
            (workers, limit) = (readers, WorkLimit(seconds: configuration.limits.readSeconds))
        case .health: (workers, limit) = (healthWorker, WorkLimit(seconds: configuration.limits.readSeconds))
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
                    "\(readers.waitingCount) reads wait; limits.waitingReads is \(configuration.limits.waitingReads),"
                    + " limits.readSeconds is \(configuration.limits.readSeconds),"
                    + " and one address may use half of either"
                context.notes.explanation = reason
                return busy(read.headers)
            })
        return .later(.work(waiting))
    }

    /// Answers a request together with others. Returns whether it will be answered.
    func join(_ joint: JointRequest) -> Bool { (joint.single.isWrite ? jointWriter : jointReader).add(joint) }

    /// The answer as it is sent: one that stays on this machine is not compressed.
    func encoded(_ response: HTTPResponse, for request: ConnectionRequest) -> HTTPResponse {
        let leaves = request.isForwarded || !request.client.isOwn
        return leaves ? Gzip.encoded(response, for: request.headers) : response
    }

    private func listen(_ read: HTTPRequest, _ request: ConnectionRequest) -> ServerAnswer {
        let (response, interest) = service.events(read, &request.context)
        if response.status != 200 { return .whole(response) }
        // Listeners may stay forever: some connections are reserved for other clients.
        if events.count >= max(1, configuration.limits.connections * 3 / 4) {
            request.context.notes.explanation = "event streams use three quarters of limits.connections"
            return .whole(busy(read.headers))
        }
        return .events(response, interest)
    }

    /// The answer to a request that was not started because the server stops.
    func stopped(_ request: ConnectionRequest) -> HTTPResponse {
        request.context.notes.explanation = "the server is stopping"
        return busy(request.headers, "The server is stopping; try again")
    }

    /// The answer if there is no room for a request.
    private func busy(_ headers: [HTTPHeader], _ message: String = "The server is busy; try again") -> HTTPResponse {
        var response = Refusal(503, "busy", message).response
        response.headers.append(HTTPHeader("Retry-After", "1"))
        return service.marked(response, headers)
    }

    /// The answer to an error that is found before the service sees the request.
    func refusal(_ refusal: Refusal, _ request: ConnectionRequest) -> HTTPResponse {
        service.marked(refusal.response, request.headers)
    }

    /// All metrics.
    var measures: HTTPResponse {
        let own = [
            Measure("connections", .gauge, "Open connections.", connections),
            Measure("requests_running", .gauge, "Requests that are being answered.", running.load(ordering: .relaxed)),
            Measure("listeners", .gauge, "Open event streams.", events.count),
            Measure(
                "waiting_jobs", .gauge, "Writes that wait for a worker.",
                writers.waitingCount + jointWriter.waitingCount),
            Measure(
                "waiting_reads", .gauge, "Reads that wait for a worker.",
                readers.waitingCount + jointReader.waitingCount),
            Measure("reads_begun_again_total", .counter, "Reads that made room for others.", readers.madeRoomCount),
            Measure("log_lines_lost_total", .counter, "Dropped lines of the log.", log.lost),
        ]
        var response = HTTPResponse(status: 200)
        response.headers = [HTTPHeader("Content-Type", "text/plain; version=0.0.4")]
        response.body = Array(metrics.text(own + service.measures()).utf8)
        return response
    }
}
