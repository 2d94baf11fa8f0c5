// Who is on the other side of a connection. Its text is made only when it is needed.

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

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
