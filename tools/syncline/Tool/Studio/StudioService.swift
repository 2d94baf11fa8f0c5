// Answers the page's requests with JSON. The data comes from StudioData.

import Dispatch
import SynclineCore
import SynclineGround
import SynclineInspect
import SynclineWire

final class StudioService: Sendable {
    private let data: StudioData
    private let gate: StudioGate
    private let mayWrite: Bool
    private let store: String
    /// Runs a command of the tool and returns its exit code and its JSON.
    private let perform: @Sendable ([String]) async -> (Int32, String)

    init(_ data: StudioData, _ gate: StudioGate, _ host: Host, _ table: CommandTable, store: String, mayWrite: Bool) {
        self.data = data
        self.gate = gate
        self.store = store
        self.mayWrite = mayWrite
        let environment = host.environment
        perform = { words in
            let output = MemorySink()
            var host = Host(
                environment: environment, output: output, errors: MemorySink(), input: MemoryLines())
            host.form = .json
            let exit = await Tool(host, table: table).run(words)
            return (exit.rawValue, output.text)
        }
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
        do {
            return try route(request)
        } catch let error as ToolError {
            return Self.json(error.exit == .usage ? 400 : 500, error.json)
        } catch {
            return Self.json(500, ToolError(error)?.json ?? .null)
        }
    }

    private func route(_ request: HTTPRequest) throws -> HTTPResponse {
        let query = StudioQuery(request)
        if request.path == "/api/resolve" { return try resolve(request) }
        guard request.method == "GET" else { return Self.text(405, "Only GET is allowed here.") }
        switch request.path {
        case "/": return Self.page
        case "/api/summary": return Self.json(200, try data.summary(mayWrite: mayWrite))
        case "/api/events":
            return Self.json(
                200, try data.events(from: query.number("from") ?? 1, count: query.count("count") ?? 100))
        case "/api/event": return Self.json(200, try data.event(query.number("n") ?? 1))
        case "/api/table":
            return Self.json(
                200,
                try data.table(
                    query.text("name"), at: query.number("at"), skip: query.count("skip") ?? 0,
                    top: min(500, query.count("top") ?? 100)))
        case "/api/tables": return Self.json(200, try data.tables(at: query.number("at")))
        case "/api/row": return Self.json(200, try data.row(query.text("table"), query.text("id")))
        case "/api/outbox": return Self.json(200, try data.outbox(at: query.number("at")))
        case "/api/charts": return Self.json(200, try data.charts())
        default: return Self.text(404, "Not found.")
        }
    }

    /// `{"table","id","choice"}`
    private func resolve(_ request: HTTPRequest) throws -> HTTPResponse {
        guard mayWrite else { return Self.text(403, "The page is read-only; start it with --write.") }
        guard request.method == "POST", let body = request.body, let value = try? Value(json: body),
            case .string(let table)? = value[member: "table"], case .string(let id)? = value[member: "id"],
            case .string(let choice)? = value[member: "choice"],
            ["take-server", "keep-mine", "merge"].contains(choice)
        else { return Self.text(400, "A table, an id and a choice are needed.") }
        let words = ["resolve", "--\(choice)", "--store", store, "--", "\(table)/\(id)"]
        let done = DispatchSemaphore(value: 0)
        let result = Mutex<(Int32, String)>((70, ""))
        let perform = perform
        Task {
            let answer = await perform(words)
            result.withLock { $0 = answer }
            done.signal()
        }
        done.wait()
        let (exit, text) = result.withLock { $0 }
        var response = HTTPResponse(status: exit == 0 ? 200 : 409)
        response.headers = Self.headers("application/json")
        response.body = Array(text.utf8)
        return response
    }

    // MARK: Answers

    private static func headers(_ type: String) -> [HTTPHeader] {
        [
            HTTPHeader("Content-Type", type), HTTPHeader("Cache-Control", "no-store"),
            HTTPHeader("X-Content-Type-Options", "nosniff"), HTTPHeader("Referrer-Policy", "no-referrer"),
            HTTPHeader(
                "Content-Security-Policy",
                "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; "
                    + "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"),
        ]
    }

    private static func text(_ status: Int, _ text: String) -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.headers = headers("text/plain; charset=utf-8")
        response.body = Array((text + "\n").utf8)
        return response
    }

    private static func json(_ status: Int, _ json: JSONValue) -> HTTPResponse {
        var response = HTTPResponse(status: status)
        response.headers = headers("application/json")
        response.body = Array(json.text.utf8)
        return response
    }

    private static let page: HTTPResponse = {
        var response = HTTPResponse(status: 200)
        response.headers = headers("text/html; charset=utf-8")
        response.body = Array(StudioPage.html.utf8)
        return response
    }()
}

/// The parameters of a request.
private struct StudioQuery {
    private let request: HTTPRequest

    init(_ request: HTTPRequest) {
        self.request = request
    }

    func text(_ name: String) -> String { request.query.first { $0.name == name }?.value ?? "" }
    func number(_ name: String) -> UInt64? { UInt64(text(name)) }
    func count(_ name: String) -> Int? { number(name).map { Int(clamping: $0) } }
}
