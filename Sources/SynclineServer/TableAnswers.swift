// The tables' service as the shell uses it: the caller of a request, and the pages that may read an answer.

import SynclineCore
import SynclineWire

struct TableAnswers: RequestAnswering {
    let service: TableService
    let gate: TokenGate
    private let store: SQLStore
    private let cors: CrossOrigin?

    init(
        _ configuration: ServerConfiguration, _ store: SQLStore, _ environment: any ServerEnvironment,
        _ gate: TokenGate? = nil
    ) {
        self.gate = gate ?? TokenGate(configuration.auth)
        (self.store, cors) = (store, configuration.cors)
        service = TableService(configuration, store, environment)
    }

    var measures: [Measure] { store.measures }

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
        return shared(response, request.headers)
    }

    func events(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse? {
        service.events(request, &context).map { shared($0, request.headers) }
    }

    func marked(_ response: HTTPResponse, _ headers: [HTTPHeader]) -> HTTPResponse {
        shared(service.marked(response), headers)
    }

    private func shared(_ response: HTTPResponse, _ headers: [HTTPHeader]) -> HTTPResponse {
        var response = response
        cors?.add(to: &response.headers, headers)
        return response
    }
}
