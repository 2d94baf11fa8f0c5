// Checks tokens with the current keys. A key file is read again when it changes; the gate checks this at most once a
// second. If the file can't be read, or contains no keys, the previous keys stay.

import SynclineGround
import SynclineTables
import SynclineWire

/// Access to key files.
struct KeyFileAccess: Sendable {
    var stamp: @Sendable (String) -> FileStamp? = { SystemFiles.stamp($0) }
    var read: @Sendable (String) throws(StartFailure) -> [UInt8] = { path throws(StartFailure) in
        try SystemFiles.read(path)
    }
}

/// The tenants that the token of a request names.
enum ClaimedTenants: Hashable, Sendable {
    case noToken
    case invalid
    case names([String])
}

final class TokenGate: Sendable {
    /// The keys and rules for checking tokens.
    private final class Keys: Sendable {
        let rules: TokenRules?
        /// The keys of the file.
        let others: [TokenKey]
        /// The tokens that came lately: to check one takes longer than to read a row.
        private let known = Mutex<[ExactString: Token]>([:])
        private static let (limit, longest) = (10_000, 4096)

        init(_ rules: TokenRules?, _ others: [TokenKey] = []) {
            self.rules = rules
            self.others = others
        }

        func token(_ text: String) -> Token? {
            let key = ExactString(text)
            if let token = known.withLock({ $0[key] }) { return token }
            guard let token = rules?.token(text, others: others) else { return nil }
            if text.utf8.count <= Keys.longest {
                known.withLock { known in
                    if known.count == Keys.limit { known = [:] }
                    known[key] = token
                }
            }
            return token
        }
    }

    /// Is notified about keys that can't be read.
    private struct Listener {
        var call: @Sendable (String) -> Void = { _ in }
    }

    private let listener = Mutex(Listener())

    private let keys: SharedReading<Keys>
    /// The file's stamp at the last read.
    private let stamp = Mutex<FileStamp?>(nil)
    /// The time of the last check, in milliseconds since 1970.
    private let looked = Atomic<Int64>(0)
    private let door: KeyFileAccess

    init(_ rules: TokenRules?, _ door: KeyFileAccess = KeyFileAccess()) {
        self.door = door
        keys = SharedReading(Keys(rules))
    }

    /// Sets the listener that is notified about keys that can't be read.
    func tell(_ listener: @escaping @Sendable (String) -> Void) { self.listener.withLock { $0.call = listener } }

    /// Replaces the rules if their keys can be read; the file's keys are read at once.
    func take(_ rules: TokenRules?) throws(StartFailure) {
        try stamp.withLock { stamp throws(StartFailure) in
            let new = rules?.file.flatMap { door.stamp($0) }
            let others = try rules?.file.map { path throws(StartFailure) in try keys(of: path) } ?? []
            stamp = new
            keys.change { $0 = Keys(rules, others) }
        }
    }

    /// The caller of a request with these headers to a tenant.
    func login(_ headers: [HTTPHeader], now: Int64, tenant: String? = nil) -> Login {
        guard let (rules, token) = token(headers, now) else { return .none }
        guard let token, let caller = token.caller(now: now) else { return .invalid }
        if let tenant, rules.tenantClaim != nil, !token.tenants.contains(tenant) { return .elsewhere }
        return .caller(caller)
    }

    /// The tenants for which the token of a request with these headers is.
    func tenants(_ headers: [HTTPHeader], now: Int64) -> ClaimedTenants {
        guard let (_, token) = token(headers, now) else { return .noToken }
        return token?.caller(now: now) == nil ? .invalid : .names(token?.tenants ?? [])
    }

    /// The rules, and the token if it is signed as they say; nil without a token.
    private func token(_ headers: [HTTPHeader], _ now: Int64) -> (rules: TokenRules, token: Token?)? {
        var known = keys.value
        if let path = known.rules?.file, look(path, now) { known = keys.value }
        guard let rules = known.rules, let text = Login.token(headers) else { return nil }
        return (rules, known.token(text))
    }

    /// Whether the file's keys may have changed. One thread checks, and no other thread waits for it.
    private func look(_ path: String, _ now: Int64) -> Bool {
        let before = looked.load(ordering: .relaxed)
        guard abs(now - before) >= 1000,
            looked.compareExchange(expected: before, desired: now, ordering: .relaxed).exchanged
        else { return false }
        return stamp.withLock { stamp in
            let new = door.stamp(path)
            if stamp == new { return false }
            stamp = new
            do throws(StartFailure) {
                let others = try keys(of: path)
                keys.change { $0 = Keys($0.rules, others) }
                return true
            } catch {
                listener.withLock { $0.call }("the old keys stay in use: \(error.text)")
                return false
            }
        }
    }

    private func keys(of path: String) throws(StartFailure) -> [TokenKey] {
        let bytes = try door.read(path)
        do throws(StartFailure) {
            return try KeySet.keys(bytes)
        } catch {
            throw StartFailure("\(path) can't be used: \(error.message)", hint: error.hint)
        }
    }
}
