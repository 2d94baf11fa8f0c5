// What was measured of stores: a table for each workload, Syncline's rate as a multiple of each peer's.

import Foundation

/// One round of one store of one workload.
struct StoreMeasurement: Codable, Sendable {
    var workload: String
    var store: String
    var round: Int
    /// Steps, or rows, a second.
    var rate: Double
    var seconds: Double
    var microseconds50: Double?
    var microseconds99: Double?
    var syncsPerStep: Double?
    var diskBytesPerRow: Double?
    var peakMemory: Int?
}

struct StoreTable: Sendable {
    let name: String
    let title: String
    let unit: String
    /// Whether a row shows the time of one step instead of a rate.
    var showsTime = false
    /// Syncline's target.
    var targets: [Target] = []
    private(set) var measurements: [StoreMeasurement] = []

    /// A multiple of a peer's rate.
    struct Target: Sendable {
        var of: String
        var isMet: @Sendable (StoreName) -> Bool
        var multiple: Double
    }

    init(_ name: String, _ title: String, _ unit: String) {
        self.name = name
        self.title = title
        self.unit = unit
    }

    mutating func add(_ measurement: StoreMeasurement) { measurements.append(measurement) }

    private func rounds(of store: StoreName) -> [StoreMeasurement] {
        measurements.filter { $0.store == store.rawValue }
    }

    /// The median of the rounds' ratios: two stores of one round ran minutes apart at most.
    private func ratio(of mine: StoreName, to store: StoreName) -> Double? {
        zip(rounds(of: mine), rounds(of: store)).map { $0.rate / $1.rate }.median
    }

    var text: String {
        let header = [
            "", showsTime ? "ms" : unit, "syncline is", "p50 µs", "p99 µs", "syncs/commit", "disk B/row", "memory MiB",
        ]
        let cells = StoreName.allCases.compactMap(cells)
        let shown = header.indices.filter { column in column < 2 || cells.contains { !$0[column].isEmpty } }
        let widths = shown.map { column in ([header] + cells).map { $0[column].count }.max() ?? 0 }
        let lines = ([header] + cells).map { line in
            zip(shown, widths).map { column, width in
                let padding = String(repeating: " ", count: width - line[column].count)
                return column == 0 ? line[column] + padding : padding + line[column]
            }.joined(separator: "  ")
        }
        return (["\(name): \(title)"] + lines + verdicts).joined(separator: "\n")
    }

    private func cells(_ store: StoreName) -> [String]? {
        let rounds = rounds(of: store)
        guard !rounds.isEmpty else { return nil }
        let main = showsTime ? rounds.map { $0.seconds * 1000 }.median : rounds.map(\.rate).median
        let numbers: [Double?] = [
            rounds.compactMap(\.microseconds50).median, rounds.compactMap(\.microseconds99).median,
            rounds.compactMap(\.syncsPerStep).median, rounds.compactMap(\.diskBytesPerRow).median,
            rounds.compactMap(\.peakMemory).max().map { Double($0) / Double(1 << 20) },
        ]
        let multiple = store == .syncline ? nil : ratio(of: .syncline, to: store).map { formatted($0) + "×" }
        return [store.rawValue, main.map { formatted($0) } ?? "", multiple ?? ""]
            + numbers.map { $0.map { formatted($0) } ?? "" }
    }

    private var verdicts: [String] {
        targets.compactMap { target in
            let others = StoreName.allCases.filter(target.isMet)
            let verdicts = StoreName.allCases.filter(\.isSyncline).compactMap { mine -> String? in
                guard let least = others.compactMap({ ratio(of: mine, to: $0) }).min() else { return nil }
                return "\(mine.rawValue) \(formatted(least))×, \(least >= target.multiple ? "met" : "missed")"
            }
            if verdicts.isEmpty { return nil }
            return "Asked: \(formatted(target.multiple))× \(target.of); here: \(verdicts.joined(separator: "; "))."
        }
    }
}
