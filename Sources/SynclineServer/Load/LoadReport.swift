// The result of a load, as a table for people or as a line of JSON for each kind of request and one for the rows.

import SynclineCore
import SynclineWire

struct LoadReport: Sendable {
    var plan: LoadPlan
    /// The time that was measured.
    var measured: Duration
    var account: LoadAccount
    var removal: LoadRemoval
    /// The beginning of the rows' ids.
    var prefix: String

    /// Rows remain that were to be removed.
    var hasRemains: Bool { !plan.keeps && !removal.left.isEmpty }
    var isGood: Bool { account.failed == 0 && !hasRemains && removal.lost == 0 && account.done > 0 }

    private var kinds: [LoadKind] {
        LoadKind.allCases.filter { account[$0].latencies.count + account[$0].failed > 0 }
    }
    private static let quantiles = [("p50", 0.5), ("p95", 0.95), ("p99", 0.99)]

    private func perSecond(_ count: Int) -> String {
        let seconds = measured / .seconds(1)
        return seconds > 0 ? LoadReport.text(Double(count) / seconds, decimals: 1) : "-"
    }

    /// Milliseconds with three decimals.
    private static func milliseconds(_ duration: Duration) -> String {
        text(duration / .milliseconds(1), decimals: 3)
    }

    private static func text(_ number: Double, decimals: Int) -> String {
        let scale = (0..<decimals).reduce(1) { scale, _ in scale * 10 }
        let whole = Int64((number * Double(scale)).rounded())
        let rest = String(whole % Int64(scale))
        return "\(whole / Int64(scale))." + String(repeating: "0", count: decimals - rest.count) + rest
    }

    // MARK: For people

    var text: String {
        let header = ["", "done", "per second", "rows", "failed", "p50 ms", "p95 ms", "p99 ms", "max ms"]
        let lines = [header] + kinds.map(cells)
        let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let table = lines.map { line in
            zip(line, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + padding : padding + cell.0
            }.joined(separator: "  ")
        }
        let failed = kinds.flatMap { kind in
            failures(kind).map { "failed: \(kind.rawValue): \($0.count) × \(LoadFailure($0.status, $0.reason).text)" }
        }
        let head = "measured for \(LoadReport.text(measured / .seconds(1), decimals: 1)) s"
        return ([head] + table + failed + [remains]).map { $0 + "\n" }.joined()
    }

    private func cells(_ kind: LoadKind) -> [String] {
        let entry = account[kind]
        let times = LoadReport.quantiles.map { entry.latencies.quantile($0.1) }
        let longest = entry.latencies.count == 0 ? nil : entry.latencies.longest
        return [
            kind.rawValue, String(entry.latencies.count), perSecond(entry.latencies.count),
            kind == .event ? "" : String(entry.rows), String(entry.failed),
        ] + (times + [longest]).map { $0.map(LoadReport.milliseconds) ?? "-" }
    }

    private var remains: String {
        let ids = "their ids begin with \(prefix)"
        if plan.keeps { return "\(removal.left.count) rows were kept; \(ids)" }
        let tombstones = removal.hasTombstones == true ? "; the server keeps their tombstones" : ""
        let lost = removal.lost == 0 ? "" : "; \(removal.lost) that the server had acknowledged were gone"
        let removed = "\(removal.removed) rows were removed\(tombstones)\(lost)"
        if removal.left.isEmpty { return removed }
        let reason = removal.reason.map { ": \($0.text)" } ?? ""
        let unclear = removal.unclear
        let left = "\(removal.left.count - unclear) rows are left" + (unclear > 0 ? ", and \(unclear) more may be" : "")
        return "\(removed)\n\(left); \(ids)\(reason)"
    }

    private func failures(_ kind: LoadKind) -> [(status: Int?, count: Int, reason: String)] {
        account[kind].failures.sorted { ($0.key ?? 0) < ($1.key ?? 0) }.map {
            ($0.key, $0.value.count, $0.value.reason)
        }
    }

    // MARK: As JSON

    /// Each an object.
    var lines: [String] { (kinds.map(line) + [lastLine]).map { $0.json + "\n" } }

    private func line(_ kind: LoadKind) -> Value {
        let entry = account[kind]
        var members: [Value.Member] = [
            .init("kind", .string(kind.rawValue)), .init("done", .integer(Int64(entry.latencies.count))),
            .init("perSecond", LoadReport.number(perSecond(entry.latencies.count))),
        ]
        if kind != .event { members.append(.init("rows", .integer(Int64(entry.rows)))) }
        members.append(.init("failed", .integer(Int64(entry.failed))))
        if entry.latencies.count > 0 {
            let times = LoadReport.quantiles.map { ($0.0, entry.latencies.quantile($0.1) ?? .zero) }
            members += (times + [("max", entry.latencies.longest)]).map { name, time in
                .init(name + "Milliseconds", LoadReport.number(LoadReport.milliseconds(time)))
            }
        }
        if entry.failed > 0 {
            let failures = failures(kind).map { failure -> Value in
                .object([
                    .init("status", failure.status.map { .integer(Int64($0)) } ?? .null),
                    .init("count", .integer(Int64(failure.count))), .init("reason", .string(failure.reason)),
                ])
            }
            members.append(.init("failures", .array(failures)))
        }
        return .object(members)
    }

    /// The line about the rows.
    private var lastLine: Value {
        var members: [Value.Member] = [
            .init("kind", "rows"), .init("ids", .string(prefix)), .init("seconds", .double(measured / .seconds(1))),
            .init("removed", .integer(Int64(removal.removed))), .init("lost", .integer(Int64(removal.lost))),
            .init("left", .integer(Int64(removal.left.count))),
            .init("unclear", .integer(Int64(removal.unclear))),
        ]
        if let flag = removal.hasTombstones { members.append(.init("tombstones", .bool(flag))) }
        if let reason = removal.reason, hasRemains { members.append(.init("reason", .string(reason.text))) }
        return .object(members)
    }

    private static func number(_ text: String) -> Value { Double(text).map { .double($0) } ?? .null }
}

extension LoadFailure {
    /// For a person.
    var text: String {
        let status = status.map { String($0) } ?? "no answer"
        return reason.isEmpty ? status : "\(status): \(reason)"
    }
}
