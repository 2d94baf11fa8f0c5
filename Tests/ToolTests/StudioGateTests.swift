// Which requests may see the page of `studio`.

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
        #expect(gate.judge(request(host.merging(["Cookie": "a=b; syncline-studio-4567=def"]) { $1 })) == .admitted)
        #expect(isRefused(gate.judge(request(host.merging(["Cookie": "syncline-studio-4567=abc"]) { $1 }))))
    }

    @Test func `another name and another page are refused`() {
        let gate = StudioGate(token: "abc", session: "def")
        let cookie = ["Cookie": "syncline-studio-4567=def"]
        #expect(isRefused(gate.judge(request(cookie.merging(["Host": "example.com"]) { $1 }))))
        #expect(isRefused(gate.judge(request(cookie))))
        let elsewhere = host.merging(cookie) { $1 }.merging(["Origin": "http://example.com"]) { $1 }
        #expect(isRefused(gate.judge(request(elsewhere))))
        let own = host.merging(cookie) { $1 }.merging(["Origin": "http://127.0.0.1:4567"]) { $1 }
        #expect(gate.judge(request(own)) == .admitted)
    }

    @Test func `two studios do not replace each other's cookie`() {
        let (one, other) = (StudioGate(token: "a", session: "one"), StudioGate(token: "b", session: "two"))
        let ports = (["Host": "127.0.0.1:4567"], ["Host": "127.0.0.1:4568"])
        guard case .welcome(let first) = one.judge(request(ports.0, token: "a")),
            case .welcome(let second) = other.judge(request(ports.1, token: "b"))
        else {
            Issue.record("a token is refused")
            return
        }
        // A browser keeps both, because their names differ, and sends both to both.
        let pairs = [first, second].compactMap { $0.split(separator: ";").first }
        #expect(Set(pairs.compactMap { $0.split(separator: "=").first }).count == 2)
        let both = ["Cookie": pairs.joined(separator: "; ")]
        #expect(one.judge(request(ports.0.merging(both) { $1 })) == .admitted)
        #expect(other.judge(request(ports.1.merging(both) { $1 })) == .admitted)
    }

    private func isRefused(_ verdict: StudioGate.Verdict) -> Bool {
        if case .refused = verdict { true } else { false }
    }
}
