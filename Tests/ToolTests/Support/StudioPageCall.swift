// The page of `studio` without a socket: a request in, an answer out.

import Dispatch
import Foundation
import SynclineWire

@testable import SynclineTool

struct StudioPageCall {
    let service: StudioService
    /// The folder of a log goes with it.
    private let log: TestLog

    init(
        _ log: TestLog, mayWrite: Bool = false, dropLimit: UInt64 = StudioShelf.limit, statementSeconds: Int = 3600
    ) throws {
        self.log = log
        let host = Host(
            environment: Environment(
                variables: [:], directory: "/", outputIsTerminal: false, errorsAreTerminal: false, width: 80),
            output: MemorySink(), errors: MemorySink(), input: MemoryLines())
        let gate = StudioGate(token: "t", session: "s")
        let debugger = StudioDebugger(host, .all, store: log.path)
        let shelf = StudioShelf(limit: dropLimit) { path, name, traffic in
            StudioService(
                try StudioData(path, name: name, traffic: traffic), gate, debugger.of(path), mayWrite: false)
        }
        service = StudioService(
            try StudioData(log.path), gate, debugger, mayWrite: mayWrite, shelf: shelf,
            statementSeconds: statementSeconds)
    }

    func request(_ method: String, _ path: String, _ query: [String: String] = [:]) -> HTTPRequest {
        var request = HTTPRequest(method, path)
        request.headers = [HTTPHeader("Host", "127.0.0.1:1"), HTTPHeader("Cookie", "syncline-studio-1=s")]
        request.query = query.map { HTTPHeader($0.key, $0.value) }
        return request
    }

    func get(_ path: String, _ query: [String: String] = [:]) -> HTTPResponse {
        service.answer(request("GET", "/api/" + path, query))
    }

    /// The answer as JSON.
    func object(_ path: String, _ query: [String: String] = [:]) throws -> [String: Any] {
        let response = get(path, query)
        return try JSONSerialization.jsonObject(with: Data(response.body)) as? [String: Any] ?? [:]
    }

    /// Posts on a thread of its own, as a server does: it blocks until the command has ended.
    func post(_ path: String, _ body: String) async -> HTTPResponse {
        await StudioPageCall.answer(service, posting(path, body))
    }

    func posting(_ path: String, _ body: String) -> HTTPRequest {
        var request = request("POST", "/api/" + path)
        request.body = Array(body.utf8)
        return request
    }

    static func answer(_ service: StudioService, _ request: HTTPRequest) async -> HTTPResponse {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "StudioPageCall").async { continuation.resume(returning: service.answer(request)) }
        }
    }

    /// Reads the whole log into the index.
    @discardableResult
    func summary() throws -> [String: Any] {
        var found = try object("summary")
        while found["complete"] as? Bool == false { found = try object("summary") }
        return found
    }
}
