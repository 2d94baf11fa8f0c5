// Notifies the program that started this one, such as systemd, of the server's state: by a datagram to the socket in
// the variable NOTIFY_SOCKET. Without this variable, it sends nothing.

import CLibrary

enum ServiceManager {
    enum State: String {
        case ready = "READY=1"
        case stopping = "STOPPING=1"
    }

    /// Sends it once, and does not wait for a receiver.
    static func tell(_ state: State) {
        #if canImport(Glibc)
            guard let path = SystemFiles.variable("NOTIFY_SOCKET"), let first = path.utf8.first else { return }
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            var name = Array(path.utf8)
            // An abstract socket name begins with a zero byte.
            if first == UInt8(ascii: "@") { name[0] = 0 }
            guard name.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: name) }
            let length = MemoryLayout<sockaddr_un>.offset(of: \.sun_path).map { $0 + name.count } ?? 0
            let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue), 0)
            guard descriptor >= 0 else { return }
            defer { close(descriptor) }
            let text = Array(state.rawValue.utf8)
            withUnsafePointer(to: &address) { address in
                address.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    _ = sendto(
                        descriptor, text, text.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT),
                        address, socklen_t(length))
                }
            }
        #endif
    }
}
