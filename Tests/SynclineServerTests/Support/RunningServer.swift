// A server that listens in this process, and connections that send exactly what the test wants.

import Foundation
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

#if canImport(Glibc)
    import Glibc
#endif

final class RunningServer {
    let server: Server
    let port: UInt16
    private let keeper: AnyObject
    private let address: String

    /// - Parameter other: A server with the same store.
    init(
        _ backend: TestBackend = .sqlite, tables: String = testTables, more: String = "",
        beside other: RunningServer? = nil
    ) throws {
        (address, keeper) = try other.map { ($0.address, $0.keeper) } ?? backend.store()
        let json = """
            {"store":\(Value.string(address).json),"listen":"127.0.0.1:0","log":"none","threads":2,"auth":{"key":"\(testSecret)"},
            "tables":\(tables)\(more)}
            """
        var settings = try configuration(json)
        settings.limits.database.check = DatabaseLimits.patient.check
        server = try Server(settings, PatientEnvironment())
        port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
    }

    /// A server with tenants.
    /// - Parameter more: Settings, each with a comma before it.
    init(tenants: String, tables: String = testTables, more: String = "", _ keeper: AnyObject) throws {
        (address, self.keeper) = ("", keeper)
        var settings = try configuration(
            """
            {"tenants":\(tenants),"listen":"127.0.0.1:0","log":"none","threads":2,"auth":{"key":"\(testSecret)"},
            "tables":\(tables)\(more)}
            """)
        settings.limits.database.check = DatabaseLimits.patient.check
        server = try Server(settings, PatientEnvironment())
        port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
    }

    deinit { server.stop() }

    /// Its first store.
    var store: SQLStore { server.stores.stores[0].store }

    func connect() throws -> RawConnection { try RawConnection(port: port) }

    /// Sends bytes on a new connection, and reads until the server closes it.
    func exchange(_ text: String) throws -> String {
        let connection = try connect()
        connection.send(text)
        connection.finishSending()
        return connection.rest()
    }
}

final class RawConnection {
    private let descriptor: Int32

    init(port: UInt16) throws {
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        // A server that never answers is a failure, too.
        var timeout = timeval(tv_sec: 300, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        let code = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard code == 0 else { throw CocoaError(.fileReadUnknown) }
    }

    deinit { close(descriptor) }

    /// What the server no longer reads is not sent.
    func send(_ text: String) {
        var bytes = Array(text.utf8)[...]
        while !bytes.isEmpty {
            let count = bytes.withUnsafeBytes {
                Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            if count <= 0 { return }
            bytes = bytes.dropFirst(count)
        }
    }

    /// Whether the other side has not closed it, after some time for that.
    func isOpen(waitingMilliseconds: Int32) -> Bool {
        var question = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        if poll(&question, 1, waitingMilliseconds) <= 0 { return true }
        var byte: UInt8 = 0
        return recv(descriptor, &byte, 1, Int32(MSG_PEEK)) > 0
    }

    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// The next piece; empty at the end.
    func piece() -> String {
        var buffer = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &buffer, buffer.count, 0)
        return String(decoding: buffer[..<max(0, count)], as: UTF8.self)
    }

    func rest() -> String {
        var text = ""
        while true {
            let next = piece()
            if next.isEmpty { return text }
            text += next
        }
    }

    /// Reads until something arrives.
    func read(until end: String) -> String {
        var text = ""
        while !text.contains(end) {
            let next = piece()
            if next.isEmpty { return text }
            text += next
        }
        return text
    }
}
