// The server's certificate and key. Each handshake asks for them, so that they can be replaced while the server runs.

import CMicroHTTPD
import SynclineGround

final class TLSCertificate: @unchecked Sendable {
    // Unchecked: it is complete after init and only read from then on, which GnuTLS allows on any thread.
    private let chain: UnsafeMutablePointer<gnutls_pcert_st>
    private let count: UInt32
    private let key: gnutls_privkey_t

    /// The maximum length of a chain.
    private static let limit: UInt32 = 32

    /// The process uses the last one. Earlier ones stay for handshakes in progress.
    private static let shown = Mutex<[TLSCertificate]>([])

    /// Reads a chain of certificates, and the key of the first one, as PEM.
    init(certificate: [UInt8], key: [UInt8]) throws(StartFailure) {
        let chain = UnsafeMutablePointer<gnutls_pcert_st>.allocate(capacity: Int(TLSCertificate.limit))
        var count = TLSCertificate.limit
        let hasChain = TLSCertificate.withDatum(certificate) {
            gnutls_pcert_list_import_x509_raw(chain, &count, $0, GNUTLS_X509_FMT_PEM, 0) == 0
        }
        var made: gnutls_privkey_t?
        gnutls_privkey_init(&made)
        let hasKey = TLSCertificate.withDatum(key) {
            gnutls_privkey_import_x509_raw(made, $0, GNUTLS_X509_FMT_PEM, nil, 0) == 0
        }
        guard hasChain, count > 0, hasKey, let made, TLSCertificate.belongs(made, to: chain[0].pubkey) else {
            if hasChain { for place in 0..<Int(count) { gnutls_pcert_deinit(chain + place) } }
            chain.deallocate()
            gnutls_privkey_deinit(made)
            throw StartFailure(
                "the certificate and its key can't be used for TLS",
                hint: "Both must be PEM, and the key must belong to the certificate")
        }
        (self.chain, self.count, self.key) = (chain, count, made)
    }

    deinit {
        for place in 0..<Int(count) { gnutls_pcert_deinit(chain + place) }
        chain.deallocate()
        gnutls_privkey_deinit(key)
    }

    /// Uses it from now on.
    func present() { TLSCertificate.shown.withLock { $0.append(self) } }

    private static func withDatum(_ bytes: [UInt8], _ body: (UnsafePointer<gnutls_datum_t>) -> Bool) -> Bool {
        var bytes = bytes
        return bytes.withUnsafeMutableBufferPointer { buffer in
            var datum = gnutls_datum_t(data: buffer.baseAddress, size: UInt32(clamping: buffer.count))
            return body(&datum)
        }
    }

    private static func belongs(_ key: gnutls_privkey_t, to certificate: gnutls_pubkey_t?) -> Bool {
        var own: gnutls_pubkey_t?
        gnutls_pubkey_init(&own)
        defer { gnutls_pubkey_deinit(own) }
        guard gnutls_pubkey_import_privkey(own, key, 0, 0) == 0, let name = name(own) else { return false }
        return name == self.name(certificate)
    }

    /// The identifier of a key.
    private static func name(_ key: gnutls_pubkey_t?) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: 64)
        var size = bytes.count
        return gnutls_pubkey_get_key_id(key, 0, &bytes, &size) == 0 ? Array(bytes.prefix(size)) : nil
    }

    private typealias Retrieval =
        @convention(c) (
            gnutls_session_t?, UnsafePointer<gnutls_datum_t>?, Int32, UnsafePointer<gnutls_pk_algorithm_t>?, Int32,
            UnsafeMutablePointer<UnsafeMutablePointer<gnutls_pcert_st>?>?, UnsafeMutablePointer<UInt32>?,
            UnsafeMutablePointer<gnutls_privkey_t?>?
        ) -> Int32

    private static let retrieve: Retrieval = { _, _, _, _, _, chain, count, key in
        guard let current = TLSCertificate.shown.withLock({ $0.last }) else { return -1 }
        chain?.pointee = current.chain
        count?.pointee = current.count
        key?.pointee = current.key
        return 0
    }

    /// The callback that GnuTLS calls at each handshake.
    static var callback: UnsafeMutableRawPointer? {
        UnsafeMutableRawPointer(bitPattern: unsafeBitCast(retrieve, to: Int.self))
    }
}
