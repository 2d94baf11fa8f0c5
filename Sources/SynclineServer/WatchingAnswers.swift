// The answers at the operator's separate address: only the metrics and the health of the server.

import SynclineTables
import SynclineWire

struct WatchingAnswers: RequestAnswering {
    /// Answers for the server's health.
    let service: any RequestAnswering
    let http: HTTPServer

    /// It receives few requests, without TLS and without a log.
    func server(at address: String) throws(StartFailure) -> HTTPServer {
        var configuration = ServerConfiguration(small: address, threads: 2)
        configuration.metricsListen = address
        return try HTTPServer(configuration, self, tls: nil)
    }

    func answer(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse {
        switch request.pathSegments {
        case ["metrics"]: http.measures
        case ["healthz"], ["readyz"]: service.answer(request, &context)
        default: TableAnswer.refusal(404, "There is no resource at this path", code: "not-found")
        }
    }

    func place(of request: HTTPRequest) -> AnswerPlace { request.pathSegments == ["metrics"] ? .here : .health }
}
