// The callbacks of libmicrohttpd, which it calls on its own threads. A request's state is an object that the connection
// holds from the request's first line to its end.

import CMicroHTTPD
import SynclineTables
import SynclineWire

enum DaemonOptions {
    /// Starts one thread.
    static func start(
        _ server: HTTPServer, isSecure: Bool
    ) -> OpaquePointer? {
        let limits = server.configuration.limits
        let context = Unmanaged.passUnretained(server).toOpaque()
        let connections = share(limits, server.configuration.connectionThreads)
        // Enough for the head of a request that is refused for its size, too; the memory is cleared for every request.
        let memory = limits.headerBytes + limits.urlBytes + (16 << 10)
        var options = [
            option(.CONNECTION_LIMIT, connections),
            option(.CONNECTION_TIMEOUT, limits.deadlines.idle),
            option(.CONNECTION_MEMORY_LIMIT, memory),
            // A filter's evaluation may nest as deep as the filter.
            option(.THREAD_STACK_SIZE, 8 << 20),
            option(.URI_LOG_CALLBACK, unsafeBitCast(beginRequest, to: Int.self), context),
            option(.NOTIFY_COMPLETED, unsafeBitCast(endRequest, to: Int.self), context),
            option(.NOTIFY_CONNECTION, unsafeBitCast(noteConnection, to: Int.self), context),
        ]
        assert(connections < DaemonOptions.epollLimit)
        // With epoll, libmicrohttpd asks again and again while a TLS handshake waits for its client.
        let waits = isSecure ? MHD_USE_POLL_INTERNAL_THREAD : MHD_USE_EPOLL_INTERNAL_THREAD
        var flags = waits.rawValue | MHD_ALLOW_SUSPEND_RESUME.rawValue | MHD_USE_NO_LISTEN_SOCKET.rawValue
        guard isSecure else {
            options.append(option(.END, 0))
            return syncline_mhd_start(flags, answerRequest, context, &options)
        }
        flags |= MHD_USE_TLS.rawValue
        options.append(option(.HTTPS_CERT_CALLBACK, 0, TLSCertificate.callback))
        return tlsVersions.withCString { versions in
            options.append(option(.HTTPS_PRIORITIES, 0, UnsafeMutableRawPointer(mutating: versions)))
            options.append(option(.END, 0))
            return syncline_mhd_start(flags, answerRequest, context, &options)
        }
    }

    /// A GnuTLS priority string: TLS 1.3, and TLS 1.2 with forward secrecy and authenticated encryption.
    private static let tlsVersions =
        "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-CIPHER-ALL:+AES-256-GCM:+AES-128-GCM:+CHACHA20-POLY1305"

    /// If a libmicrohttpd thread receives 128 events at once, it asks epoll for more before it handles any of them, and
    /// waits for as long as a connection may be idle. A thread with fewer connections, a listening socket and a pipe
    /// never receives that many.
    private static let epollLimit = 128

    /// One thread's share of all connections, and of those that were ended but still exist.
    private static func share(_ limits: ServerConfiguration.Limits, _ threads: Int) -> Int {
        (limits.connections + threads - 1) / threads + 16
    }

    private static func option(
        _ option: MHD_OPTION, _ value: Int, _ pointer: UnsafeMutableRawPointer? = nil
    ) -> MHD_OptionItem {
        MHD_OptionItem(option: option, value: value, ptr_value: pointer)
    }
}

/// Called when the request line has arrived.
private let beginRequest:
    @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>?, OpaquePointer?) -> UnsafeMutableRawPointer? = {
        context, target, connection in
        guard let context, let target else { return nil }
        Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().begin()
        let request = ConnectionRequest(target: String(cString: target))
        syncline_mhd_hide_parameters(target)
        enter(.head, connection)
        return Unmanaged.passRetained(request).toOpaque()
    }

/// Called when a connection has been taken over by its thread, or is about to be closed.
private let noteConnection:
    @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
        MHD_ConnectionNotificationCode
    ) -> Void = { context, connection, slot, code in
        guard let context, let connection, let slot else { return }
        let table = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue().table
        // MHD_CONNECTION_NOTIFY_STARTED, which is not imported into Swift.
        if code.rawValue == 0 {
            guard let open = table.begin(syncline_mhd_socket(connection)) else { return }
            slot.pointee = Unmanaged.passRetained(open).toOpaque()
        } else if let held = slot.pointee {
            slot.pointee = nil
            table.remove(Unmanaged<OpenConnection>.fromOpaque(held).takeRetainedValue())
        }
    }

/// Records the current phase of a connection.
func enter(_ phase: OpenConnection.Phase, _ connection: OpaquePointer?) {
    guard let held = connection.flatMap({ syncline_mhd_context($0) }) else { return }
    Unmanaged<OpenConnection>.fromOpaque(held).takeUnretainedValue().enter(phase, now: Monotonic.milliseconds)
}

/// Called when the answer is sent, or the connection is lost.
private let endRequest:
    @convention(c) (
        UnsafeMutableRawPointer?, OpaquePointer?, UnsafeMutablePointer<UnsafeMutableRawPointer?>?,
        MHD_RequestTerminationCode
    ) -> Void = { context, connection, slot, _ in
        guard let context, let slot, let held = slot.pointee else { return }
        slot.pointee = nil
        let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
        let request = Unmanaged<ConnectionRequest>.fromOpaque(held).takeRetainedValue()
        server.end(request)
        enter(.idle, connection)
        // The next request of the connection may take a while to arrive.
        _ = syncline_mhd_set_timeout(connection, UInt32(server.configuration.limits.deadlines.idle))
    }

/// Called once for the head, for each piece of the body, and once after it.
private let answerRequest: syncline_mhd_request = { context, connection, _, method, version, bytes, count, slot in
    guard let context, let connection, let count, let held = slot?.pointee else { return .NO }
    let server = Unmanaged<HTTPServer>.fromOpaque(context).takeUnretainedValue()
    let request = Unmanaged<ConnectionRequest>.fromOpaque(held).takeUnretainedValue()
    let limits = server.configuration.limits
    if !request.hasHead {
        request.hasHead = true
        if let held = syncline_mhd_context(connection) {
            request.client = Unmanaged<OpenConnection>.fromOpaque(held).takeUnretainedValue().client
        }
        request.version = version.map { String(cString: $0) } ?? ""
        request.method = method.map { String(cString: $0) } ?? ""
        MHD_get_connection_values(connection, .HEADER_KIND, addHeader, held)
        server.name(request)
        _ = syncline_mhd_set_timeout(connection, UInt32(limits.stalledSeconds))
        let configuration = server.configuration
        let refusal =
            request.refusalOfHead(limits) ?? request.believe(configuration.trustedProxies, configuration.proxyHeaders)
        guard let refusal else {
            if request.hasBody { enter(.body, connection) }
            return .YES
        }
        request.isAnswered = true
        return queue(server.refusal(refusal, request), request, connection, server, closes: true)
    }
    if count.pointee > 0 {
        if let bytes { request.append(UnsafeRawBufferPointer(start: bytes, count: count.pointee), limits) }
        count.pointee = 0
        return .YES
    }
    if request.isAnswered { return .YES }
    enter(.answer, connection)
    if let outcome = request.outcome { return queue(outcome, request, connection, server, closes: false) }
    if let waiting = request.waiting {
        request.waiting = nil
        suspend(request, connection, until: waiting, server)
        return .YES
    }
    switch server.answer(request) {
    case .whole(let response): return queue(response, request, connection, server, closes: false)
    case .events(let response, let interest): return queue(events: response, interest, request, connection, server)
    case .later(let waiting):
        // Without an answer, the library calls again at once and has then finished reading. If the connection were
        // suspended now, the library would read when it is resumed, and take a client that has finished sending for one
        // that has disconnected.
        request.waiting = waiting
        return .YES
    }
}

/// A request whose connection is suspended.
private struct SuspendedRequest: @unchecked Sendable {
    // Unchecked: until the connection is resumed, only the thread that answers and resumes it may touch the request, and
    // any thread may do this.
    let request: ConnectionRequest
    let connection: OpaquePointer

    func finish(_ answer: HTTPResponse, _ server: HTTPServer) {
        request.outcome = server.encoded(answer, for: request)
        MHD_resume_connection(connection)
    }
}

/// Suspends a connection until an answer is found.
private func suspend(
    _ request: ConnectionRequest, _ connection: OpaquePointer, until waiting: Waiting, _ server: HTTPServer
) {
    let suspended = SuspendedRequest(request: request, connection: connection)
    MHD_suspend_connection(connection)
    switch waiting {
    case .work(let work): begin(work, suspended, server)
    case .again(let wait):
        request.hasWaited = true
        wait { MHD_resume_connection(suspended.connection) }
    case .joint(let single):
        let joint = JointRequest(single: single) { answer, notes in
            suspended.request.context.notes = notes
            suspended.finish(answer, server)
        }
        if request.front?.join(joint) != true { suspended.finish(server.stopped(request), server) }
    }
}

private func begin(_ waiting: WaitingAnswer, _ suspended: SuspendedRequest, _ server: HTTPServer) {
    let (request, connection) = (suspended.request, suspended.connection)
    let clients = request.front?.clients
    let finish: @Sendable (HTTPResponse) -> Void = { answer in
        if let limit = waiting.limit { clients?.forget(limit) }
        suspended.finish(answer, server)
    }
    if let limit = waiting.limit { clients?.watch(syncline_mhd_socket(connection), limit) { limit.cancel() } }
    let admission = waiting.workers.carryOut(for: request.client, within: waiting.limit) {
        let answer = waiting.answer(&suspended.request.context)
        if waiting.limit?.takeInterruption() == true { return .madeRoom }
        finish(answer)
        return .done
    }
    switch admission {
    case .taken: break
    case .full: finish(waiting.refusal(&request.context))
    // Work that starts now might never be answered.
    case .closed: finish(server.stopped(request))
    }
}

private let addHeader: MHD_KeyValueIterator = { context, _, name, value in
    guard let context, let name else { return .YES }
    let request = Unmanaged<ConnectionRequest>.fromOpaque(context).takeUnretainedValue()
    request.headers.append(HTTPHeader(String(cString: name), value.map { String(cString: $0) } ?? ""))
    return .YES
}

private func queue(
    _ response: HTTPResponse, _ request: ConnectionRequest, _ connection: OpaquePointer, _ server: HTTPServer,
    closes: Bool
) -> MHD_Result {
    server.note(response, to: request)
    let made = response.body.withUnsafeBytes { bytes in
        MHD_create_response_from_buffer(
            bytes.count, UnsafeMutableRawPointer(mutating: bytes.baseAddress), .RESPMEM_MUST_COPY)
    }
    guard let made else { return .NO }
    defer { MHD_destroy_response(made) }
    for header in response.headers { MHD_add_response_header(made, header.name, header.value) }
    MHD_add_response_header(made, RequestID.header, request.id)
    if closes || server.isStopping { MHD_add_response_header(made, "Connection", "close") }
    return MHD_queue_response(connection, UInt32(response.status), made)
}
