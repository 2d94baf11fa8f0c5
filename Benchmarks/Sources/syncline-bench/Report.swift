// The results in words: aligned tables for people, lines of JSON for programs.

import Foundation

extension MicroFloors {
    var lines: [String] {
        [
            "write + fdatasync of 4 KiB, median: \(formatted(commitIntoZeros)) µs into zeros, "
                + "\(formatted(commitGrowing)) µs at the end of a growing file",
            "one core: memcpy \(formatted(copyGigabytes)) GB/s, CRC32C \(formatted(checksumGigabytes)) GB/s, "
                + "LZ4 \(formatted(compressMegabytes)) MB/s (ratio \(formatted(compressionRatio))), "
                + "LZ4 decode \(formatted(decompressMegabytes)) MB/s",
        ]
    }
}

extension Table {
    var text: String {
        let header = [
            "", unit == .milliseconds ? "open ms" : unit.rawValue, "vs log", "vs floor", "p50 µs", "p95 µs", "p99 µs",
            "syncs/commit", "flushes/commit", "device B/rec", "disk B/rec", "memory MiB",
        ]
        let cells = rows.filter { !$0.measurements.isEmpty }.map(cells)
        // A column without any figure is left out.
        let shown = header.indices.filter { column in column < 2 || cells.contains { !$0[column].isEmpty } }
        let widths = shown.map { column in ([header] + cells).map { $0[column].count }.max() ?? 0 }
        let lines = ([header] + cells).map { line in
            zip(shown, widths).map { column, width in
                let padding = String(repeating: " ", count: width - line[column].count)
                return column == 0 ? line[column] + padding : padding + line[column]
            }.joined(separator: "  ")
        }
        return (["\(name): \(title)"] + lines + verdicts + notes).joined(separator: "\n")
    }

    private func cells(_ row: Row) -> [String] {
        let main = unit == .milliseconds ? row.seconds.map { $0 * 1000 } : row.rate
        let latency = { quantile in row.latency.microseconds(atQuantile: quantile) }
        let numbers: [Double?] = [
            main, ratio(of: row, to: .log), ratio(of: row, to: .floor), latency(0.5), latency(0.95), latency(0.99),
            row.syncsPerCommit, row.least(\.deviceFlushes, per: \.countedCommits),
            row.least(\.deviceBytes, per: \.countedRecords), row.diskBytesPerRecord,
            row.peakMemory.map { Double($0) / Double(1 << 20) },
        ]
        return [row.variant.label]
            + numbers.enumerated().map { index, number in
                guard let number else { return "" }
                return (index == 1 || index == 2) ? formatted(number) + "×" : formatted(number)
            }
    }

    /// What the table says about the log.
    private var verdicts: [String] {
        guard let log = row(.log), let logRate = log.rate else { return [] }
        var verdicts: [String] = []
        let peers = rows.filter { ![.log, .floor].contains($0.variant.engine) && $0.rate != nil }
        if let peer = peers.max(by: { ($0.rate ?? 0) < ($1.rate ?? 0) }), let ratio = ratio(of: peer, to: .log) {
            verdicts.append("The log is \(formatted(1 / ratio))× the fastest peer, \(peer.variant.label).")
        }
        if let best = bestSQLite,
            best.variant.engine != .sqliteRowid || rows.count(where: { $0.variant.engine.isSQLite }) > 1,
            let ratio = ratio(of: best, to: .log)
        {
            verdicts.append("SQLite's best is \(best.variant.label): the log is \(formatted(1 / ratio))× that.")
        }
        return logRate > 0 ? verdicts : []
    }
}

extension Row {
    var syncsPerCommit: Double? {
        measurements.compactMap { measurement in
            guard let calls = measurement.syncCalls, measurement.commits > 0 else { return nil }
            return Double(calls) / Double(measurement.commits)
        }.median
    }
}

/// Three or four digits that mean something, with thousands apart.
func formatted(_ value: Double) -> String {
    switch value.magnitude {
    case 1000...: formatted(Int(value.rounded()))
    case 100...: String(format: "%.0f", value)
    case 10...: String(format: "%.1f", value)
    case 0.095...: String(format: "%.2f", value)
    case 0: "0"
    default: String(format: "%.3f", value)
    }
}

func formatted(bytes: Double) -> String { formatted(bytes / Double(1 << 20)) + " MiB" }

/// A count, with thousands apart.
func formatted(_ number: Int) -> String {
    let digits = Array(String(number))
    return digits.indices.map { index in
        let separated = index > 0 && (digits.count - index).isMultiple(of: 3) && digits[index - 1] != "-"
        return (separated ? "," : "") + String(digits[index])
    }.joined()
}

/// The machine, then every measurement, then every row of the tables.
func jsonLines(_ machine: Machine, _ floors: MicroFloors, _ tables: [Table]) throws -> String {
    struct Line<Value: Encodable>: Encodable {
        var kind: String
        var value: Value
    }
    struct Summary: Encodable {
        var workload: String
        var engine: String
        var unit: String
        var rate: Double?
        var ratioToLog: Double?
        var ratioToFloor: Double?
        var microseconds50: Double?
        var microseconds95: Double?
        var microseconds99: Double?
        var syncsPerCommit: Double?
        var flushesPerCommit: Double?
        var deviceBytesPerRecord: Double?
        var diskBytesPerRecord: Double?
        var peakMemory: Int?
    }
    let encoder = JSONEncoder()
    encoder.outputFormatting = .sortedKeys
    var lines: [String] = []
    func add(_ kind: String, _ value: some Encodable) throws {
        lines.append(String(decoding: try encoder.encode(Line(kind: kind, value: value)), as: UTF8.self))
    }
    try add("machine", machine)
    try add("floors", floors)
    for table in tables {
        for row in table.rows {
            for measurement in row.measurements { try add("round", measurement) }
            let unit = table.unit == .milliseconds ? "openings/s" : table.unit.rawValue
            var summary = Summary(workload: table.name, engine: row.variant.label, unit: unit)
            summary.rate = row.rate
            summary.ratioToLog = table.ratio(of: row, to: .log)
            summary.ratioToFloor = table.ratio(of: row, to: .floor)
            summary.microseconds50 = row.latency.microseconds(atQuantile: 0.5)
            summary.microseconds95 = row.latency.microseconds(atQuantile: 0.95)
            summary.microseconds99 = row.latency.microseconds(atQuantile: 0.99)
            summary.syncsPerCommit = row.syncsPerCommit
            summary.flushesPerCommit = row.least(\.deviceFlushes, per: \.countedCommits)
            summary.deviceBytesPerRecord = row.least(\.deviceBytes, per: \.countedRecords)
            summary.diskBytesPerRecord = row.diskBytesPerRecord
            summary.peakMemory = row.peakMemory
            try add("summary", summary)
        }
    }
    return lines.joined(separator: "\n") + "\n"
}
