// Supplies the credentials that a request needs, and says what it means if they can't be had.

import SynclineCore

/// Supplies the token and the headers that requests carry.
public protocol CredentialProvider: Sendable {
    /// A token to use; nil to go without. When the server has refused one it is handed in, and another is wanted: nil then
    /// stops the push or pull with `unauthorized`.
    ///
    /// If this throws, nothing is sent: the push or pull stops, and nothing is lost. It stops with `offline` if the error is
    /// a ``SyncError`` with that code or a failed connection of URLSession or of a socket; with `io-error` if it is a
    /// ``SyncError`` with that code, because signing in again does not mend a disk; else with `unauthorized`. The error is
    /// the ``SyncError/cause`` of the reason.
    func token(insteadOf refused: String?) async throws -> String?
    /// Headers of a request, beside those of the protocol. They are asked for with each request. An error stops the push
    /// or pull, as one of the token does.
    func headers() async throws -> [String: String]
}

extension CredentialProvider {
    public func headers() async throws -> [String: String] { [:] }
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

/// What an error of a provider means for the push or pull that needed credentials.
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
        switch kind(domain: error._domain, code: error._code) {
        case .connection: return offline("\(error)", error)
        case .cancellation: return cancelled(error)
        case .other: return unauthorized("\(error)", error)
        }
    }

    private enum Kind {
        case connection, cancellation, other
    }

    /// Tells a failed connection from other errors, without Foundation: by the domain and code of the system's errors.
    private static func kind(domain: String, code: Int) -> Kind {
        switch (domain, code) {
        case ("NSURLErrorDomain", -999): .cancellation
        // The server wants a login, or the user cancelled one.
        case ("NSURLErrorDomain", -1013), ("NSURLErrorDomain", -1012): .other
        case ("NSURLErrorDomain", _): .connection
        case ("NSPOSIXErrorDomain", _): Connection.failures.contains(code) ? .connection : .other
        default: .other
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
