// The dashboard for Grafana: it shows what the server measures, under the names that the server gives.

import Foundation
import SynclineCore
import SynclineWire
import Testing

@testable import SynclineServer

@Suite struct DashboardTests {
    private static let path = "tools/packaging/grafana/syncline-server.json"

    private static let root = (0..<4).reduce(URL(fileURLWithPath: #filePath)) { url, _ in
        url.deletingLastPathComponent()
    }

    private func dashboard() throws -> Value {
        try Value(json: Array(Data(contentsOf: Self.root.appending(path: Self.path))), refusesDuplicates: true)
    }

    private func elements(_ value: Value?) -> [Value] { if case .array(let elements)? = value { elements } else { [] } }

    /// The samples of a server on SQLite: the values of each label, by the metric's name.
    private func samples() throws -> [String: [String: Set<String>]] {
        let server = try RunningServer()
        defer { withExtendedLifetime(server) {} }
        _ = try server.exchange("GET /tables/todoitem HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        let text = try server.exchange("GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        var samples: [String: [String: Set<String>]] = [:]
        for match in text.matches(of: /(?m)^(syncline_\w+)(?:\{(.*)\})? \S+$/) {
            let name = String(match.1)
            samples[name, default: [:]].merge([:]) { old, _ in old }
            for label in (match.2 ?? "").matches(of: /(\w+)="([^"]*)"/) {
                samples[name]?[String(label.1), default: []].insert(String(label.2))
            }
        }
        return samples
    }

    /// Labels that Prometheus adds.
    private static let added: Set<String> = ["instance", "job"]

    /// Compares the names in an expression with those of a server; returns the metrics.
    private func check(
        _ expression: String, legend: String = "", _ samples: [String: [String: Set<String>]]
    ) -> [String] {
        let metrics = expression.matches(of: /syncline_\w+/).map { String($0.output) }
        #expect(!metrics.isEmpty, "\(expression)")
        for metric in metrics { #expect(samples[metric] != nil, "the server has no \(metric)") }
        let known = metrics.reduce(into: Self.added) { $0.formUnion(samples[$1]?.keys.map { $0 } ?? []) }
        let groups = expression.matches(of: /by \(([^)]*)\)/).flatMap { $0.1.split(separator: ",") }
        let shown = legend.matches(of: /\{\{(\w+)\}\}/).map { String($0.1) }
        for label in groups.map({ $0.trimmingCharacters(in: .whitespaces) }) + shown {
            #expect(known.contains(label), "\(expression) has no label \(label)")
        }
        for match in expression.matches(of: /(\w+)(=~?)"([^"]*)"/) {
            let (label, value) = (String(match.1), String(match.3))
            #expect(known.contains(label), "\(expression) has no label \(label)")
            guard match.2 == "=" else { continue }
            let values = metrics.reduce(into: Set<String>()) { $0.formUnion(samples[$1]?[label] ?? []) }
            #expect(values.contains(value), "\(expression): \(label) is never \(value)")
        }
        return metrics
    }

    @Test func `every metric and label of the dashboard is one that the server exposes`() throws {
        let targets = elements(try dashboard()["panels"]).flatMap { elements($0["targets"]) }
        let samples = try samples()
        var shown: Set<String> = []
        for target in targets {
            let expression = try #require(target["expr"]?.string)
            shown.formUnion(check(expression, legend: target["legendFormat"]?.string ?? "", samples))
        }
        // A histogram is shown by its buckets.
        let left = Set(samples.keys).subtracting(shown).subtracting([
            "syncline_request_seconds_sum", "syncline_request_seconds_count",
        ])
        #expect(left.isEmpty, "the dashboard does not show \(left.sorted())")
    }

    @Test func `the alerts of the operator's page are about metrics that the server exposes`() throws {
        let page = Self.root.appending(path: "Sources/Syncline/Syncline.docc/Operating-the-server.md")
        let text = try String(contentsOf: page, encoding: .utf8)
        let expressions = text.matches(of: /`([^`]*syncline_[^`]*)`/).map { String($0.1) }
        #expect(expressions.count > 10)
        let samples = try samples()
        for expression in expressions where expression.contains(where: { "(>".contains($0) }) {
            _ = check(expression, samples)
        }
    }

    @Test func `its panels have places and numbers of their own`() throws {
        let panels = elements(try dashboard()["panels"])
        #expect(panels.filter { $0["type"] == "row" }.count == 6)
        var (cells, numbers): (Set<String>, Set<Value>) = ([], [])
        for panel in panels {
            #expect(numbers.insert(panel["id"] ?? .null).inserted, "\(panel["title"] ?? .null)")
            func number(_ name: String) -> Int {
                if case .integer(let number)? = panel["gridPos"]?[name] { Int(number) } else { -1 }
            }
            #expect(number("x") + number("w") <= 24)
            for x in number("x")..<number("x") + number("w") {
                for y in number("y")..<number("y") + number("h") { #expect(cells.insert("\(x) \(y)").inserted) }
            }
        }
    }
}
