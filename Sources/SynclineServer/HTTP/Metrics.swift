// What is counted of the requests, in the text that Prometheus reads.

import Synchronization

final class Metrics: Sendable {
    private struct Key: Hashable {
        var method: String
        var status: Int
    }

    private struct Counts {
        var requests: [Key: Int] = [:]
        /// Requests that took no longer than each of the bounds.
        var within = [Int](repeating: 0, count: Metrics.bounds.count)
        var seconds = 0.0

        mutating func add(_ other: Counts) {
            requests.merge(other.requests, uniquingKeysWith: +)
            for place in within.indices { within[place] += other.within[place] }
            seconds += other.seconds
        }
    }

    private static let bounds = [0.001, 0.005, 0.02, 0.1, 0.5, 2.5]
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]
    /// Each thread has a share of its own, as good as always: nobody waits to be counted.
    private let shares = (0..<16).map { _ in Share() }

    private final class Share: Sendable {
        let counts = Mutex(Counts())
    }

    private var share: Share {
        // Threads lie a stack apart.
        var here: UInt8 = 0
        let address = withUnsafePointer(to: &here) { UInt(bitPattern: $0) }
        return shares[Int(address >> 23 % UInt(shares.count))]
    }

    func count(_ method: String, status: Int, _ time: Duration) {
        let (seconds, attoseconds) = time.components
        let took = Double(seconds) + Double(attoseconds) / 1e18
        // Clients can't make endless names.
        let key = Key(method: Metrics.methods.contains(method) ? method : "other", status: status)
        share.counts.withLock { counts in
            counts.requests[key, default: 0] += 1
            counts.seconds += took
            for (place, bound) in Metrics.bounds.enumerated() where took <= bound { counts.within[place] += 1 }
        }
    }

    func text(connections: Int) -> String {
        let counts = shares.reduce(into: Counts()) { sum, share in sum.add(share.counts.withLock { $0 }) }
        var lines = [
            "# HELP syncline_requests_total Requests that were answered.", "# TYPE syncline_requests_total counter",
        ]
        let keys = counts.requests.keys.sorted { ($0.method, $0.status) < ($1.method, $1.status) }
        for key in keys {
            let labels = "method=\"\(key.method)\",status=\"\(key.status)\""
            lines.append("syncline_requests_total{\(labels)} \(counts.requests[key] ?? 0)")
        }
        lines += [
            "# HELP syncline_request_seconds How long requests took.", "# TYPE syncline_request_seconds histogram",
        ]
        for (bound, count) in zip(Metrics.bounds, counts.within) {
            lines.append("syncline_request_seconds_bucket{le=\"\(bound)\"} \(count)")
        }
        let total = counts.requests.values.reduce(0, +)
        lines += [
            "syncline_request_seconds_bucket{le=\"+Inf\"} \(total)", "syncline_request_seconds_sum \(counts.seconds)",
            "syncline_request_seconds_count \(total)",
            "# HELP syncline_connections Connections that are open.", "# TYPE syncline_connections gauge",
            "syncline_connections \(connections)",
        ]
        return lines.joined(separator: "\n") + "\n"
    }
}
