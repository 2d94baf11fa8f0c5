// What was measured: one value for each round of each variant, gathered into rows and tables.

/// One round of one variant of one case.
struct Measurement: Codable, Sendable {
    var workload: String
    var engine: String
    var round: Int
    var records = 0
    var commits = 0
    var seconds = 0.0
    /// In the table's unit.
    var rate = 0.0
    var microseconds50: Double?
    var microseconds95: Double?
    var microseconds99: Double?
    /// Calls of fsync and fdatasync.
    var syncCalls: UInt64?
    /// Data syncs as the engine counts them.
    var ownDataSyncs: UInt64?
    var ownBytesWritten: UInt64?
    /// What the commits counted below are: the timed ones, or a pass of their own.
    var countedCommits: Int?
    var countedRecords: Int?
    var deviceFlushes: UInt64?
    var deviceBytes: UInt64?
    var diskBytes: Int?
    /// The number of records that take `diskBytes`.
    var diskRecords: Int?
    var peakMemory: Int?
}

/// One engine's line in a table.
struct Row: Sendable {
    let variant: EngineVariant
    var measurements: [Measurement] = []
    /// The rate as a multiple of the log's, each from two measurements taken one soon after the other.
    var ratiosToLog: [Double] = []
    var latency = Histogram()

    init(_ variant: EngineVariant) { self.variant = variant }

    var rate: Double? { measurements.map(\.rate).median }
    var seconds: Double? { measurements.map(\.seconds).median }

    /// The median over the rounds of a count per something.
    func median(_ count: KeyPath<Measurement, UInt64?>, per unit: KeyPath<Measurement, Int?>) -> Double? {
        ratios(count, per: unit).median
    }

    /// The least over the rounds, for counters that the whole machine shares: what others did can only add.
    func least(_ count: KeyPath<Measurement, UInt64?>, per unit: KeyPath<Measurement, Int?>) -> Double? {
        ratios(count, per: unit).min()
    }

    private func ratios(_ count: KeyPath<Measurement, UInt64?>, per unit: KeyPath<Measurement, Int?>) -> [Double] {
        measurements.compactMap { measurement in
            guard let count = measurement[keyPath: count], let unit = measurement[keyPath: unit], unit > 0 else {
                return nil
            }
            return Double(count) / Double(unit)
        }
    }

    var diskBytesPerRecord: Double? {
        measurements.compactMap { measurement in
            guard let bytes = measurement.diskBytes, let records = measurement.diskRecords, records > 0 else {
                return nil
            }
            return Double(bytes) / Double(records)
        }.median
    }

    var peakMemory: Int? { measurements.compactMap(\.peakMemory).max() }
}

/// A case of a workload: the same work by every variant.
struct Table: Sendable {
    /// What the rates are, and how the table shows them.
    enum Unit: String, Sendable {
        case records = "records/s"
        case megabytes = "MB/s"
        /// Shown as the time one opening takes; the rate is openings per second.
        case milliseconds = "ms"
    }

    let name: String
    let title: String
    let unit: Unit
    var rows: [Row]
    var notes: [String] = []

    init(_ name: String, _ title: String, _ unit: Unit, _ variants: [EngineVariant]) {
        self.name = name
        self.title = title
        self.unit = unit
        rows = variants.map(Row.init)
    }

    /// The row others are compared with.
    func row(_ engine: EngineName) -> Row? { rows.first { $0.variant == EngineVariant(engine) } }

    /// How fast a row is as a multiple of the log or the floor.
    func ratio(of row: Row, to engine: EngineName) -> Double? {
        guard let base = self.row(engine), row.variant != base.variant, let ratio = ratioToLog(row) else { return nil }
        return ratioToLog(base).map { ratio / $0 }
    }

    private func ratioToLog(_ row: Row) -> Double? {
        row.variant == EngineVariant(.log) ? 1 : row.ratiosToLog.median
    }

    /// Pairs rates with those of the log, taken in the same order.
    mutating func pairWithLog(_ rates: [(row: Int, rate: Double)]) {
        guard let log = rates.first(where: { rows[$0.row].variant == EngineVariant(.log) })?.rate, log > 0 else {
            return
        }
        for (row, rate) in rates where rows[row].variant != EngineVariant(.log) {
            rows[row].ratiosToLog.append(rate / log)
        }
    }

    /// The fastest of the SQLite rows.
    var bestSQLite: Row? {
        rows.filter { $0.variant.engine.isSQLite }.max { ($0.rate ?? 0) < ($1.rate ?? 0) }
    }
}
