// Writes that wait: they block no thread that serves connections, and every sender gets a response, even a client
// that has finished sending in the meantime.

import Dispatch
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct WaitingWriteTests {
    /// More than the threads of the server.
    private static let writers = 16

    @Test func `reads are answered while more writes wait than there are threads, and then each write is`() throws {
        let (arrived, go) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let server = try LocalHTTP(port: 0) { request in
            guard request.method == "POST" else { return HTTPResponse(status: 200) }
            arrived.signal()
            go.wait()
            var response = HTTPResponse(status: 201)
            response.body = request.body ?? []
            return response
        }
        let port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
        // Whatever is found below, no client is left waiting.
        defer {
            for _ in 0..<Self.writers { go.signal() }
            server.stop()
        }
        let connections = try (0..<Self.writers).map { number in
            let connection = try RawConnection(port: port)
            connection.send(
                "POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 3\r\n\r\n\(100 + number)")
            return connection
        }
        // The limit is for a server that lets them wait on its threads.
        for _ in connections { try #require(arrived.wait(timeout: .now() + 60) == .success) }
        let reader = try RawConnection(port: port)
        reader.send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        #expect(reader.rest().hasPrefix("HTTP/1.1 200"))
        for connection in connections { connection.finishSending() }
        for _ in connections { go.signal() }
        for (number, connection) in connections.enumerated() {
            let answer = connection.rest()
            #expect(answer.hasPrefix("HTTP/1.1 201") && answer.hasSuffix("\r\n\r\n\(100 + number)"))
        }
    }
}
