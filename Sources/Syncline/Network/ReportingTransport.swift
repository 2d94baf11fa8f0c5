// A transport that reports each request and its answer, without what is in them.

import SynclineCore
import SynclineWire

struct ReportingTransport: HTTPTransport {
    let inner: any HTTPTransport
    let report: DiagnosticReceiver

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        do throws(NetworkFailure) {
            let response = try await inner.send(request)
            let size = response.refusal ?? (response.body.count == 1 ? "1 byte" : "\(response.body.count) bytes")
            report(Diagnostic(.debug, .network, "\(name(of: request)): status \(response.status), \(size)"))
            return response
        } catch {
            report(Diagnostic(.warning, .network, "\(name(of: request)): \(reason(of: error))"))
            throw error
        }
    }

    func listen(
        _ request: HTTPRequest, _ hear: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(NetworkFailure) -> HTTPResponse {
        report(Diagnostic(.debug, .network, "\(name(of: request)): listening"))
        return try await inner.listen(request, hear)
    }

    /// The method, and the path as far as it names no row.
    private func name(of request: HTTPRequest) -> String {
        "\(request.method) /" + request.path.split(separator: "/").prefix(2).joined(separator: "/")
    }

    private func reason(of failure: NetworkFailure) -> String {
        switch failure {
        case .offline(let reason), .refused(let reason): reason
        case .cancelled: "cancelled"
        case .notSent(let error): "not sent: \(error.code)"
        }
    }
}
