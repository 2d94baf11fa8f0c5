// Tokens: the caller is known if the token's claims are valid now and its signature was made with a key that the server
// knows. The key determines the algorithm, and a token can't override it.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

/// How tokens are signed.
enum TokenAlgorithm: String, Hashable, Sendable, CaseIterable {
    case hs256 = "HS256"
    case rs256 = "RS256"
    case es256 = "ES256"
}

/// A key for checking tokens.
struct TokenKey: Hashable, Sendable {
    /// Tokens that name a key must be signed by the key with this name; nil for a key that is tried for every token.
    var id: String?
    var algorithm = TokenAlgorithm.hs256
    /// The secret, or the public key as PEM or DER.
    var bytes: [UInt8]

    init(_ bytes: [UInt8], _ algorithm: TokenAlgorithm = .hs256, id: String? = nil) {
        (self.bytes, self.algorithm, self.id) = (bytes, algorithm, id)
    }
}

/// A token whose signature holds.
struct Token: Sendable {
    /// The caller that it names while it is valid.
    fileprivate let named: Caller
    /// In seconds since 1970.
    fileprivate let times: Range<Double>
    /// The tenants for which it is.
    fileprivate(set) var tenants: [String] = []

    func caller(now milliseconds: Int64) -> Caller? { times.contains(Double(milliseconds) / 1000) ? named : nil }
}

struct TokenRules: Hashable, Sendable {
    /// The keys from the configuration.
    var keys: [TokenKey] = []
    /// A file with more keys, as a set of JSON Web Keys.
    var file: String?
    /// Nil for any audience.
    var audience: String?
    var issuer: String?
    /// The claim that names a token's tenants; nil if each token is for all of them.
    var tenantClaim: String?
    /// The allowed difference between clocks.
    var leewaySeconds: Int64 = 60

    /// The token that a string contains; nil if it is not for this server, or not signed with one of its keys.
    /// - Parameter others: The keys from the file.
    func token(_ text: String, others: [TokenKey] = []) -> Token? {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard parts.count == 3, let header = Self.object(parts[0]), let claims = Self.object(parts[1]),
            let signature = Base64.decode(url: parts[2]), header["crit"] == nil, isMeant(by: claims),
            let times = times(claims)
        else { return nil }
        let signed = Array((parts[0] + "." + parts[1]).utf8)
        let isSigned = (keys + others).contains { key in
            key.matches(header) && TokenSignature.holds(signature, of: signed, key)
        }
        guard isSigned, case .string(let subject)? = claims["sub"], !subject.isEmpty, !subject.utf8.contains(0) else {
            return nil
        }
        var roles: Set<String> = []
        if case .array? = claims["roles"] { roles = Set(claims["roles"].map(Self.texts) ?? []) }
        let tenants = tenantClaim.flatMap { claims[$0] }.map(Self.texts) ?? []
        return Token(named: Caller(subject: subject, roles: roles), times: times, tenants: tenants)
    }

    /// The seconds in which a token is valid.
    private func times(_ claims: [String: Value]) -> Range<Double>? {
        let begin = claims["nbf"].map(Self.number) ?? -.infinity
        guard let begin, let end = claims["exp"].flatMap(Self.number) else { return nil }
        let (first, last) = (begin - Double(leewaySeconds), end + Double(leewaySeconds))
        return first < last ? first..<last : nil
    }

    /// Whether this server is meant.
    private func isMeant(by claims: [String: Value]) -> Bool {
        if let issuer, claims["iss"] != .string(issuer) { return false }
        guard let audience else { return true }
        return claims["aud"].map(Self.texts)?.contains(audience) ?? false
    }

    /// The strings of a claim that is a string, or a list.
    private static func texts(_ value: Value) -> [String] {
        switch value {
        case .string(let text): [text]
        case .array(let elements): elements.compactMap { if case .string(let text) = $0 { text } else { nil } }
        default: []
        }
    }

    private static func number(_ value: Value) -> Double? {
        switch value.unspelled {
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
    /// Whether this key may have signed a token with this header.
    fileprivate func matches(_ header: [String: Value]) -> Bool {
        guard header["alg"] == .string(algorithm.rawValue) else { return false }
        guard let id, let named = header["kid"] else { return true }
        return named == .string(id)
    }
}
