// The peer address of a connection. Its text is created only when it is needed.

import CLibrary

enum ClientAddress: Hashable, Sendable {
    case v4(in_addr_t)
    case v6(UInt64, UInt64)
    case unknown

    init(_ address: UnsafePointer<sockaddr>) {
        let raw = UnsafeRawPointer(address)
        switch Int32(address.pointee.sa_family) {
        case AF_INET: self = .v4(raw.loadUnaligned(fromByteOffset: 4, as: in_addr_t.self))
        case AF_INET6:
            self = .v6(
                raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self),
                raw.loadUnaligned(fromByteOffset: 16, as: UInt64.self))
        default: self = .unknown
        }
    }

    /// Reads the output of `text`. An IPv4 address mapped into IPv6 is read as the IPv4 address.
    init?(text: String) {
        var old = in_addr()
        var new = in6_addr()
        if inet_pton(AF_INET, text, &old) == 1 {
            self = .v4(old.s_addr)
        } else if inet_pton(AF_INET6, text, &new) == 1 {
            self = withUnsafeBytes(of: new) { raw in
                .v6(raw.loadUnaligned(as: UInt64.self), raw.loadUnaligned(fromByteOffset: 8, as: UInt64.self))
            }
            if let bytes, bytes.count == 4 {
                self = .v4(bytes.withUnsafeBytes { $0.loadUnaligned(as: in_addr_t.self) })
            }
        } else {
            return nil
        }
    }

    /// In network order: four bytes, or sixteen.
    var bytes: [UInt8]? {
        switch self {
        case .v4(let bits): return withUnsafeBytes(of: bits) { Array($0) }
        case .v6(let first, let second):
            let bytes = withUnsafeBytes(of: (first, second)) { Array($0) }
            return bytes[..<12] == [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff] ? Array(bytes[12...]) : bytes
        case .unknown: return nil
        }
    }

    /// Whether it is a loopback address, 127.0.0.1 or ::1.
    var isOwn: Bool { bytes == [127, 0, 0, 1] || bytes == [UInt8](repeating: 0, count: 15) + [1] }

    /// The address without the port.
    var text: String {
        switch self {
        case .v4(var bits): ClientAddress.text(AF_INET, &bits)
        case .v6(let first, let second):
            withUnsafeBytes(of: (first, second)) { ClientAddress.text(AF_INET6, $0.baseAddress) }
        case .unknown: "-"
        }
    }

    private static func text(_ family: Int32, _ address: UnsafeRawPointer?) -> String {
        String(unsafeUninitializedCapacity: Int(INET6_ADDRSTRLEN)) { memory in
            memory.withMemoryRebound(to: CChar.self) { memory in
                inet_ntop(family, address, memory.baseAddress, socklen_t(memory.count)).map { strlen($0) } ?? 0
            }
        }
    }
}
