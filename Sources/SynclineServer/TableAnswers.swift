// The tables' service as the shell uses it: the caller of a request, and the headers that every answer has.

import SynclineCore
import SynclineTables
import SynclineWire

struct TableAnswers: RequestAnswering {
    let service: TableService
    let gate: TokenGate
    let measures: @Sendable () -> [Measure]
    private let cors: CrossOrigin?

    init(
        _ configuration: ServerConfiguration, _ store: any TableStore, _ environment: any ServerEnvironment,
        _ gate: TokenGate? = nil, measures: @escaping @Sendable () -> [Measure] = { [] }
    ) {
        self.gate = gate ?? TokenGate(configuration.auth)
        (self.measures, cors) = (measures, configuration.cors)
        service = TableService(configuration.service, store, environment)
    }

    private static let marks = [
        HTTPHeader(WireHeader.capabilities, "batch, changes, events, operation-ids"),
        HTTPHeader("Cache-Control", "no-cache"),
        HTTPHeader("X-Content-Type-Options", "nosniff"),
    ]

    func place(of request: HTTPRequest) -> AnswerPlace { service.place(of: request) }

    func cursor() -> String? { service.cursor() }

    /// The health and the rules for pages depend on no caller.
    func login(_ request: HTTPRequest) -> Login {
        let isOpen = request.method == "OPTIONS" || [.health, .readiness].contains(service.route(of: request))
        return isOpen ? .none : gate.login(request.headers, now: service.environment.now())
    }

    func answer(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse {
        var response = service.answer(request, &context)
        if request.method == "OPTIONS", response.status == 204 {
            response.headers += (cors ?? CrossOrigin(origins: [])).preflight(request.headers)
        }
        return marked(response, request.headers)
    }

    func events(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse? {
        service.events(request, &context).map { marked($0, request.headers) }
    }

    func marked(_ response: HTTPResponse, _ headers: [HTTPHeader]) -> HTTPResponse {
        var response = response
        // With room for those that allow pages of other origins to read it.
        response.headers.reserveCapacity(response.headers.count + TableAnswers.marks.count + 4)
        response.headers += TableAnswers.marks
        response.headers.append(HTTPHeader(WireHeader.epoch, service.store.epoch))
        cors?.add(to: &response.headers, headers)
        return response
    }
}
