// Takes a request and returns an answer: routing, access, the protocol, and the store's result. It knows no socket and
// no database, and has no other state.

package import SynclineWire

package struct TableService: Sendable {
    package let settings: TableSettings
    package let store: any TableStore
    package let environment: any ServerEnvironment
    private let login: @Sendable (HTTPRequest) -> Login
    /// The tables by their names in lower case.
    private let tables: [String: TableDefinition]
    /// The segments of the path of the tables.
    let root: [String]

    package init(
        _ settings: TableSettings, _ store: any TableStore, _ environment: any ServerEnvironment,
        login: @escaping @Sendable (HTTPRequest) -> Login = { _ in .none }
    ) {
        self.settings = settings
        self.store = store
        self.environment = environment
        self.login = login
        root = settings.root.split(separator: "/").map(String.init)
        tables = Dictionary(settings.tables.map { ($0.name.lowercased(), $0) }) { first, _ in first }
    }

    package func route(of request: HTTPRequest) -> Route { Route(request, root: root) }

    package func place(of request: HTTPRequest) -> AnswerPlace {
        if AnswerPlace.writing.contains(request.method) { return .writes }
        switch route(of: request) {
        case _ where request.method == "OPTIONS": return .here
        case .health, .readiness: return .health
        case .row: return store.findsRowsAtOnce ? .here : .reads
        case .table, .changes, .access: return .reads
        case .events where request.method == "GET": return .events
        case .batch, .events, .metrics, .nowhere: return .here
        }
    }

    package func answer(_ request: HTTPRequest, _ context: inout RequestContext) -> HTTPResponse {
        let route = route(of: request)
        do throws(StoreFailure) {
            return try answer(request, route, &context)
        } catch {
            return refused(error, route, &context.notes)
        }
    }

    /// The answer to a failed request, with the headers that its status requires.
    func refused(_ failure: StoreFailure, _ route: Route, _ notes: inout RequestNotes) -> HTTPResponse {
        var response = failure.refusal.response
        if let reason = failure.reason { notes.failure = reason }
        switch response.status {
        case 401: response.headers.append(HTTPHeader("WWW-Authenticate", "Bearer"))
        case 405: response.headers.append(HTTPHeader("Allow", route.methods.joined(separator: ", ")))
        case 503: response.headers.append(HTTPHeader("Retry-After", response.code == "read-only" ? "30" : "1"))
        default: break
        }
        return response
    }

    private func answer(
        _ request: HTTPRequest, _ route: Route, _ context: inout RequestContext
    ) throws(StoreFailure) -> HTTPResponse {
        guard route != .nowhere else { throw .refused(Refusal(404, "not-found", "There is no resource at this path")) }
        guard route.methods.contains(request.method) else {
            throw .refused(
                Refusal(405, "method-not-allowed", "Method \(request.method.prefix(20)) is not allowed here"))
        }
        if request.method == "OPTIONS" { return HTTPResponse(status: 204) }
        var request = request
        if request.method == "HEAD" { request.method = "GET" }
        if route == .health || route == .readiness {
            return try health(ofWrites: route == .readiness, &context.notes)
        }
        let protocolVersion = try read(try TableRequest.version(of: request, settings.defaultProtocol, settings.rules))
        let caller = try caller(request, &context)
        switch route {
        case .batch: return try batch(request, protocolVersion, caller, &context.notes)
        case .access: return try access(request, caller)
        case .changes(let name):
            return try changes(request, protocolVersion, try admit(caller, name, .read))
        case .table(let name):
            let visit = try admit(caller, name, TableService.operation(request.method, isRow: false))
            return try exchange(request, protocolVersion, visit, id: "", context.url)
        case .row(let name, let id):
            let visit = try admit(caller, name, TableService.operation(request.method, isRow: true))
            return try exchange(request, protocolVersion, visit, id: id, context.url)
        case .nowhere, .health, .readiness, .metrics, .events:
            throw .refused(Refusal(404, "not-found", "There is no resource at this path"))
        }
    }

    static func operation(_ method: String, isRow: Bool) -> TableOperation {
        switch method {
        case "POST": isRow ? .undelete : .insert
        case "PATCH", "PUT": .update
        case "DELETE": .delete
        default: .read
        }
    }

    private func health(ofWrites: Bool, _ notes: inout RequestNotes) throws(StoreFailure) -> HTTPResponse {
        do throws(StoreFailure) {
            try ofWrites ? store.checkWrites() : store.check()
        } catch {
            if let reason = error.reason { notes.failure = reason }
            if error.reason?.kind == .readOnly { throw error }
            throw .refused(Refusal(503, "store-unavailable", "The store can't be read"))
        }
        return TableAnswer.json(200, Array(#"{"status":"ok"}"#.utf8))
    }

    // MARK: Access

    /// The caller's visit to a table, if the caller may perform the operation on it.
    func admit(_ caller: Caller?, _ name: String, _ operation: TableOperation) throws(StoreFailure) -> Visit {
        let table = try table(name)
        try table.grant(operation, to: caller)
        return Visit(
            table: table, caller: caller, mayRead: table.permits(.read, caller), hidden: table.hidden(from: caller))
    }

    /// The table with this name in any letter case.
    func table(_ name: String) throws(StoreFailure) -> TableDefinition {
        guard let table = tables[name] ?? tables[name.lowercased()] ?? settings.others?.named(name) else {
            throw .refused(Refusal(404, "table-not-found", "There is no table \(name.prefix(80))"))
        }
        return table
    }

    func caller(_ request: HTTPRequest, _ context: inout RequestContext) throws(StoreFailure) -> Caller? {
        let login = context.login ?? login(request)
        context.login = login
        switch login {
        case .none: return nil
        case .caller(let caller): return caller
        case .invalid: throw .refused(.invalidToken)
        case .elsewhere: throw .refused(.otherTenant)
        }
    }
}

/// A caller and a table for which access was granted.
struct Visit {
    let table: TableDefinition
    let caller: Caller?
    /// Whether the caller may see the values of rows.
    let mayRead: Bool
    let hidden: HiddenColumns
}

extension Refusal {
    package var response: HTTPResponse { TableAnswer.refusal(status, message, code: code) }

    /// The response, with the seconds after which to try again.
    package func response(retryAfter seconds: Int) -> HTTPResponse {
        var response = response
        response.headers.append(HTTPHeader("Retry-After", String(seconds)))
        return response
    }
}
