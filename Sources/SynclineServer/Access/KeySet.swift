// Reads a set of JSON Web Keys (RFC 7517) as keys for checking tokens. Keys for other uses and keys of unknown kinds
// are ignored; a key of a known kind that can't be used is an error.

import SynclineCore
import SynclineGround
import SynclineWire

enum KeySet {
    /// More keys than a real set contains: every key without a name may be tried.
    private static let limit = 100

    static func keys(_ json: [UInt8]) throws(StartFailure) -> [TokenKey] {
        let value: Value
        do throws(JSONError) {
            value = try Value(json: json, refusesDuplicates: true)
        } catch {
            throw StartFailure("it is not valid JSON: \(error)")
        }
        guard case .array(let elements)? = try members(value, "it")["keys"] else {
            throw StartFailure("it is not a JSON Web Key Set", hint: #"Write {"keys":[…]}"#)
        }
        guard elements.count <= limit else { throw StartFailure("it has more than \(limit) keys") }
        var keys: [TokenKey] = []
        for (index, element) in elements.enumerated() {
            let place = "keys[\(index)]"
            guard let key = try key(try members(element, place), place) else { continue }
            if let fault = TokenSignature.fault(key) { throw StartFailure("\(place) can't be used", hint: fault) }
            if key.id != nil, keys.contains(where: { $0.id == key.id && $0.algorithm == key.algorithm }) {
                throw StartFailure("two keys have the same kid as \(place)")
            }
            keys.append(key)
        }
        guard !keys.isEmpty else { throw StartFailure("it has no key for HS256, RS256 or ES256") }
        return keys
    }

    private static func members(_ value: Value, _ place: String) throws(StartFailure) -> [String: Value] {
        guard case .object(let members) = value else { throw StartFailure("\(place) must be an object") }
        return Dictionary(members.map { ($0.name, $0.value) }) { first, _ in first }
    }

    private static func key(_ members: [String: Value], _ place: String) throws(StartFailure) -> TokenKey? {
        func bytes(_ name: String) throws(StartFailure) -> [UInt8] {
            guard case .string(let text)? = members[name], let bytes = Base64.decode(url: text[...]) else {
                throw StartFailure("\(place).\(name) must be base64url")
            }
            return bytes
        }
        let algorithm: TokenAlgorithm
        switch (members["kty"], members["crv"]) {
        case (.string("oct")?, _): algorithm = .hs256
        case (.string("RSA")?, _): algorithm = .rs256
        case (.string("EC")?, .string("P-256")?): algorithm = .es256
        default: return nil
        }
        if let named = members["alg"], named != .string(algorithm.rawValue) { return nil }
        if let use = members["use"], use != .string("sig") { return nil }
        if case .array(let uses)? = members["key_ops"], !uses.contains(.string("verify")) { return nil }
        var id: String?
        if let value = members["kid"] {
            guard case .string(let text) = value else { throw StartFailure("\(place).kid must be a string") }
            id = text
        }
        switch algorithm {
        case .hs256: return TokenKey(try bytes("k"), algorithm, id: id)
        case .rs256: return TokenKey(PublicKeyEncoding.rsa(try bytes("n"), try bytes("e")), algorithm, id: id)
        case .es256: return TokenKey(PublicKeyEncoding.p256(try bytes("x"), try bytes("y")), algorithm, id: id)
        }
    }
}

/// The encoding of public keys that libcrypto reads: X.509's SubjectPublicKeyInfo in DER.
enum PublicKeyEncoding {
    static func rsa(_ modulus: [UInt8], _ exponent: [UInt8]) -> [UInt8] {
        let algorithm = element(0x30, [0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 1, 0x05, 0])
        let key = element(0x30, integer(modulus) + integer(exponent))
        return element(0x30, algorithm + element(0x03, [0] + key))
    }

    /// Coordinates have the full length of the curve's numbers.
    static func p256(_ x: [UInt8], _ y: [UInt8]) -> [UInt8] {
        let curve: [UInt8] = [
            0x06, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1, 0x06, 8, 0x2a, 0x86, 0x48, 0xce, 0x3d, 3, 1, 7,
        ]
        return element(0x30, element(0x30, curve) + element(0x03, [0, 4] + x + y))
    }

    private static func integer(_ digits: [UInt8]) -> [UInt8] {
        let digits = digits.drop { $0 == 0 }
        // The first bit is the sign.
        return element(0x02, (digits.first ?? 0x80) >= 0x80 ? [0] + digits : Array(digits))
    }

    private static func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        if content.count < 0x80 { return [tag, UInt8(content.count)] + content }
        var length: [UInt8] = []
        var rest = content.count
        while rest > 0 {
            length.insert(UInt8(truncatingIfNeeded: rest), at: 0)
            rest >>= 8
        }
        return [tag, 0x80 | UInt8(length.count)] + length + content
    }
}
