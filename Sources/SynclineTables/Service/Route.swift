// The target of a path. Everything under the root except `$batch`, `$events` and `$access` is a table, a row, or a table's
// changes.

package import SynclineWire

package enum Route: Hashable, Sendable {
    case health
    /// Whether writes are possible, too.
    case readiness
    case metrics
    case batch
    case events
    case access
    case table(String)
    case row(table: String, id: String)
    case changes(table: String)
    case nowhere

    package init(_ request: HTTPRequest, root: [String]) {
        let segments = request.pathSegments
        if let own = Route.own[segments] ?? (segments.starts(with: root) ? nil : .nowhere) {
            self = own
            return
        }
        let rest = segments.dropFirst(root.count)
        switch (rest.count, rest.first, rest.last) {
        case (1, "$batch"?, _): self = .batch
        case (1, "$events"?, _): self = .events
        case (1, "$access"?, _): self = .access
        case (1, let name?, _): self = .table(name)
        case (2, let name?, let id?):
            // A row may have the id `changes`: only a cursor means a request for changes.
            let asksForChanges = id == "changes" && request.query.contains { $0.isNamed("since") }
            self = asksForChanges ? .changes(table: name) : .row(table: name, id: id)
        default: self = .nowhere
        }
    }

    private static let own: [[String]: Route] = [["healthz"]: .health, ["readyz"]: .readiness, ["metrics"]: .metrics]

    /// The methods that are allowed there.
    package var methods: [String] {
        switch self {
        case .health, .readiness, .metrics, .changes, .access: ["GET", "HEAD", "OPTIONS"]
        case .events: ["GET", "OPTIONS"]
        case .batch: ["POST", "OPTIONS"]
        case .table: ["GET", "HEAD", "POST", "PATCH", "OPTIONS"]
        case .row: ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]
        case .nowhere: []
        }
    }
}
