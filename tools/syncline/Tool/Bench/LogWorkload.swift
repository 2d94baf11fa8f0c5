// The workload of `bench log`, and its measurements.

import SegmentLog
import SynclineGround

/// Records to append and read back.
struct LogWorkload: Sendable {
    var records: Int
    var size: Int
    var batch: Int
    var writers: Int
    var durability: Durability

    /// Runs the workload in an empty directory.
    nonisolated(nonsending) func run(
        _ storage: POSIXStorage, _ clock: any LogClock, appended: (Int) -> Void
    ) async throws -> LogFigures {
        let writer = try LogWriter.open(storage, creating: .always, clock: clock)
        var figures = LogFigures(workload: self)
        let begin = SystemSource.instant()
        if writers == 1 {
            try append(writer, records, seed: 0, into: &figures.latencies, appended)
        } else {
            figures.latencies = try await appendTogether(writer)
        }
        try writer.flush()
        figures.append = Figure(begin.duration(to: SystemSource.instant()), records: records, bytes: records * size)
        figures.statistics = writer.statistics
        try writer.close()
        figures.frameBytes = try LogInspection(storage).verify().segments.reduce(0) { $0 + $1.length.rawValue }
        figures.scan = try scan(storage)
        return figures
    }

    private func append(
        _ writer: LogWriter, _ count: Int, seed: UInt64, into latencies: inout [Duration], _ appended: (Int) -> Void
    ) throws {
        var rows = Rows(seed: seed, size: size)
        var left = count
        while left > 0 {
            let batch = rows.batch(min(batch, left))
            let begin = SystemSource.instant()
            try writer.append(batch, durability: durability)
            latencies.append(begin.duration(to: SystemSource.instant()))
            left -= batch.count
            appended(batch.count * size)
        }
    }

    private nonisolated(nonsending) func appendTogether(_ writer: LogWriter) async throws -> [Duration] {
        let workload = self
        return try await withThrowingTaskGroup(of: [Duration].self) { group in
            for index in 0..<writers {
                let share = records / writers + (index < records % writers ? 1 : 0)
                group.addTask { try await workload.appendShare(writer, share, seed: UInt64(index)) }
            }
            return try await group.reduce(into: []) { $0 += $1 }
        }
    }

    @concurrent private func appendShare(_ writer: LogWriter, _ count: Int, seed: UInt64) async throws -> [Duration] {
        var rows = Rows(seed: seed, size: size)
        var latencies: [Duration] = []
        var left = count
        while left > 0 {
            let batch = rows.batch(min(batch, left))
            let begin = SystemSource.instant()
            try await writer.commit(batch, durability: durability)
            latencies.append(begin.duration(to: SystemSource.instant()))
            left -= batch.count
        }
        return latencies
    }

    private func scan(_ storage: POSIXStorage) throws -> Figure {
        let begin = SystemSource.instant()
        var cursor = try LogReader.open(storage).cursor()
        var records = 0
        var bytes = 0
        while try cursor.nextFrame() {
            cursor.forEachRecord { _, record in
                records += 1
                bytes += record.byteCount
            }
        }
        return Figure(begin.duration(to: SystemSource.instant()), records: records, bytes: bytes)
    }
}

/// An amount of work and the time it took.
struct Figure: Sendable {
    var seconds = 0.0
    var records = 0
    var bytes = 0
    /// The number of allocations, if they are counted.
    var allocations: UInt64?

    init() {}

    init(_ duration: Duration, records: Int, bytes: Int) {
        seconds = max(1e-9, duration / .seconds(1))
        self.records = records
        self.bytes = bytes
    }

    var perSecond: Double { seconds > 0 ? Double(records) / seconds : 0 }
    var bytesPerSecond: Double { seconds > 0 ? Double(bytes) / seconds : 0 }
}

/// The results.
struct LogFigures: Sendable {
    var workload: LogWorkload
    var append = Figure()
    var scan = Figure()
    var latencies: [Duration] = []
    var statistics = WriterStatistics()
    var frameBytes: UInt64 = 0

    var durability: String { "\(workload.durability)" }
    var syncsPerCommit: Double { Double(statistics.dataSyncs) / Double(max(1, statistics.batches)) }
    var bytesPerRecord: Double { Double(frameBytes) / Double(max(1, workload.records)) }
    var writtenPerRecord: Double { Double(statistics.bytesWritten) / Double(max(1, workload.records)) }

    /// The microseconds within which this percentage of commits was done.
    func percentile(_ percent: Int) -> Double {
        guard !latencies.isEmpty else { return 0 }
        let sorted = latencies.sorted()
        return sorted[min(sorted.count - 1, sorted.count * percent / 100)] / .microseconds(1)
    }

    var json: JSONValue {
        [
            "records": .number(workload.records),
            "recordBytes": .number(workload.size),
            "batch": .number(workload.batch),
            "writers": .number(workload.writers),
            "durability": .string(durability),
            "append": [
                "seconds": .number(append.seconds, places: 6),
                "recordsPerSecond": .number(append.perSecond, places: 1),
                "bytesPerSecond": .number(append.bytesPerSecond, places: 0),
                "commits": .number(statistics.batches),
                "p50": .number(percentile(50), places: 1),
                "p95": .number(percentile(95), places: 1),
                "p99": .number(percentile(99), places: 1),
                "syncs": .number(statistics.dataSyncs),
                "syncsPerCommit": .number(syncsPerCommit, places: 4),
                "bytesPerRecord": .number(bytesPerRecord, places: 2),
                "writtenBytesPerRecord": .number(writtenPerRecord, places: 2),
            ],
            "scan": [
                "seconds": .number(scan.seconds, places: 6),
                "recordsPerSecond": .number(scan.perSecond, places: 1),
                "bytesPerSecond": .number(scan.bytesPerSecond, places: 0),
            ],
        ]
    }
}

/// Records that look like rows: words that repeat, and numbers that do not.
struct Rows {
    private var state: UInt64
    private let size: Int
    private var number: UInt64 = 0
    private static let words = [
        "milk", "bread", "call", "letter", "garden", "monday", "meeting", "paper", "invoice", "train",
    ]

    init(seed: UInt64, size: Int) {
        state = seed &* 0x9e37_79b9_7f4a_7c15 &+ 0x1234_5678_9abc_def1
        self.size = size
    }

    mutating func batch(_ count: Int) -> RecordBatch {
        var batch = RecordBatch()
        for _ in 0..<count { batch.append(row()) }
        return batch
    }

    private mutating func random() -> UInt64 {
        state ^= state << 13
        state ^= state >> 7
        state ^= state << 17
        return state
    }

    private mutating func row() -> [UInt8] {
        number += 1
        var text = #"{"id":""# + String(random(), radix: 16) + #"","number":\#(number),"text":""#
        while text.utf8.count < size - 2 { text += Rows.words[Int(random() % UInt64(Rows.words.count))] + " " }
        return Array(text.utf8.prefix(max(0, size - 2))) + Array(#""}"#.utf8.prefix(min(2, size)))
    }
}
