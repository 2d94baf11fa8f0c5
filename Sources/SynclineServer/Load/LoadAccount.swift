// The account of a load: what was done and what failed, by kind.

struct LoadAccount: Sendable {
    struct Entry: Sendable {
        /// Requests that did all they were to do, and their durations.
        var latencies = Latencies()
        /// The rows that they wrote or read.
        var rows = 0
        /// By status; nil: no answer. Each with the first reason.
        var failures: [Int?: (count: Int, reason: String)] = [:]

        var failed: Int { failures.values.reduce(0) { $0 + $1.count } }
    }

    private var entries: [LoadKind: Entry] = [:]

    subscript(kind: LoadKind) -> Entry { entries[kind] ?? Entry() }

    var failed: Int { entries.values.reduce(0) { $0 + $1.failed } }
    var done: Int { entries.values.reduce(0) { $0 + $1.latencies.count } }

    mutating func add(_ kind: LoadKind, after duration: Duration, rows: Int) {
        entries[kind, default: Entry()].latencies.add(duration)
        entries[kind, default: Entry()].rows += rows
    }

    mutating func add(_ kind: LoadKind, _ failure: LoadFailure, count: Int = 1) {
        guard count > 0 else { return }
        entries[kind, default: Entry()].failures[failure.status, default: (0, failure.reason)].count += count
    }
}
