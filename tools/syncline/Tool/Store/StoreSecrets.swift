// What must not stand in the log: the token and the headers of a store's requests, in a file of their own beside it that
// nobody else may read.

import Syncline
import SynclineCore
import SynclineInspect
import SynclineWire

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

struct StoreSecrets: CredentialProvider {
    private let path: String

    init(store directory: String) {
        path = directory + "/secrets.json"
    }

    /// Everything in the file; nothing if there is none.
    func read() throws(ToolError) -> [Value.Member] {
        guard let file = fopen(path, "rb") else {
            if errno == ENOENT { return [] }
            throw ToolError("io-error", "\(escaped(path)) can't be read: \(String(cString: strerror(errno)))")
        }
        defer { fclose(file) }
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = fread(&piece, 1, piece.count, file)
            if count == 0 { break }
            bytes += piece[..<count]
        }
        guard case .object(let members)? = try? Value(json: bytes) else {
            throw ToolError(
                "invalid-configuration", "\(escaped(path)) is not a JSON object",
                hint: "Remove the file, then set the token and the headers again.")
        }
        return members
    }

    /// Sets one; nil removes it. The file is replaced whole, so that a reader sees the old or the new.
    func set(_ name: String, _ value: Value?) throws(ToolError) {
        var members = try read().filter { $0.name != name }
        if let value { members.append(.init(name, value)) }
        let bytes = Array(Value.object(members).json.utf8)
        let draft = path + ".new"
        let descriptor = open(draft, O_WRONLY | O_CREAT | O_TRUNC, 0o600)
        guard descriptor >= 0 else { throw failure("written") }
        let isWritten =
            fchmod(descriptor, 0o600) == 0 && write(descriptor, bytes, bytes.count) == bytes.count
            && fsync(descriptor) == 0
        close(descriptor)
        guard isWritten, rename(draft, path) == 0 else { throw failure("written") }
    }

    private func failure(_ what: String) -> ToolError {
        ToolError("io-error", "\(escaped(path)) can't be \(what): \(String(cString: strerror(errno)))")
    }

    // MARK: Credentials

    func token(insteadOf refused: String?) async throws -> String? {
        let token = try read().first { $0.name == "token" }?.value
        guard case .string(let text)? = token, text != refused else { return nil }
        return text
    }

    func headers() async throws -> [String: String] {
        guard case .object(let members)? = try read().first(where: { $0.name == "headers" })?.value else { return [:] }
        var headers: [String: String] = [:]
        for member in members {
            if case .string(let text) = member.value { headers[member.name] = text }
        }
        return headers
    }
}
