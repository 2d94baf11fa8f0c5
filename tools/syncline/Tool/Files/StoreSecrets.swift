// Secrets that must not be in the log: the token and the headers of a store's requests, in a file next to it that only
// its owner can read.

import SegmentLog
import Syncline
import SynclineWire

struct StoreSecrets: CredentialProvider {
    private let file: WholeFile
    private static let name = "secrets.json"

    init(store directory: String) {
        self.init(POSIXStorage(directory: directory))
    }

    init(_ storage: any LogStorage) {
        file = WholeFile(StoreSecrets.name, in: storage, isPrivate: true)
    }

    /// The content of the file; empty if there is none.
    func read() throws -> [Value.Member] {
        guard let bytes = try file.read() else { return [] }
        guard case .object(let members)? = try? Value(json: bytes) else {
            throw ToolError(
                "invalid-configuration", "\(StoreSecrets.name) is not a JSON object",
                hint: "Remove the file, then set the token and the headers again.")
        }
        return members
    }

    /// Sets a secret, durably; nil removes it. The file is replaced as a whole: a reader sees the old or the new.
    func set(_ name: String, _ value: Value?) throws {
        var members = try read().filter { $0.name != name }
        if let value { members.append(.init(name, value)) }
        try file.replace(with: Array(Value.object(members).json.utf8))
    }

    // MARK: Credentials

    /// The content of the file; an error is the reason why a push or pull stops.
    private func readForRequest() throws(SyncError) -> [Value.Member] {
        do { return try read() } catch {
            guard let error = ToolError(error) else { return [] }
            throw SyncError(.init(rawValue: error.code), error.message, hint: error.hint, address: error.file)
        }
    }

    func token(insteadOf refused: String?) async throws -> AccessToken? {
        guard case .string(let text)? = try readForRequest()[member: "token"] else {
            return refused == nil ? .anonymous : nil
        }
        return text == refused ? nil : AccessToken(text)
    }

    func headers() async throws -> [String: String] {
        guard case .object(let members)? = try readForRequest()[member: "headers"] else { return [:] }
        var headers: [String: String] = [:]
        for member in members {
            if case .string(let text) = member.value { headers[member.name] = text }
        }
        return headers
    }
}
