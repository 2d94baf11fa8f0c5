// What a path leads to. Everything under the root but `$batch` and `$events` is a table, a row, or a table's changes.

import SynclineWire

enum Route: Hashable, Sendable {
    case health
    case metrics
    case batch
    case events
    case table(String)
    case row(table: String)
    case changes(table: String)
    case nowhere

    init(_ request: HTTPRequest, root: String) {
        let segments = request.pathSegments
        let root = root.split(separator: "/").map(String.init)
        if segments == ["healthz"] || segments == ["metrics"] || !segments.starts(with: root) {
            self = segments == ["healthz"] ? .health : segments == ["metrics"] ? .metrics : .nowhere
            return
        }
        let rest = Array(segments.dropFirst(root.count))
        switch rest.count {
        case 1 where rest[0] == "$batch": self = .batch
        case 1 where rest[0] == "$events": self = .events
        case 1: self = .table(rest[0])
        case 2:
            // A row may have the id `changes`: a cursor tells that changes are meant.
            let asksForChanges = rest[1] == "changes" && request.query.contains { $0.isNamed("since") }
            self = asksForChanges ? .changes(table: rest[0]) : .row(table: rest[0])
        default: self = .nowhere
        }
    }

    /// The methods that mean something there.
    var methods: [String] {
        switch self {
        case .health, .metrics, .changes: ["GET", "HEAD", "OPTIONS"]
        case .events: ["GET", "OPTIONS"]
        case .batch: ["POST", "OPTIONS"]
        case .table: ["GET", "HEAD", "POST", "PATCH", "OPTIONS"]
        case .row: ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]
        case .nowhere: []
        }
    }
}
