// Answers the page's requests: its files, and data as JSON. The data comes from StudioData and StudioDebugger.

import StudioPage
import SynclineCore
import SynclineWire

final class StudioService: Sendable {
    private let data: StudioData
    private let gate: StudioGate
    private let debugger: StudioDebugger
    private let sql: StudioSQL
    private let mayWrite: Bool
    private let shelf: StudioShelf?

    /// - Parameter shelf: The studios beside this one, which it passes requests on to.
    init(
        _ data: StudioData, _ gate: StudioGate, _ debugger: StudioDebugger, mayWrite: Bool,
        shelf: StudioShelf? = nil, statementSeconds: Int = 20
    ) {
        self.data = data
        self.gate = gate
        self.debugger = debugger
        self.mayWrite = mayWrite
        self.shelf = shelf
        sql = StudioSQL(data.states, seconds: statementSeconds)
    }

    /// Ends running work, before the server stops.
    func stop() {
        sql.stop()
        debugger.stop()
        shelf?.stop()
    }

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        switch gate.judge(request) {
        case .refused(let why):
            return Self.text(403, why)
        case .welcome(let cookie):
            var response = HTTPResponse(status: 303)
            response.headers = [HTTPHeader("Location", "/"), HTTPHeader("Set-Cookie", cookie)]
            return response
        case .admitted: break
        }
        if let shelf, let (number, path) = StudioShelf.place(request.path) {
            guard let studio = shelf.studio(number) else {
                return Self.text(404, "This report is no longer open. Drop its file on the page again.")
            }
            var request = request
            request.path = path
            return studio.answer(request)
        }
        do {
            return try request.method == "POST" ? post(request) : get(request)
        } catch {
            guard let error = ToolError(error) else { return Self.json(500, .null) }
            return Self.json(error.exit == .usage || error.code == "invalid-query" ? 400 : 500, error.json)
        }
    }

    private func get(_ request: HTTPRequest) throws -> HTTPResponse {
        guard request.method == "GET" else { return Self.text(405, "Only GET is allowed here.") }
        if let file = StudioPage.files[request.path] { return Self.file(file) }
        let query = StudioQuery(request: request)
        guard let json = try json(request.path, query) else { return Self.text(404, "Not found.") }
        return Self.json(200, json)
    }

    /// The answer to a question; nil if there is no such question.
    private func json(_ path: String, _ query: StudioQuery) throws -> JSONValue? {
        switch path {
        case "/api/summary": try data.summary(mayWrite: mayWrite).adding(["others": shelf?.json ?? []])
        case "/api/counts": try data.counts()
        case "/api/status": try data.status()
        case "/api/timeline":
            data.events.timeline(
                from: query.signed("from"), to: query.signed("to"), count: query.count("count") ?? 200,
                byTime: query.text("by") != "event")
        case "/api/lines":
            try data.events.lines(
                query.filter, query.row == nil ? .exact : data.idComparison(), skip: query.count("skip") ?? 0,
                top: query.window(100), find: query.number("find"))
        case "/api/event": try data.event(query.number("n") ?? 1)
        case "/api/tables": try data.tables(at: query.number("at"))
        case "/api/table": try data.table(query.query, at: query.number("at"))
        case "/api/columns": try data.columns(of: query.text("name"), at: query.number("at"))
        case "/api/value":
            try query.row.map { try data.value(of: query.text("field"), $0, at: query.number("at")) } ?? .null
        case "/api/count": try data.count(query.query, at: query.number("at"))
        case "/api/search": try search(query)
        case "/api/row":
            try query.row.map { try data.row($0, field: query.given("field"), at: query.number("at")) }
                ?? ToolError.usage("a row is needed").json
        case "/api/outbox":
            try data.outbox(at: query.number("at"), skip: query.count("skip") ?? 0, top: query.window(50))
        case "/api/conflicts": try data.conflicts(at: query.number("at"))
        case "/api/syncs":
            try data.syncs.list(data.events.index, skip: query.count("skip") ?? 0, top: query.window(50))
        case "/api/requests": try data.syncs.requests(query.count("session") ?? 0)
        case "/api/charts": try data.chart()
        case "/api/files": try data.files()
        case "/api/sizes": try data.sizes()
        case "/api/frames":
            try data.frames(
                of: query.text("file"), skip: query.count("skip"), holding: query.number("holding"),
                top: max(1, query.window(100)))
        case "/api/bytes":
            try data.bytes(at: query.text("address"), skip: query.count("skip"), top: max(1, query.window(100)))
        case "/api/find": try data.find(query.text("text"), at: query.number("at"))
        case "/api/moment": ["event": .number(try data.events.event(at: query.signed("time") ?? 0))]
        case "/api/time": ["time": data.events.time(of: query.number("n") ?? 1).map { .number($0) } ?? .null]
        default: nil
        }
    }

    private func search(_ query: StudioQuery) throws -> JSONValue {
        guard !query.text("text").isEmpty else { throw ToolError.usage("no search string was given") }
        let event = query.number("at")
        if query.text("by") != "rows" {
            let skip = query.count("from") ?? 0
            if let found = try data.search(words: query.text("text"), query.text("name"), skip: skip, at: event) {
                return found
            }
        }
        return try data.search(RowSearch(query.text("text")), query.text("name"), from: query.key, at: event)
    }

    /// A statement, a question to the debugger, or a decision about a conflict.
    private func post(_ request: HTTPRequest) throws -> HTTPResponse {
        if request.path == "/api/drop" { return postPart(request) }
        if request.path == "/api/command" || request.path == "/api/export" { return try postView(request) }
        if request.path == "/api/sql" || request.path == "/api/cancel" { return postSQL(request) }
        let question = request.path.split(separator: "/").last.map(String.init) ?? ""
        let isDecision = request.path == "/api/resolve"
        guard isDecision || request.path == "/api/debug/\(question)", isDecision || question != "resolve" else {
            return Self.text(405, "Only GET is allowed here.")
        }
        if isDecision, !mayWrite { return Self.text(403, "The page is read-only; start it with --write.") }
        guard let value = Self.value(request) else { return Self.text(400, "A JSON object is needed.") }
        let (status, json) = debugger.answer(question, value)
        return Self.json(status, json)
    }

    /// The command of a view, or its content as a file.
    private func postView(_ request: HTTPRequest) throws -> HTTPResponse {
        guard let value = Self.value(request) else { return Self.text(400, "A JSON object is needed.") }
        let view = StudioView(value)
        if request.path == "/api/command" { return Self.json(200, ["command": .optional(view.command)]) }
        let isCSV = value[member: "form"] == .string("csv")
        do {
            let text = try StudioExport(data: data, debugger: debugger, sql: sql).text(view, isCSV: isCSV)
            return Self.response(200, isCSV ? "text/csv; charset=utf-8" : "application/json", Array(text.utf8))
        } catch {
            return Self.json(422, ToolError(error)?.json ?? .null)
        }
    }

    /// A statement of the SQL page, or a request to stop it or a question.
    private func postSQL(_ request: HTTPRequest) -> HTTPResponse {
        guard let value = Self.value(request), case .string(let ticket)? = value[member: "ticket"] else {
            return Self.text(400, "A JSON object with a ticket is needed.")
        }
        if request.path == "/api/cancel" {
            return Self.json(200, ["stopped": .boolean(sql.cancel(ticket) || debugger.cancel(ticket))])
        }
        guard case .string(let statement)? = value[member: "statement"] else {
            return Self.text(400, "A statement is needed.")
        }
        var event: UInt64?
        if case .integer(let number)? = value[member: "at"] { event = UInt64(max(0, number)) }
        do {
            return Self.json(200, try sql.answer(.init(statement: statement, event: event, ticket: ticket)))
        } catch {
            return Self.json(422, ToolError(error)?.json ?? .null)
        }
    }

    /// A part of a report's file.
    private func postPart(_ request: HTTPRequest) -> HTTPResponse {
        let query = StudioQuery(request: request)
        guard let shelf else { return Self.text(405, "Drop it on the page of the store.") }
        guard let ticket = query.given("ticket"), let size = query.number("size"), let offset = query.number("offset")
        else { return Self.text(400, "A part of a file needs a ticket, the size and the offset.") }
        let name = String(query.text("name").prefix(200))
        do {
            let number = try shelf.take(
                StudioShelf.Part(ticket: ticket, name: name, size: size, offset: offset, bytes: request.body ?? []))
            return Self.json(200, ["number": number.map { .number($0) } ?? .null])
        } catch {
            return Self.json(422, ToolError(error)?.json ?? .null)
        }
    }

    private static func value(_ request: HTTPRequest) -> Value? { request.body.flatMap { try? Value(json: $0) } }

    // MARK: Answers

    private static func headers(_ type: String) -> [HTTPHeader] {
        [
            HTTPHeader("Content-Type", type), HTTPHeader("Cache-Control", "no-store"),
            HTTPHeader("X-Content-Type-Options", "nosniff"), HTTPHeader("Referrer-Policy", "no-referrer"),
            HTTPHeader(
                "Content-Security-Policy",
                "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
                    + "img-src data:; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'self'"),
        ]
    }

    private static func response(_ status: Int, _ type: String, _ bytes: [UInt8]) -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.headers = headers(type)
        response.body = bytes
        return response
    }

    private static func text(_ status: Int, _ text: String) -> HTTPResponse {
        response(status, "text/plain; charset=utf-8", Array((text + "\n").utf8))
    }

    private static func json(_ status: Int, _ json: JSONValue) -> HTTPResponse {
        response(status, "application/json", Array(json.text.utf8))
    }

    private static func file(_ file: StudioPage.File) -> HTTPResponse { response(200, file.type, file.bytes) }
}
