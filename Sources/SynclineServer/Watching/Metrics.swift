// Metrics of the requests, in the text format of Prometheus.

import SynclineGround
import SynclineTables

final class Metrics: Sendable {
    private struct Key: Hashable {
        var method: String
        var status: Int
    }

    private struct Counts {
        var requests: [Key: Int] = [:]
        var tenants: [String: Int] = [:]
        /// The number of requests within each of the bounds.
        var within = [Int](repeating: 0, count: Metrics.bounds.count)
        var seconds = 0.0
        var (bytesIn, bytesOut) = (0, 0)

        mutating func add(_ other: Counts) {
            requests.merge(other.requests, uniquingKeysWith: +)
            tenants.merge(other.tenants, uniquingKeysWith: +)
            for place in within.indices { within[place] += other.within[place] }
            seconds += other.seconds
            bytesIn += other.bytesIn
            bytesOut += other.bytesOut
        }
    }

    private static let bounds = [0.001, 0.005, 0.02, 0.1, 0.5, 2.5]
    private static let methods: Set<String> = ["GET", "HEAD", "POST", "PATCH", "PUT", "DELETE", "OPTIONS"]
    /// Each thread almost always has its own share, so that threads do not wait for each other to count.
    private let shares = (0..<16).map { _ in Share() }
    private let failures = Mutex([FailureReason.Kind: Int]())

    private final class Share: Sendable {
        let counts = Mutex(Counts())
    }

    private var share: Share {
        // The addresses of threads' stacks differ by at least one stack.
        var here: UInt8 = 0
        let address = withUnsafePointer(to: &here) { UInt(bitPattern: $0) }
        return shares[Int(address >> 23 % UInt(shares.count))]
    }

    func count(
        _ method: String, status: Int, _ time: Duration, bytesIn: Int = 0, bytesOut: Int = 0, tenant: String? = nil
    ) {
        let took = time / .seconds(1)
        // Otherwise clients could create any number of names.
        let key = Key(method: Metrics.methods.contains(method) ? method : "other", status: status)
        share.counts.withLock { counts in
            counts.requests[key, default: 0] += 1
            if let tenant { counts.tenants[tenant, default: 0] += 1 }
            counts.seconds += took
            counts.bytesIn += bytesIn
            counts.bytesOut += bytesOut
            for (place, bound) in Metrics.bounds.enumerated() where took <= bound { counts.within[place] += 1 }
        }
    }

    /// Counts a request that failed because the database did.
    func count(_ failure: FailureReason.Kind) {
        failures.withLock { $0[failure, default: 0] += 1 }
    }

    /// The metrics of requests, then other metrics.
    func text(_ others: [Measure]) -> String {
        let counts = shares.reduce(into: Counts()) { sum, share in sum.add(share.counts.withLock { $0 }) }
        let keys = counts.requests.keys.sorted { ($0.method, $0.status) < ($1.method, $1.status) }
        let requests = keys.map { key in
            Measure.Sample(
                labels: [("method", key.method), ("status", String(key.status))],
                value: Double(counts.requests[key] ?? 0))
        }
        let failures = failures.withLock { $0 }
        var measures = [
            Measure("requests_total", .counter, "Requests that were answered.", requests),
            Measure("received_bytes_total", .counter, "Bytes of the bodies of requests.", counts.bytesIn),
            Measure("sent_bytes_total", .counter, "Bytes of the bodies of answers.", counts.bytesOut),
            Measure(
                "database_failures_total", .counter, "Requests that failed because of the database.", by: "kind",
                FailureReason.Kind.allCases.map { ($0.rawValue, failures[$0] ?? 0) }),
        ]
        if !counts.tenants.isEmpty {
            measures.append(
                Measure(
                    "tenant_requests_total", .counter, "Requests of a tenant that were answered.", by: "tenant",
                    counts.tenants.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }))
        }
        let lines = measures.flatMap(\.lines) + histogram(counts) + others.flatMap(\.lines)
        return lines.joined(separator: "\n") + "\n"
    }

    private func histogram(_ counts: Counts) -> [String] {
        let total = counts.requests.values.reduce(0, +)
        let name = "syncline_request_seconds"
        return ["# HELP \(name) How long requests took.", "# TYPE \(name) histogram"]
            + zip(Metrics.bounds, counts.within).map { "\(name)_bucket{le=\"\($0)\"} \($1)" }
            + ["\(name)_bucket{le=\"+Inf\"} \(total)", "\(name)_sum \(counts.seconds)", "\(name)_count \(total)"]
    }
}
