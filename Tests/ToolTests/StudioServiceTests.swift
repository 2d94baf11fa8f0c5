// The responses to the page of `studio`, for requests that a browser would not send.

import Dispatch
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct StudioServiceTests {
    private func service(_ log: TestLog, mayWrite: Bool = false) throws -> StudioService {
        let host = Host(
            environment: Environment(
                variables: [:], directory: "/", outputIsTerminal: false, errorsAreTerminal: false, width: 80),
            output: MemorySink(), errors: MemorySink(), input: MemoryLines())
        return StudioService(
            try StudioData(log.path), StudioGate(token: "t", session: "s"), host, .all, store: log.path,
            mayWrite: mayWrite)
    }

    private func request(_ method: String, _ path: String, _ query: [String: String] = [:]) -> HTTPRequest {
        var request = HTTPRequest(method, path)
        request.headers = [HTTPHeader("Host", "127.0.0.1:1"), HTTPHeader("Cookie", "syncline-studio=s")]
        request.query = query.map { HTTPHeader($0.key, $0.value) }
        return request
    }

    @Test func `numbers of any size are answered`() throws {
        let log = try TestLog.story()
        let service = try service(log)
        let numbers = ["0", "1", "9223372036854775807", "18446744073709551615", "99999999999999999999", "-1", "x", ""]
        for (path, names) in [
            ("events", ["from", "count"]), ("event", ["n"]), ("table", ["at", "skip", "top"]), ("tables", ["at"]),
            ("outbox", ["at"]),
        ] {
            for name in names {
                for number in numbers {
                    let query = [name: number].merging(path == "table" ? ["name": "todoitem"] : [:]) { $1 }
                    let response = service.answer(request("GET", "/api/" + path, query))
                    #expect([200, 400].contains(response.status), "\(path) \(query)")
                    #expect((try? Value(json: response.body)) != nil, "\(path) \(query)")
                }
            }
        }
        #expect(service.answer(request("POST", "/api/events")).status == 405)
        #expect(service.answer(request("GET", "/etc/passwd")).status == 404)
    }

    /// Answers on a thread of its own, as a server does: it blocks until the command has ended.
    private func answer(_ request: HTTPRequest, from service: StudioService) async -> HTTPResponse {
        await withCheckedContinuation { continuation in
            DispatchQueue(label: "StudioServiceTests").async { continuation.resume(returning: service.answer(request)) }
        }
    }

    @Test func `a row's address from the page is never taken for an option`() async throws {
        let log = try TestLog.story()
        var choice = request("POST", "/api/resolve")
        choice.body = Array(##"{"table":"--store=/nowhere","id":"x","choice":"merge"}"##.utf8)
        #expect(try await answer(choice, from: service(log)).status == 403)
        let response = try await answer(choice, from: service(log, mayWrite: true))
        let text = String(decoding: response.body, as: UTF8.self)
        #expect(response.status == 409 && !text.contains("nowhere\"") && text.contains("conflict"), "\(text)")
        choice.body = Array(#"{"table":"todoitem","id":"a","choice":"compact"}"#.utf8)
        #expect(try await answer(choice, from: service(log, mayWrite: true)).status == 400)
    }
}
