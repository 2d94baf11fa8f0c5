// Who is asked for what a request must carry to be let in.

/// Brings the token and the headers that requests carry.
public protocol CredentialProvider: Sendable {
    /// A token to use; nil to go without. When the server has refused one it is handed in, and another is wanted: nil or
    /// an error then stops what is going on with `unauthorized`, and nothing is lost.
    func token(insteadOf refused: String?) async throws -> String?
    /// Headers of every request, beside those of the protocol.
    func headers() async -> [String: String]
}

extension CredentialProvider {
    public func headers() async -> [String: String] { [:] }
}

/// A token that never changes.
public struct FixedToken: CredentialProvider {
    private let text: String

    /// A token by its text.
    public init(_ text: String) {
        self.text = text
    }

    public func token(insteadOf refused: String?) async throws -> String? {
        refused == nil ? text : nil
    }
}
