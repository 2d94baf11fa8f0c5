// Who may see the page of `studio`.

import SynclineWire
import Testing

@testable import SynclineTool

@Suite struct StudioGateTests {
    private func request(_ members: [String: String], token: String? = nil) -> HTTPRequest {
        var request = HTTPRequest("GET", "/")
        request.headers = members.map { HTTPHeader($0.key, $0.value) }
        if let token { request.query = [HTTPHeader("token", token)] }
        return request
    }

    private let host = ["Host": "127.0.0.1:4567"]

    @Test func `the token opens the page once, and the cookie from then on`() {
        let gate = StudioGate(token: "abc", session: "def")
        #expect(isRefused(gate.judge(request(host))))
        #expect(isRefused(gate.judge(request(host, token: "abd"))))
        guard case .welcome(let cookie) = gate.judge(request(host, token: "abc")) else {
            Issue.record("the token is refused")
            return
        }
        #expect(cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"))
        #expect(isRefused(gate.judge(request(host, token: "abc"))))
        #expect(gate.judge(request(host.merging(["Cookie": "a=b; syncline-studio=def"]) { $1 })) == .admitted)
        #expect(isRefused(gate.judge(request(host.merging(["Cookie": "syncline-studio=abc"]) { $1 }))))
    }

    @Test func `another name and another page are refused`() {
        let gate = StudioGate(token: "abc", session: "def")
        let cookie = ["Cookie": "syncline-studio=def"]
        #expect(isRefused(gate.judge(request(cookie.merging(["Host": "example.com"]) { $1 }))))
        #expect(isRefused(gate.judge(request(cookie))))
        let elsewhere = host.merging(cookie) { $1 }.merging(["Origin": "http://example.com"]) { $1 }
        #expect(isRefused(gate.judge(request(elsewhere))))
        let own = host.merging(cookie) { $1 }.merging(["Origin": "http://127.0.0.1:4567"]) { $1 }
        #expect(gate.judge(request(own)) == .admitted)
    }

    private func isRefused(_ verdict: StudioGate.Verdict) -> Bool {
        if case .refused = verdict { true } else { false }
    }
}
