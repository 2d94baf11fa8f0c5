// Tokens: who the caller is, if what the token says holds now and its signature is by the configured key. Only the configured
// algorithm is ever accepted, whatever a token claims for itself.

import SynclineCore
import SynclineWire

/// How tokens are signed.
enum TokenAlgorithm: String, Hashable, Sendable, CaseIterable {
    case hs256 = "HS256"
    case rs256 = "RS256"
    case es256 = "ES256"
}

struct TokenRules: Hashable, Sendable {
    var algorithm = TokenAlgorithm.hs256
    /// The secret, or the public key as PEM.
    var key: [UInt8]
    /// Nil for any.
    var audience: String?
    var issuer: String?
    /// How far clocks may differ.
    var leewaySeconds: Int64 = 60

    init(key: [UInt8]) {
        self.key = key
    }
}

/// Who asks.
struct Caller: Hashable, Sendable {
    var subject: String
    var roles: Set<String> = []
}

extension TokenRules {
    /// The caller that a token names; nil if it is not to be believed.
    func caller(_ token: String, now milliseconds: Int64) -> Caller? {
        let parts = token.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Self.bytes(parts[2]), header["alg"] == .string(algorithm.rawValue), header["crit"] == nil
        else { return nil }
        let signed = Array((parts[0] + "." + parts[1]).utf8)
        guard TokenSignature.holds(signature, of: signed, algorithm, key: key), areValid(claims, now: milliseconds)
        else { return nil }
        guard case .string(let subject)? = claims["sub"], !subject.isEmpty, !subject.utf8.contains(0) else {
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
        guard let bytes = bytes(part), case .object(let members)? = try? Value(json: bytes) else { return nil }
        return Dictionary(members.map { ($0.name, $0.value) }) { $1 }
    }

    /// Base64 in the alphabet of URLs, without padding.
    private static func bytes(_ part: Substring) -> [UInt8]? {
        guard !part.isEmpty, !part.utf8.contains(where: { "+/=".utf8.contains($0) }) else { return nil }
        let text = String(part.map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 })
        return Base64.decode(text + String(repeating: "=", count: (4 - text.utf8.count % 4) % 4))
    }
}
