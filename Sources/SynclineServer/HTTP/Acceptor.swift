// Accepts connections on its own thread, which also ends connections whose clients take too long. If the system has no
// descriptor left, it waits a moment, and an idle connection makes room.

import CLibrary
import Dispatch

final class Acceptor: Sendable {
    private let socket: Int32
    /// Closed to stop the thread.
    private let wake: (reading: Int32, writing: Int32)
    private let table: ConnectionTable
    private let serve: @Sendable (OpenConnection, UnsafePointer<sockaddr>, socklen_t) -> Void
    private let ended = DispatchSemaphore(value: 0)
    /// The interval between checks for overdue connections, in milliseconds.
    private static let interval: Int32 = 250

    /// - Parameter serve: Takes ownership of a connection in every case.
    init(
        _ socket: Int32, _ table: ConnectionTable,
        serve: @escaping @Sendable (OpenConnection, UnsafePointer<sockaddr>, socklen_t) -> Void
    ) throws(StartFailure) {
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { throw StartFailure("a pipe could not be created") }
        self.socket = socket
        wake = (ends[0], ends[1])
        self.table = table
        self.serve = serve
        // A client that disconnects between poll and accept must not block the others.
        _ = fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK)
    }

    func start() {
        DispatchQueue(label: "syncline.acceptor").async { self.run() }
    }

    /// Stops accepting connections.
    func stop() {
        ListenSocket.close(wake.writing)
        ended.wait()
        ListenSocket.close(wake.reading)
    }

    private func run() {
        var pause: Int32?
        var looked: UInt64 = 0
        while true {
            var questions = [
                pollfd(fd: wake.reading, events: Int16(POLLIN), revents: 0),
                pollfd(fd: pause == nil ? socket : -1, events: Int16(POLLIN), revents: 0),
            ]
            let count = poll(&questions, 2, pause ?? Acceptor.interval)
            if questions[0].revents != 0 { break }
            let now = Monotonic.milliseconds
            if now >= looked + UInt64(Acceptor.interval) {
                table.endOverdue(now: now)
                looked = now
            }
            pause = pause != nil || count > 0 ? takeIn() : nil
        }
        ended.signal()
    }

    /// Accepts all waiting connections. If that is not possible now, returns the number of milliseconds to wait.
    private func takeIn() -> Int32? {
        while true {
            if table.isBehind { return 1 }
            var address = sockaddr_storage()
            var length = socklen_t(MemoryLayout<sockaddr_storage>.size)
            let pause: Int32?? = withUnsafeMutablePointer(to: &address) { storage in
                storage.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                    let descriptor = Acceptor.accept(socket, address, &length)
                    if descriptor < 0 {
                        if [ECONNABORTED, EINTR].contains(errno) { return nil }
                        guard [EMFILE, ENFILE, ENOBUFS, ENOMEM].contains(errno) else { return .some(nil) }
                        table.makeRoom()
                        return Acceptor.interval
                    }
                    let now = Monotonic.milliseconds
                    if let connection = table.admit(descriptor, ClientAddress(address), now: now) {
                        Acceptor.bound(descriptor)
                        serve(connection, address, length)
                    } else {
                        ListenSocket.close(descriptor)
                    }
                    return nil
                }
            }
            if let pause { return pause }
        }
    }

    private static func accept(
        _ socket: Int32, _ address: UnsafeMutablePointer<sockaddr>, _ length: inout socklen_t
    ) -> Int32 {
        #if canImport(Darwin)
            let descriptor = Darwin.accept(socket, address, &length)
        #else
            let descriptor = Glibc.accept(socket, address, &length)
        #endif
        if descriptor >= 0 { _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC) }
        return descriptor
    }

    /// A client that reads nothing, or has vanished, is given up after a minute.
    private static func bound(_ descriptor: Int32) {
        var one: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_KEEPALIVE, &one, socklen_t(MemoryLayout<Int32>.size))
        #if !canImport(Darwin)
            var milliseconds: UInt32 = 60_000
            let size = socklen_t(MemoryLayout<UInt32>.size)
            setsockopt(descriptor, Int32(IPPROTO_TCP), TCP_USER_TIMEOUT, &milliseconds, size)
        #endif
    }
}

/// A monotonic clock.
enum Monotonic {
    private static let start = ContinuousClock.Instant.present

    static var milliseconds: UInt64 { UInt64(start.duration(to: .present).milliseconds) }
}
