// Signatures of tokens, computed by libcrypto.

import CCrypto
import CLibrary

enum TokenSignature {
    static func holds(_ signature: [UInt8], of text: [UInt8], _ key: TokenKey) -> Bool {
        switch key.algorithm {
        case .hs256:
            let expected = keyedHash(of: text, key: key.bytes)
            // The comparison takes the same time for a wrong signature as for a right one.
            return expected.count == signature.count && CRYPTO_memcmp(expected, signature, expected.count) == 0
        case .rs256: return isVerified(signature, text, publicKey: key.bytes, type: EVP_PKEY_RSA)
        case .es256:
            guard let encoded = encodedPoint(signature) else { return false }
            return isVerified(encoded, text, publicKey: key.bytes, type: EVP_PKEY_EC)
        }
    }

    /// HMAC with SHA-256.
    static func keyedHash(of text: [UInt8], key: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let isDone = HMAC(EVP_sha256(), key, Int32(clamping: key.count), text, text.count, &hash, &length) != nil
        return isDone && length == 32 ? hash : []
    }

    /// A secret that is shorter than its hash can be guessed from one token.
    static let secretBytes = 32

    /// The reason why an algorithm can't use a key; nil if it can.
    static func fault(_ key: TokenKey) -> String? {
        if key.algorithm == .hs256 {
            if key.bytes.isEmpty { return "It is empty" }
            return key.bytes.count < secretBytes ? "HS256 needs a secret of at least \(secretBytes) bytes" : nil
        }
        guard let known = publicKey(key.bytes) else { return "Give the public key as PEM, such as file:key.pem" }
        defer { EVP_PKEY_free(known) }
        let type = EVP_PKEY_get_base_id(known)
        if key.algorithm == .rs256 {
            if type != EVP_PKEY_RSA { return "RS256 needs an RSA key" }
            return EVP_PKEY_get_bits(known) < 2048 ? "RS256 needs a key of at least 2048 bits" : nil
        }
        var name = [CChar](repeating: 0, count: 80)
        guard type == EVP_PKEY_EC, EVP_PKEY_get_group_name(known, &name, name.count, nil) == 1 else {
            return "ES256 needs an elliptic curve key"
        }
        return strcmp(name, "prime256v1") == 0 ? nil : "ES256 needs a key of the curve P-256"
    }

    private static func publicKey(_ bytes: [UInt8]) -> OpaquePointer? {
        bytes.withUnsafeBufferPointer { buffer in
            // DER begins with a sequence, PEM with dashes.
            if buffer.first == 0x30 {
                var start = buffer.baseAddress
                return d2i_PUBKEY(nil, &start, buffer.count)
            }
            guard let memory = BIO_new_mem_buf(buffer.baseAddress, Int32(clamping: buffer.count)) else { return nil }
            defer { BIO_free(memory) }
            return PEM_read_bio_PUBKEY(memory, nil, nil, nil)
        }
    }

    private static func isVerified(_ signature: [UInt8], _ text: [UInt8], publicKey bytes: [UInt8], type: Int32) -> Bool
    {
        guard let key = publicKey(bytes) else { return false }
        defer { EVP_PKEY_free(key) }
        guard EVP_PKEY_get_base_id(key) == type, let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, text, text.count) == 1
    }

    /// The two numbers of a token's signature, in the encoding that libcrypto reads.
    private static func encodedPoint(_ signature: [UInt8]) -> [UInt8]? {
        guard signature.count == 64, let pair = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(pair) }
        let (first, second) = signature.withUnsafeBufferPointer { bytes in
            (BN_bin2bn(bytes.baseAddress, 32, nil), BN_bin2bn(bytes.baseAddress.map { $0 + 32 }, 32, nil))
        }
        // The pair owns both numbers from here on.
        guard ECDSA_SIG_set0(pair, first, second) == 1 else { return nil }
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = i2d_ECDSA_SIG(pair, &encoded)
        guard length > 0, let encoded else { return nil }
        defer { CRYPTO_free(encoded, #file, #line) }
        return Array(UnsafeBufferPointer(start: encoded, count: Int(length)))
    }
}
