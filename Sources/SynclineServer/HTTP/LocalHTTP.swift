// The HTTP shell for programs other than the table server: its owner answers the requests. It listens on loopback only.

package import SynclineCore
import SynclineTables
package import SynclineWire

package final class LocalHTTP: Sendable {
    private let http: HTTPServer

    /// Listens on a port of 127.0.0.1; 0 means any free port.
    package init(
        port: UInt16, answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse
    ) throws(SyncError) {
        var configuration = ServerConfiguration(small: "127.0.0.1:\(port)", threads: 4)
        // No job here makes room for others.
        configuration.readers = 16
        do throws(StartFailure) {
            http = try HTTPServer(configuration, Answers(body: answer), tls: nil)
        } catch {
            throw SyncError(.ioError, error.message, hint: error.hint)
        }
    }

    /// The HTTP library does not retain the shell.
    deinit { http.stop() }

    /// `http://127.0.0.1:8080`
    package var url: String { http.url }

    package func stop() { http.stop(waitingSeconds: 1) }
}

private struct Answers: RequestAnswering {
    let body: @Sendable (HTTPRequest) -> HTTPResponse

    func answer(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse { body(request) }
}
