// The signatures of tokens, by libcrypto.

import CCrypto

enum TokenSignature {
    static func holds(_ signature: [UInt8], of text: [UInt8], _ algorithm: TokenAlgorithm, key: [UInt8]) -> Bool {
        switch algorithm {
        case .hs256:
            let expected = keyedHash(of: text, key: key)
            // As long for a wrong signature as for a right one.
            return expected.count == signature.count && CRYPTO_memcmp(expected, signature, expected.count) == 0
        case .rs256: return isVerified(signature, text, publicKey: key, type: EVP_PKEY_RSA)
        case .es256:
            guard let encoded = encodedPoint(signature) else { return false }
            return isVerified(encoded, text, publicKey: key, type: EVP_PKEY_EC)
        }
    }

    /// HMAC with SHA-256.
    static func keyedHash(of text: [UInt8], key: [UInt8]) -> [UInt8] {
        var hash = [UInt8](repeating: 0, count: 32)
        var length: UInt32 = 0
        let isDone = HMAC(EVP_sha256(), key, Int32(clamping: key.count), text, text.count, &hash, &length) != nil
        return isDone && length == 32 ? hash : []
    }

    /// Whether a PEM holds a public key that the algorithm takes.
    static func isKey(_ pem: [UInt8], for algorithm: TokenAlgorithm) -> Bool {
        switch algorithm {
        case .hs256: return !pem.isEmpty
        case .rs256, .es256:
            guard let key = publicKey(pem) else { return false }
            defer { EVP_PKEY_free(key) }
            return EVP_PKEY_get_base_id(key) == (algorithm == .rs256 ? EVP_PKEY_RSA : EVP_PKEY_EC)
        }
    }

    private static func publicKey(_ pem: [UInt8]) -> OpaquePointer? {
        pem.withUnsafeBytes { bytes in
            guard let memory = BIO_new_mem_buf(bytes.baseAddress, Int32(clamping: bytes.count)) else { return nil }
            defer { BIO_free(memory) }
            return PEM_read_bio_PUBKEY(memory, nil, nil, nil)
        }
    }

    private static func isVerified(_ signature: [UInt8], _ text: [UInt8], publicKey pem: [UInt8], type: Int32) -> Bool {
        guard let key = publicKey(pem) else { return false }
        defer { EVP_PKEY_free(key) }
        guard EVP_PKEY_get_base_id(key) == type, let context = EVP_MD_CTX_new() else { return false }
        defer { EVP_MD_CTX_free(context) }
        guard EVP_DigestVerifyInit(context, nil, EVP_sha256(), nil, key) == 1 else { return false }
        return EVP_DigestVerify(context, signature, signature.count, text, text.count) == 1
    }

    /// The two numbers of a token's signature in the encoding that libcrypto reads.
    private static func encodedPoint(_ signature: [UInt8]) -> [UInt8]? {
        guard signature.count == 64, let pair = ECDSA_SIG_new() else { return nil }
        defer { ECDSA_SIG_free(pair) }
        let (first, second) = signature.withUnsafeBufferPointer { bytes in
            (BN_bin2bn(bytes.baseAddress, 32, nil), BN_bin2bn(bytes.baseAddress.map { $0 + 32 }, 32, nil))
        }
        // Both numbers are the pair's from here on.
        guard ECDSA_SIG_set0(pair, first, second) == 1 else { return nil }
        var encoded: UnsafeMutablePointer<UInt8>?
        let length = i2d_ECDSA_SIG(pair, &encoded)
        guard length > 0, let encoded else { return nil }
        defer { CRYPTO_free(encoded, #file, #line) }
        return Array(UnsafeBufferPointer(start: encoded, count: Int(length)))
    }
}
