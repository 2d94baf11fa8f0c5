// Access to the page. The token opens it once and is then exchanged for a cookie; requests with another host name than
// loopback's, or from another page, are refused even with a valid cookie.

import SynclineGround
import SynclineWire

final class StudioGate: Sendable {
    let token: String
    private let session: String
    private let isUsed = Mutex(false)

    /// - Parameter session: Another secret, which the cookie holds, so that the printed address can't be used twice.
    init(token: String, session: String) {
        self.token = token
        self.session = session
    }

    enum Verdict: Equatable {
        case admitted
        /// The token was right; the response sets this cookie.
        case welcome(cookie: String)
        case refused(String)
    }

    func judge(_ request: HTTPRequest) -> Verdict {
        guard let host = request.headers.value("Host"), StudioGate.isLoopback(host) else {
            return .refused("Open the page with the printed address.")
        }
        let name = StudioGate.cookieName(host)
        if let origin = request.headers.value("Origin"), origin != "http://\(host)" {
            return .refused("Requests from other pages are refused.")
        }
        if let given = request.query.first(where: { $0.name == "token" })?.value {
            let isFirst = isUsed.withLock { isUsed in
                defer { if given == token { isUsed = true } }
                return !isUsed
            }
            if given == token && isFirst {
                return .welcome(cookie: "\(name)=\(session); HttpOnly; SameSite=Strict; Path=/")
            }
        }
        let cookies = (request.headers.value("Cookie") ?? "").split(separator: ";").map { $0.trimmingSpaces() }
        if cookies.contains("\(name)=\(session)") { return .admitted }
        return .refused("The token was already used, or is not valid. Start `syncline studio` again for a new one.")
    }

    /// A browser sends cookies to all ports of a host, so the name contains the port: two studios do not replace each
    /// other's cookie.
    private static func cookieName(_ host: String) -> String {
        "syncline-studio-" + host.split(separator: ":").dropFirst().joined()
    }

    private static func isLoopback(_ host: String) -> Bool {
        let name = host.split(separator: ":").first.map(String.init) ?? ""
        return name == "127.0.0.1" || name == "localhost"
    }
}
