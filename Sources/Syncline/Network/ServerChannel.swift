// The connection to the server: sends the store's requests with the current credentials, and returns the responses
// in the store's types.

import SynclineCore
import SynclineGround
import SynclineWire

final class ServerChannel: Sendable {
    private let transport: any HTTPTransport
    let codec: WireCodec
    /// What the server speaks.
    var server: ServerProtocol { codec.serverProtocol }
    private let credentials: (any CredentialProvider)?
    let limits: NetworkLimits
    let names: NameTranslation
    private let known: Mutex<Known>
    /// Throws if a request of a push or pull may not carry a token.
    private let admit: @Sendable (AccessToken?) async throws(SyncError) -> Void

    /// The token from the provider or the app, nil if the provider was not asked yet; and the server's capabilities.
    private struct Known {
        var token: AccessToken??
        var capabilities: ServerCapabilities = []
        /// The latest change that the server has shown, if it wants it back.
        var mark: ChangeCursor?

        mutating func note(_ mark: ChangeCursor?) {
            guard let new = mark else { return }
            if let old = self.mark, old.epoch == new.epoch, old.change >= new.change { return }
            self.mark = new
        }
    }

    /// The credentials of a request.
    private struct Pass {
        var token: AccessToken?
        var headers: [HTTPHeader] = []
    }

    init(
        _ transport: any HTTPTransport, _ server: ServerProtocol, _ credentials: (any CredentialProvider)?,
        limits: NetworkLimits = .init(), names: NameTranslation = NameTranslation(nil),
        capabilities: ServerCapabilities = [],
        admit: @escaping @Sendable (AccessToken?) async throws(SyncError) -> Void = { _ in }
    ) {
        known = Mutex(Known(capabilities: capabilities))
        self.names = names
        self.admit = admit
        self.transport = transport
        codec = WireCodec(server)
        self.credentials = credentials
        self.limits = limits
    }

    func send(_ request: ServerRequest) async throws(NetworkFailure) -> ServerReply {
        if Task.isCancelled { throw .notSent(SyncError(of: .cancelled)) }
        let pass: Pass
        do throws(SyncError) {
            pass = try await currentPass()
            try await admit(pass.token)
        } catch {
            throw .notSent(error)
        }
        var message: HTTPRequest
        do throws(UnsupportedPredicate) {
            message = try codec.request(names.sent(request), headers: pass.headers, token: pass.token?.text)
        } catch {
            throw .refused(error.description)
        }
        if case .changes = request, let mark = known.withLock({ $0.mark }) {
            message.headers.append(HTTPHeader(WireHeader.mark, mark.text))
        }
        var reply = codec.reply(noted(try await transport.send(message)), to: request)
        reply.accept(waitsUpTo: limits.longestWait.milliseconds)
        reply = names.received(reply, to: request)
        // When the server is down, a proxy answers in its place and does not know its capabilities.
        if reply.status < 500 { known.withLock { $0.capabilities = reply.capabilities } }
        return reply
    }

    /// The server's capabilities, according to its latest response.
    var capabilities: ServerCapabilities { known.withLock { $0.capabilities } }

    /// Sends a request, and sends it once more with another token if the first was refused.
    func exchange(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
        let response = try await once(request)
        guard response.status == 401, try await renewToken() else { return response }
        return try await once(request)
    }

    /// Listens to the server's event stream of some tables until it ends. Tries once more with another token if the
    /// first was refused.
    func listen(to tables: [String], _ told: @escaping @Sendable (ServerNews.Announcement) -> Void) async {
        guard await hear(of: tables, told) == 401, await renewCredentials() == nil else { return }
        _ = await hear(of: tables, told)
    }

    /// Returns the status of the stream's response, or nil if there was none.
    private func hear(
        of tables: [String], _ told: @escaping @Sendable (ServerNews.Announcement) -> Void
    ) async -> Int? {
        guard let pass = try? await currentPass() else { return nil }
        let reading = Mutex(ServerEvents())
        let request = codec.withCommonHeaders(codec.events(of: tables), headers: pass.headers, token: pass.token?.text)
        let response = try? await transport.listen(request) { [self] piece in
            for event in reading.withLock({ $0.take(piece) }) where event.name == "change" {
                known.withLock { if $0.mark != nil { $0.note(ChangeCursor(event.data)) } }
                told(ServerNews.Announcement(event.data, tables: event.tables))
            }
        }
        return response?.status
    }

    private func once(_ request: HTTPRequest) async throws(SyncError) -> HTTPResponse {
        let pass = try await currentPass()
        do throws(NetworkFailure) {
            let response = try await transport.send(
                codec.withCommonHeaders(request, headers: pass.headers, token: pass.token?.text))
            if let refusal = response.refusal { throw .refused(refusal) }
            return noted(response)
        } catch {
            throw SyncError(of: error)
        }
    }

    /// The response, after its mark was noted.
    private func noted(_ response: HTTPResponse) -> HTTPResponse {
        if let mark = response.headers.value(WireHeader.mark) { known.withLock { $0.note(ChangeCursor(mark)) } }
        return response
    }

    // MARK: Credentials

    /// Uses a token from now on.
    func use(token: AccessToken?) {
        known.withLock { $0.token = .some(token) }
    }

    /// Returns the token of the next request. Throws if the provider fails; then nothing is sent.
    func currentToken() async throws(SyncError) -> AccessToken? {
        if let token = known.withLock({ $0.token }) { return token }
        guard let credentials else { return nil }
        do {
            guard let asked = try await credentials.token(insteadOf: nil) else {
                throw SyncError(.unauthorized, "the app has none", hint: "Sign in, then try again.")
            }
            return known.withLock { known in
                // A token that was set in the meantime is newer.
                if known.token == nil { known.token = .some(asked) }
                return known.token ?? nil
            }
        } catch {
            throw CredentialFailure.reason(of: error)
        }
    }

    private func currentPass() async throws(SyncError) -> Pass {
        let token = try await currentToken()
        guard let credentials else { return Pass(token: token) }
        do {
            let headers = try await credentials.headers().sorted { $0.key < $1.key }
            return Pass(
                token: known.withLock { $0.token } ?? token,
                headers: headers.map { HTTPHeader($0.key, $0.value) })
        } catch {
            throw CredentialFailure.reason(of: error)
        }
    }

    /// Asks for another token after one was refused; returns whether there is one.
    private func renewToken() async throws(SyncError) -> Bool {
        let refused = known.withLock { $0.token ?? nil }?.text
        do {
            guard let fresh = try await credentials?.token(insteadOf: refused ?? "") else { return false }
            use(token: fresh)
            return true
        } catch {
            throw CredentialFailure.reason(of: error)
        }
    }

    /// Asks for another token after one was refused; returns why there is none, or nil if there is one.
    func renewCredentials() async -> SyncError? {
        do throws(SyncError) {
            return try await renewToken() ? nil : SyncError.unauthorized(nil)
        } catch {
            return error
        }
    }
}
