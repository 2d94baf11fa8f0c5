// Tokens: who the caller is, if what the token says holds now and its signature is by a key that the server knows. A key says
// which algorithm it is for, and no token can say otherwise.

import SynclineCore
import SynclineWire

/// How tokens are signed.
enum TokenAlgorithm: String, Hashable, Sendable, CaseIterable {
    case hs256 = "HS256"
    case rs256 = "RS256"
    case es256 = "ES256"
}

/// A key that tokens are checked with.
struct TokenKey: Hashable, Sendable {
    /// Tokens that name a key are by the one of this name; nil for one that is tried whatever they name.
    var id: String?
    var algorithm = TokenAlgorithm.hs256
    /// The secret, or the public key as PEM or DER.
    var bytes: [UInt8]

    init(_ bytes: [UInt8], _ algorithm: TokenAlgorithm = .hs256, id: String? = nil) {
        (self.bytes, self.algorithm, self.id) = (bytes, algorithm, id)
    }
}

struct TokenRules: Hashable, Sendable {
    /// Those of the configuration.
    var keys: [TokenKey]
    /// A file with others, as a set of JSON Web Keys.
    var file: String?
    /// Nil for any.
    var audience: String?
    var issuer: String?
    /// How far clocks may differ.
    var leewaySeconds: Int64 = 60

    init(keys: [TokenKey] = []) {
        self.keys = keys
    }
}

/// Who asks.
struct Caller: Hashable, Sendable {
    var subject: String
    var roles: Set<String> = []
}

extension TokenRules {
    /// The caller that a token names; nil if it is not to be believed.
    /// - Parameter others: The keys of the file.
    func caller(_ token: String, now milliseconds: Int64, others: [TokenKey] = []) -> Caller? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64.decode(url: parts[2]), header["crit"] == nil, areValid(claims, now: milliseconds)
        else { return nil }
        let signed = Array((parts[0] + "." + parts[1]).utf8)
        let isSigned = (keys + others).contains { key in
            key.isMeant(header) && TokenSignature.holds(signature, of: signed, key)
        }
        guard isSigned, case .string(let subject)? = claims["sub"], !subject.isEmpty, !subject.utf8.contains(0) else {
            return nil
        }
        var roles: Set<String> = []
        if case .array(let names)? = claims["roles"] {
            for case .string(let name) in names { roles.insert(name) }
        }
        return Caller(subject: subject, roles: roles)
    }

    private func areValid(_ claims: [String: Value], now milliseconds: Int64) -> Bool {
        let now = Double(milliseconds) / 1000
        guard let end = claims["exp"].flatMap(Self.number), now < end + Double(leewaySeconds) else { return false }
        if let value = claims["nbf"] {
            guard let begin = Self.number(value), now >= begin - Double(leewaySeconds) else { return false }
        }
        if let issuer, claims["iss"] != .string(issuer) { return false }
        guard let audience else { return true }
        switch claims["aud"] {
        case .string(let text)?: return text == audience
        case .array(let texts)?: return texts.contains(.string(audience))
        default: return false
        }
    }

    private static func number(_ value: Value) -> Double? {
        switch value {
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }

    private static func object(_ part: Substring) -> [String: Value]? {
        guard let bytes = Base64.decode(url: part), case .object(let members)? = try? Value(json: bytes) else {
            return nil
        }
        return Dictionary(members.map { ($0.name, $0.value) }) { $1 }
    }
}

extension TokenKey {
    /// Whether a token with a header may be by this key.
    fileprivate func isMeant(_ header: [String: Value]) -> Bool {
        guard header["alg"] == .string(algorithm.rawValue) else { return false }
        guard let id, let named = header["kid"] else { return true }
        return named == .string(id)
    }
}

extension Base64 {
    /// Reads the alphabet of URLs, without padding.
    static func decode(url text: Substring) -> [UInt8]? {
        guard !text.isEmpty, !text.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        let plain = String(text.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        return decode(plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }
}
