// The user who is signed in.

import Syncline

/// Gives requests their token, and gets a new one when the server refuses it.
actor Account: CredentialProvider {
    let user: String
    private var token: String?
    private let renew: @Sendable () async throws -> String?

    /// `renew` asks the identity provider for a new token; it returns nil if the user must sign in again.
    init(user: String, token: String?, renew: @escaping @Sendable () async throws -> String?) {
        self.user = user
        self.token = token
        self.renew = renew
    }

    func token(insteadOf refused: String?) async throws -> AccessToken? {
        if token == nil || token == refused { token = try await renew() }
        return token == refused ? nil : token.map { AccessToken($0) }
    }

    /// Uses a new token, after the user has signed in again.
    func use(_ token: String) {
        self.token = token
    }
}
