// The token that a request carries, and the user whom it names.

import SynclineCore
import SynclineGround
import SynclineWire

/// A token that requests carry, or the decision to carry none.
public struct AccessToken: Hashable, Sendable, ExpressibleByStringLiteral {
    /// Nil for requests without a token.
    let text: String?
    /// The user whose token it is; nil if that is not known. A store serves one user: see <doc:Sharing-between-users>.
    public let user: String?

    /// Creates a token.
    /// - Parameters:
    ///   - text: The token, without the word `Bearer`.
    ///   - user: The name of the user, if it is not the `sub` of a JSON Web Token.
    public init(_ text: String, user: String? = nil) {
        self.text = text
        self.user = user ?? AccessToken.subject(of: text)
    }

    public init(stringLiteral text: String) {
        self.init(text)
    }

    private init() {
        (text, user) = (nil, nil)
    }

    /// No token: requests are sent without one, for a server that accepts them, or that only needs headers.
    public static let anonymous = AccessToken()

    /// The `sub` of a JSON Web Token; nil for another token. The server checks the signature.
    private static func subject(of text: String) -> String? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = Base64.decode(url: parts[1]), let claims = try? Value(json: bytes),
            case .string(let subject)? = claims[member: "sub"], !subject.isEmpty
        else { return nil }
        return subject
    }
}
