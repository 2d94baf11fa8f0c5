// One metric, in the text format of Prometheus.

struct Measure: Sendable {
    enum Kind: String, Sendable {
        case counter, gauge
    }

    struct Sample: Sendable {
        var labels: [(name: String, value: String)] = []
        var value: Double
    }

    let name: String
    let help: String
    let kind: Kind
    var samples: [Sample]

    init(_ name: String, _ kind: Kind, _ help: String, _ samples: [Sample]) {
        self.name = "syncline_" + name
        self.help = help
        self.kind = kind
        self.samples = samples
    }

    init(_ name: String, _ kind: Kind, _ help: String, _ value: Double) {
        self.init(name, kind, help, [Sample(value: value)])
    }

    init(_ name: String, _ kind: Kind, _ help: String, _ value: Int) {
        self.init(name, kind, help, Double(value))
    }

    /// With one label, and a sample for each of its values.
    init(_ name: String, _ kind: Kind, _ help: String, by label: String, _ values: [(value: String, count: Int)]) {
        self.init(name, kind, help, values.map { Sample(labels: [(label, $0.value)], value: Double($0.count)) })
    }

    /// The same with another label.
    func labelled(_ name: String, _ value: String) -> Measure {
        var measure = self
        for place in samples.indices { measure.samples[place].labels.insert((name, value), at: 0) }
        return measure
    }

    var lines: [String] {
        ["# HELP \(name) \(help)", "# TYPE \(name) \(kind.rawValue)"]
            + samples.map { sample in
                let labels = sample.labels.map { "\($0.name)=\"\($0.value)\"" }.joined(separator: ",")
                return "\(name)\(labels.isEmpty ? "" : "{\(labels)}") \(Measure.text(sample.value))"
            }
    }

    private static func text(_ value: Double) -> String {
        Int64(exactly: value).map { String($0) } ?? "\(value)"
    }
}
