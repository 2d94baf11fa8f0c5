// The way to the server: a request in the store's words goes out with the credentials of the moment, and the answer comes
// back in the store's words.

import Synchronization
import SynclineCore
import SynclineWire

final class ServerChannel: Sendable {
    private let transport: any HTTPTransport
    let codec: WireCodec
    private let credentials: (any CredentialProvider)?
    private let known = Mutex(Known())

    /// What the provider brought or the app said; nil for what nobody was asked for.
    private struct Known {
        var token: String??
        var headers: [HTTPHeader]?
        var capabilities: ServerCapabilities = []
    }

    /// What a request carries.
    private struct Pass {
        var token: String?
        var headers: [HTTPHeader] = []
    }

    init(_ transport: any HTTPTransport, _ server: ServerProtocol, _ credentials: (any CredentialProvider)?) {
        self.transport = transport
        codec = WireCodec(server)
        self.credentials = credentials
    }

    func send(_ request: ServerRequest) async throws(NetworkFailure) -> ServerReply {
        if Task.isCancelled { throw .cancelled }
        let pass = await currentPass()
        let message: HTTPRequest
        do throws(UnsupportedPredicate) {
            message = try codec.request(request, headers: pass.headers, token: pass.token)
        } catch {
            throw .refused(error.description)
        }
        let reply = codec.reply(try await transport.send(message), to: request)
        // What stands before a server answers for it when it is down, and knows nothing of it.
        if reply.status < 500 { known.withLock { $0.capabilities = reply.capabilities } }
        return reply
    }

    /// What the server can do, as its latest answer said.
    var capabilities: ServerCapabilities { known.withLock { $0.capabilities } }

    /// Sends a request as it is, and once more with another token if the first was refused.
    func exchange(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
        var response = try await once(request)
        if response.status == 401, await renewToken() { response = try await once(request) }
        return response
    }

    /// Hears of changes for as long as the stream lasts: `told` gets the server's cursor. It asks once more with another token
    /// if the first was refused.
    func listen(_ told: @escaping @Sendable (String) -> Void) async {
        if await hear(told) == 401, await renewToken() { _ = await hear(told) }
    }

    /// The status of the stream's answer; nil if there was none.
    private func hear(_ told: @escaping @Sendable (String) -> Void) async -> Int? {
        let pass = await currentPass()
        let reading = Mutex(ServerEvents())
        let request = codec.dressed(codec.events, headers: pass.headers, token: pass.token)
        let response = try? await transport.listen(request) { piece in
            for event in reading.withLock({ $0.take(piece) }) where event.name == "change" { told(event.data) }
        }
        return response?.status
    }

    private func once(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
        let pass = await currentPass()
        do throws(NetworkFailure) {
            return try await transport.send(codec.dressed(request, headers: pass.headers, token: pass.token))
        } catch {
            throw PushMachine.error(of: error)
        }
    }

    /// Uses a token from now on.
    func use(token: String?) {
        known.withLock { $0.token = .some(token) }
    }

    private func currentPass() async -> Pass {
        let before = known.withLock { $0 }
        if let token = before.token, let headers = before.headers { return Pass(token: token, headers: headers) }
        guard let credentials else { return Pass(token: before.token ?? nil) }
        var token = before.token ?? nil
        if before.token == nil { token = try? await credentials.token(insteadOf: nil) }
        let headers = await credentials.headers().sorted { $0.key < $1.key }.map { HTTPHeader($0.key, $0.value) }
        return known.withLock { [token] known in
            // What was said meanwhile is newer.
            if known.token == nil { known.token = .some(token) }
            if known.headers == nil { known.headers = headers }
            return Pass(token: known.token ?? nil, headers: known.headers ?? [])
        }
    }

    /// Asks for another token after one was refused; whether there is one.
    func renewToken() async -> Bool {
        let refused = known.withLock { $0.token ?? nil }
        guard let fresh = try? await credentials?.token(insteadOf: refused ?? "") else { return false }
        use(token: fresh)
        return true
    }
}
