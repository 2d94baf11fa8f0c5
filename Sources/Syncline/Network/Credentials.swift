// Supplies the credentials a request needs, and maps a provider's errors to the store's.

import SynclineCore

/// Supplies the token and the headers that requests carry.
public protocol CredentialProvider: Sendable {
    /// Returns the token to use, or ``AccessToken/anonymous`` to send none. Nil stops the push or pull with
    /// `unauthorized`, and nothing is sent. If the server refused a token, `refused` is that token and the provider must
    /// return another one.
    ///
    /// If this throws, nothing is sent and the push or pull stops; no data is lost. The reason is `offline` for a
    /// ``SyncError`` with that code, or a failed connection of URLSession or a socket. It is `io-error` for a
    /// ``SyncError`` with that code, because signing in again would not help. Otherwise it is `unauthorized`. The
    /// error becomes the ``SyncError/cause`` of the reason.
    func token(insteadOf refused: String?) async throws -> AccessToken?
    /// Returns headers to add to a request. Called for each request. An error stops the push or pull, like an error
    /// of ``token(insteadOf:)``.
    func headers() async throws -> [String: String]
}

extension CredentialProvider {
    public func headers() async throws -> [String: String] { [:] }
}

/// A token that never changes.
public struct FixedToken: CredentialProvider {
    private let text: String

    /// Creates a provider of one token.
    public init(_ text: String) {
        self.text = text
    }

    public func token(insteadOf refused: String?) async throws -> AccessToken? {
        refused == nil ? AccessToken(text) : nil
    }
}

/// Maps an error of a credential provider to the reason for which a push or pull stops.
enum CredentialFailure {
    static func reason(of error: any Error) -> SyncError {
        if error is CancellationError { return cancelled(error) }
        if let error = error as? SyncError {
            switch error.code {
            case .offline: return offline(error.message, error)
            case .cancelled: return cancelled(error)
            case .ioError: return unreadable(error)
            default: return unauthorized(error.message, error)
            }
        }
        // A failed connection is recognized without Foundation, by the error's domain and code.
        switch (error._domain, error._code) {
        case ("NSURLErrorDomain", -999): return cancelled(error)
        // The server wants a login, or the user cancelled one.
        case ("NSURLErrorDomain", -1013), ("NSURLErrorDomain", -1012): return unauthorized("\(error)", error)
        case ("NSURLErrorDomain", _): return offline("\(error)", error)
        case ("NSPOSIXErrorDomain", let code) where Connection.failures.contains(code):
            return offline("\(error)", error)
        default: return unauthorized("\(error)", error)
        }
    }

    private static func offline(_ words: String, _ cause: any Error) -> SyncError {
        SyncError(
            .offline, "the credentials could not be fetched: \(words)",
            hint: "Nothing was sent and nothing is lost: try again when there is a network.", cause: cause)
    }

    private static func unauthorized(_ words: String, _ cause: any Error) -> SyncError {
        SyncError(
            .unauthorized, "there are no credentials: \(words)",
            hint: "Nothing was sent and nothing is lost. Sign in, then try again.", cause: cause)
    }

    private static func unreadable(_ cause: SyncError) -> SyncError {
        SyncError(
            .ioError, "the credentials can't be read: \(cause.message)", hint: cause.hint, address: cause.address,
            cause: cause)
    }

    private static func cancelled(_ cause: any Error) -> SyncError {
        var error = SyncError(of: .cancelled)
        error.cause = cause
        return error
    }
}
