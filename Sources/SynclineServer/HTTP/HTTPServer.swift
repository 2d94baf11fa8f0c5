// The shell around the service: libmicrohttpd reads requests and writes answers on a fixed number of threads, and the
// callbacks in HTTPServer+Callbacks.swift pass each request to this class. The `Acceptor` accepts connections.

import CMicroHTTPD
import Dispatch
import SynclineGround
import SynclineTables
import SynclineWire

final class HTTPServer: Sendable {
    let configuration: ServerConfiguration
    let metrics = Metrics()
    let log: ServerLog
    /// The clients that listen for events: one that has left must not keep another's place.
    let listening = ClientWatch(interval: 1000)
    /// The server's own URL.
    let url: String
    private let fronts: any StoreFronts
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

    convenience init(
        _ configuration: ServerConfiguration, _ service: any RequestAnswering, tls: TLSCertificate? = nil
    ) throws(StartFailure) {
        let environment = SystemServerEnvironment()
        try self.init(
            configuration, OnlyFront(configuration, service), tls: tls, environment,
            ServerLog(configuration.log, environment))
    }

    init(
        _ configuration: ServerConfiguration, _ fronts: any StoreFronts, tls: TLSCertificate?,
        _ environment: any ServerEnvironment, _ log: ServerLog
    ) throws(StartFailure) {
        self.configuration = configuration
        self.fronts = fronts
        self.environment = environment
        self.log = log
        ids = RequestIDs(environment)
        limiter = configuration.requestsPerSecond.map { RateLimiter(perSecond: $0) }
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
        for front in fronts.all { front.events.end() }
        // Long reads are given up sooner: their clients can ask again.
        if !drain(seconds: (waitingSeconds + 1) / 2) { for front in fronts.all { front.clients.leaveAll() } }
        if !drain(seconds: waitingSeconds / 2) {
            interrupt()
            // Connections with running work are resumed, and their answers must still be sent.
            fronts.endWork()
            drain(seconds: 1)
        }
        fronts.endWork()
        serving.threads.stop()
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
            request.method, status: request.status, time, bytesIn: request.body.count, bytesOut: request.bytesOut,
            tenant: request.context.tenant)
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
        let asked = "\(request.method) \(request.path)" + (request.context.tenant.map { " of tenant \($0)" } ?? "")
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
        var read: HTTPRequest
        do throws(Refusal) {
            read = try request.read(configuration.limits)
        } catch {
            return .whole(refusal(error, request))
        }
        if let limiter, !request.hasWaited, !limiter.admits(request.client.text) {
            return .whole(fronts.marked(Refusal.tooManyRequests.response(retryAfter: 1), request.headers))
        }
        if read.method == "GET", read.path == "/metrics", configuration.metricsListen == nil {
            return .whole(measures)
        }
        request.context = RequestContext(url: request.url(url), hasWaited: request.hasWaited)
        switch fronts.choose(for: &read, &request.context) {
        case .later(let waiting): return .later(waiting)
        case .answer(let response): return .whole(fronts.marked(response, read.headers))
        case .front(let front):
            request.front = front
            return admitted(front.answer(read, request), front, request)
        }
    }

    /// Listeners may stay forever: some connections are reserved for other clients. A tenant has half of the room.
    private func admitted(_ answer: ServerAnswer, _ front: StoreFront, _ request: ConnectionRequest) -> ServerAnswer {
        guard case .events = answer else { return answer }
        let room = max(1, configuration.limits.connections * 3 / 4)
        let isAlone = request.context.tenant == nil
        guard listeners >= room || !isAlone && front.events.count >= (room + 1) / 2 else { return answer }
        request.context.notes.explanation =
            "event streams use three quarters of limits.connections" + (isAlone ? "" : ", or a tenant's half of that")
        return .whole(front.service.marked(StoreFront.busy(), request.headers))
    }

    private var listeners: Int { sum(\.events.count) }

    /// The answer as it is sent: one that stays on this machine is not compressed.
    func encoded(_ response: HTTPResponse, for request: ConnectionRequest) -> HTTPResponse {
        let leaves = request.isForwarded || !request.client.isOwn
        return leaves ? Gzip.encoded(response, for: request.headers) : response
    }

    /// The answer to a request that was not started because the server stops.
    func stopped(_ request: ConnectionRequest) -> HTTPResponse {
        request.context.notes.explanation = "the server is stopping"
        return fronts.marked(StoreFront.busy("The server is stopping; try again"), request.headers)
    }

    /// The answer to an error that is found before the service sees the request.
    func refusal(_ refusal: Refusal, _ request: ConnectionRequest) -> HTTPResponse {
        fronts.marked(refusal.response, request.headers)
    }

    private func sum(_ count: KeyPath<StoreFront, Int>) -> Int { fronts.all.reduce(0) { $0 + $1[keyPath: count] } }

    /// All metrics.
    var measures: HTTPResponse {
        let own = [
            Measure("connections", .gauge, "Open connections.", connections),
            Measure("requests_running", .gauge, "Requests that are being answered.", running.load(ordering: .relaxed)),
            Measure("listeners", .gauge, "Open event streams.", listeners),
            Measure(
                "waiting_jobs", .gauge, "Writes that wait for a worker.", sum(\.waitingWrites)),
            Measure(
                "waiting_reads", .gauge, "Reads that wait for a worker.", sum(\.waitingReads)),
            Measure("reads_begun_again_total", .counter, "Reads that made room for others.", sum(\.madeRoomCount)),
            Measure("log_lines_lost_total", .counter, "Dropped lines of the log.", log.lost),
        ]
        var response = HTTPResponse(status: 200)
        response.headers = [HTTPHeader("Content-Type", "text/plain; version=0.0.4")]
        response.body = Array(metrics.text(own + fronts.measures).utf8)
        return response
    }
}
