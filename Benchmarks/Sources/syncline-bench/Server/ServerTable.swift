// What was measured of a server: a line for each store.

struct ServerMeasurement: Codable, Sendable {
    var workload: String
    var store: String
    var round: Int
    var rate: Double
    var seconds: Double
    var microseconds50: Double?
    var microseconds99: Double?
    /// Processor time of the server for a unit.
    var processorMicroseconds: Double?
}

struct ServerTable: Sendable {
    let name: String
    let title: String
    let unit: String
    /// What is asked of the store in a file.
    var asked: Double?
    private(set) var measurements: [ServerMeasurement] = []

    init(_ workload: ServerWorkload, _ title: String, _ unit: String, asked: Double? = nil) {
        name = workload.rawValue
        self.title = title
        self.unit = unit
        self.asked = asked
    }

    mutating func add(_ measurement: ServerMeasurement) { measurements.append(measurement) }

    var text: String {
        var stores: [String] = []
        for measurement in measurements where !stores.contains(measurement.store) { stores.append(measurement.store) }
        let header = ["", unit, "p50 µs", "p99 µs", "server's CPU µs"]
        let lines = [header] + stores.map(cells)
        let widths = header.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
        let rows = lines.map { line in
            zip(line, widths).enumerated().map { column, cell in
                let padding = String(repeating: " ", count: cell.1 - cell.0.count)
                return column == 0 ? cell.0 + padding : padding + cell.0
            }.joined(separator: "  ")
        }
        var verdict: [String] = []
        if let asked, let rate = measurements.filter({ $0.store == "sqlite" }).map(\.rate).median {
            verdict = ["Asked: \(formatted(asked)) on SQLite: \(rate >= asked ? "met" : "missed")."]
        }
        return (["\(name): \(title)"] + rows + verdict).joined(separator: "\n")
    }

    private func cells(_ store: String) -> [String] {
        let rounds = measurements.filter { $0.store == store }
        func median(_ values: [Double?]) -> String { values.compactMap(\.self).median.map { formatted($0) } ?? "" }
        return [
            store, median(rounds.map(\.rate)), median(rounds.map(\.microseconds50)),
            median(rounds.map(\.microseconds99)), median(rounds.map(\.processorMicroseconds)),
        ]
    }
}
