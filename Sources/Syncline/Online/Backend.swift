// Direct access to a server, without the local store: its tables, its custom API, and signing in.

public import SynclineCore
package import SynclineWire

/// A server of tables, used without a local store.
public final class Backend: Sendable {
    let channel: ServerChannel

    /// Creates a backend for the server at a URL.
    public convenience init(
        url: String, speaking server: ServerProtocol = .zumo2, credentials: (any CredentialProvider)? = nil,
        limits: NetworkLimits = .init()
    ) throws(SyncError) {
        try limits.check()
        self.init(try makeTransport(baseURL: url, limits: limits.transport), speaking: server, credentials)
    }

    package init(
        _ transport: any HTTPTransport, speaking server: ServerProtocol, _ credentials: (any CredentialProvider)?
    ) {
        channel = ServerChannel(transport, server, credentials)
    }

    init(_ channel: ServerChannel) {
        self.channel = channel
    }

    /// Returns a table of the server.
    public func rows(of name: String) -> OnlineTable {
        OnlineTable(channel: channel, name: name)
    }

    /// The response of a custom API call.
    public struct Answer: Hashable, Sendable {
        /// The status code.
        public var status: Int
        /// The response's headers, with names as received.
        public var headers: [String: String]
        /// The response's body as received.
        public var body: [UInt8]

        /// The body as JSON; nil if it is not valid JSON.
        public var value: Value? { try? Value(json: body) }
    }

    /// Calls the server's custom API at `/api/name`. Returns the response whatever its status.
    @concurrent
    public func call(
        _ name: String, method: String = "POST", parameters: [String: String] = [:], headers: [String: String] = [:],
        value: Value? = nil
    ) async throws(SyncError) -> Answer {
        var headers = headers
        if value != nil { headers["Content-Type"] = headers["Content-Type"] ?? "application/json" }
        return try await call(
            name, method: method, parameters: parameters, headers: headers, body: value.map { Array($0.json.utf8) })
    }

    /// Calls the server's custom API with a body of any type.
    @concurrent
    public func call(
        _ name: String, method: String = "POST", parameters: [String: String] = [:], headers: [String: String] = [:],
        body: [UInt8]?
    ) async throws(SyncError) -> Answer {
        var request = HTTPRequest(method.uppercased(), "/api/" + name)
        request.query = parameters.sorted { $0.key < $1.key }.map { HTTPHeader($0.key, $0.value) }
        request.headers = headers.sorted { $0.key < $1.key }.map { HTTPHeader($0.key, $0.value) }
        request.body = body
        let response = try await channel.exchange(request)
        return Answer(
            status: response.status,
            headers: Dictionary(response.headers.map { ($0.name, $0.value) }) { $0 + ", " + $1 }, body: response.body)
    }

    // MARK: Signing in

    /// A signed-in user.
    public struct User: Hashable, Sendable {
        /// The user's id.
        public var id: String
        /// The token that requests carry from now on.
        public var token: String
    }

    /// Exchanges an identity provider's tokens for a token of the server, and uses that from now on.
    @concurrent
    public func signIn(_ provider: String, with tokens: [String: String]) async throws(SyncError) -> User {
        // The long name that older apps use.
        let name = provider.lowercased() == "windowsazureactivedirectory" ? "aad" : provider
        var request = HTTPRequest("POST", "/.auth/login/" + name)
        request.headers = [HTTPHeader("Content-Type", "application/json")]
        let members = tokens.sorted { $0.key < $1.key }.map { Value.Member($0.key, .string($0.value)) }
        request.body = Array(Value.object(members).json.utf8)
        let value = try await signedIn(request)
        guard let token = value.text("authenticationToken"), let id = value[member: "user"]?.text("userId") else {
            throw SyncError(.serverError, "the sign-in response has no token or no user")
        }
        channel.use(token: AccessToken(token, user: AccessToken(token).user ?? id))
        return User(id: id, token: token)
    }

    /// Refreshes the signed-in user's token, and uses the new one from now on.
    @concurrent
    public func refreshSignIn() async throws(SyncError) -> String {
        let value = try await signedIn(HTTPRequest("GET", "/.auth/refresh"))
        guard let token = value.text("authenticationToken") else {
            throw SyncError(.serverError, "the refresh response has no token")
        }
        let user = try await channel.currentToken()?.user
        channel.use(token: AccessToken(token, user: AccessToken(token).user ?? user))
        return token
    }

    /// Discards the token.
    public func signOut() {
        channel.use(token: nil)
    }

    private func signedIn(_ request: HTTPRequest) async throws(SyncError) -> Value {
        let response = try await channel.exchange(request)
        guard (200..<300).contains(response.status) else {
            let reply = channel.codec.reply(response, to: .row(table: "", id: ""))
            if response.status < 500 { throw SyncError.unauthorized(reply) }
            throw SyncError(of: reply)
        }
        guard let value = try? Value(json: response.body) else {
            throw SyncError(.serverError, "the response is not JSON")
        }
        return value
    }
}

extension SyncDatabase {
    /// Returns the store's server for direct access. Calls to it do not touch the local tables.
    @concurrent
    public func backend() async throws(SyncError) -> Backend {
        Backend(try await channel())
    }
}

extension Value {
    fileprivate func text(_ name: String) -> String? {
        if case .string(let text)? = self[member: name] { return text }
        return nil
    }
}
