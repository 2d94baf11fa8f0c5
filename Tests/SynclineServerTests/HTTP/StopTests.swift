// How a server stops: what was begun is finished and answered, other requests are refused, and every response says
// that it is the last of its connection.

import Dispatch
import Foundation
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct StopTests {
    @Test func `after a stop, running requests are answered and no new ones begin`() throws {
        let (arrived, go, stopped) = (
            DispatchSemaphore(value: 0), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
        )
        let server = try LocalHTTP(port: 0) { request in
            guard request.method == "POST" else { return HTTPResponse(status: 200) }
            arrived.signal()
            go.wait()
            return HTTPResponse(status: 201)
        }
        let port = try #require(server.url.split(separator: ":").last.flatMap { UInt16($0) })
        // Two connections that were kept from before.
        let (writer, reader) = (try RawConnection(port: port), KeptConnection(port: port))
        #expect(reader.ask("GET", "/")?.status == 200)
        writer.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\n\r\nx")
        arrived.wait()
        Thread.detachNewThread {
            server.stop()
            stopped.signal()
        }
        var refused: HTTPResponse?
        for _ in 0..<20_000 {
            refused = reader.ask("GET", "/")
            if refused?.status != 200 { break }
        }
        #expect(refused == nil || refused?.status == 503 && refused?.headers.value("Connection") == "close")
        go.signal()
        let answer = writer.rest()
        #expect(answer.hasPrefix("HTTP/1.1 201") && answer.contains("Connection: close"), "\(answer)")
        stopped.wait()
    }
}
