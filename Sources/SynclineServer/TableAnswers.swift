// The tables' service as the shell uses it: the caller of a request, and the headers that every answer has.

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
        let gate = gate ?? TokenGate(configuration.auth)
        (self.gate, self.measures, cors) = (gate, measures, configuration.cors)
        let tenant = configuration.tenant
        service = TableService(configuration.service, store, environment) {
            gate.login($0.headers, now: environment.now(), tenant: tenant)
        }
    }

    private static let marks = [
        HTTPHeader(WireHeader.capabilities, "access, batch, changes, events, operation-ids"),
        HTTPHeader("Cache-Control", "no-cache"),
        HTTPHeader("X-Content-Type-Options", "nosniff"),
    ]

    func place(of request: HTTPRequest) -> AnswerPlace { service.place(of: request) }

    func listen(_ body: (@Sendable () -> Void)?) { service.store.listen(body) }

    func news(since known: ChangeMark?, isWhole: Bool) -> ChangeNews? { service.news(since: known, isWhole: isWhole) }

    func answer(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse {
        var response = service.answer(request, &context)
        if request.method == "OPTIONS", response.status == 204 {
            response.headers += (cors ?? CrossOrigin(origins: [])).preflight(request.headers)
        }
        return marked(response, request.headers)
    }

    func single(_ request: HTTPRequest, _ context: inout RequestContext) -> SingleRequest? {
        service.single(request, &context)
    }

    func answer(_ singles: [SingleRequest]) -> [(response: HTTPResponse, notes: RequestNotes)] {
        zip(singles, service.answer(singles)).map { (marked($1.response, $0.request.headers), $1.notes) }
    }

    func events(
        _ request: HTTPRequest, _ context: inout RequestContext
    ) -> (response: HTTPResponse, interest: EventInterest) {
        let (response, interest) = service.events(request, &context)
        return (marked(response, request.headers), interest)
    }

    func buckets(_ tables: Set<String>, of subject: String, at mark: ChangeMark) -> CallerBuckets {
        service.buckets(tables, of: subject, at: mark)
    }

    func marked(_ response: HTTPResponse, _ headers: [HTTPHeader]) -> HTTPResponse {
        TableAnswers.marked(response, headers, cors, epoch: service.store.epoch)
    }

    static func marked(
        _ response: HTTPResponse, _ headers: [HTTPHeader], _ cors: CrossOrigin?, epoch: String? = nil
    ) -> HTTPResponse {
        var response = response
        // With room for those that allow pages of other origins to read it.
        response.headers.reserveCapacity(response.headers.count + TableAnswers.marks.count + 4)
        response.headers += TableAnswers.marks
        if let epoch { response.headers.append(HTTPHeader(WireHeader.epoch, epoch)) }
        cors?.add(to: &response.headers, headers)
        return response
    }
}
