// A log on a disk that fails a call: what was requested, how each call ended, and whether the log on the recovered
// disk matches: everything acknowledged, in order, with refused transactions whole or not at all.

import LogTesting
import SegmentLog

final class IOErrorPlay {
    struct Transaction {
        var records: [[UInt8]]
        /// The numbers it was given; nil if it was refused.
        var range: SequenceRange?
    }

    let disk: MemoryStorage
    private(set) var transactions: [Transaction] = []
    private(set) var acknowledged: UInt64 = 0
    private(set) var writer: LogWriter?
    /// What the calls threw.
    private(set) var errors: [LogError] = []
    private var source: RecordSource
    private let clock: TestClock
    private let configuration: LogConfiguration

    init(_ disk: MemoryStorage, seed: UInt64, configuration: LogConfiguration = .small(zeroAhead: 1024)) {
        self.disk = disk
        self.configuration = configuration
        source = RecordSource(seed: seed)
        clock = TestClock(seed: seed)
    }

    /// Continues with what another play left, on another disk.
    init(_ other: IOErrorPlay, on disk: MemoryStorage) {
        self.disk = disk
        configuration = other.configuration
        source = other.source
        clock = other.clock
        transactions = other.transactions
        acknowledged = other.acknowledged
    }

    // MARK: Calls

    /// One call that may fail, but only with the log's errors.
    func attempt(_ what: () throws -> Void) throws {
        do {
            try what()
        } catch let error as LogError {
            try require(!error.message.isEmpty, "an error without a sentence: \(error.code)")
            errors.append(error)
        }
        if let writer {
            acknowledged = max(acknowledged, writer.durableThrough.rawValue)
        }
    }

    func open() throws {
        writer = nil
        try attempt { writer = try LogWriter.open(disk, configuration: configuration, clock: clock) }
        guard let last = writer?.lastSequence else { return }
        try require(last.rawValue >= acknowledged, "invariant 1: reopened at \(last), acknowledged @\(acknowledged)")
        // What a failed sync took back was not acknowledged, and must not return.
        transactions.removeAll { $0.range.map { $0.first > last } ?? false }
    }

    /// Appends records of at most about this many bytes each; tries others if the disk was full for a moment.
    func append(_ count: Int, limit: Int, _ durability: Durability = .durable) throws {
        let before = errors.count
        try submit(count, limit, durability)
        guard errors.count > before, errors.last?.code == .diskFull, disk.counts.faults == 1 else { return }
        let refused = errors.count
        try submit(count, limit, durability)
        try require(
            errors.count == refused || disk.counts.faults > 1,
            "with room again the writer still refuses: \(errors.last?.description ?? "")")
    }

    private func submit(_ count: Int, _ limit: Int, _ durability: Durability) throws {
        guard let writer else { return }
        let mark = UInt8(transactions.count + 1)
        let records = (0..<count).map { _ in [mark] + source.record(limit: limit) }
        var range: SequenceRange?
        try attempt { range = try writer.append(RecordBatch(records: records), durability: durability) }
        transactions.append(Transaction(records: records, range: range))
        if let range, durability == .durable { acknowledged = max(acknowledged, range.last.rawValue) }
    }

    func use(_ body: (LogWriter) throws -> Void) throws {
        guard let writer else { return }
        try attempt { try body(writer) }
    }

    func close() throws {
        try use { try $0.close() }
        writer = nil
    }

    func checkpoint() throws {
        try use { writer in
            guard writer.lastSequence > .none else { return }
            var checkpoint = try CheckpointWriter.begin(for: writer, through: writer.lastSequence, clock: clock)
            for size in [10, 3000] {
                let block = [UInt8](repeating: 7, count: size)
                _ = try block.withUnsafeBytes { bytes throws(LogError) in try checkpoint.append(bytes) }
            }
            try checkpoint.finish(note: [9])
        }
    }

    func collect() throws {
        try use { writer in _ = try writer.collect(keepingFrom: writer.lastSequence) }
    }

    func letGo() { writer = nil }

    // MARK: The result

    /// Opens the log on a healthy disk and compares it with what was requested.
    func check(_ healthy: MemoryStorage) throws {
        let writer = try LogWriter.open(healthy, configuration: configuration, clock: clock)
        let last = writer.lastSequence.rawValue
        try require(last >= acknowledged, "invariant 1: @\(acknowledged) was acknowledged, the log ends at @\(last)")
        let reading = try TortureReader.read(healthy)
        if let error = reading.error { throw error }
        try require(
            reading.records.isEmpty ? last == 0 || reading.first == 0 : reading.last == last,
            "the reader shows @\(reading.first)…@\(reading.last) of a log that ends at @\(last)")
        guard !reading.records.isEmpty else { return try require(acknowledged == 0, "invariant 1: nothing is left") }
        try match(reading)
    }

    /// Walks transactions and records together. A refused transaction is there as a whole or not at all; an accepted
    /// one is missing only together with all later ones.
    private func match(_ reading: Reading) throws {
        var next = 0
        for (index, transaction) in transactions.enumerated() {
            if let range = transaction.range, range.last.rawValue < reading.first { continue }
            if next == reading.records.count {
                guard let range = transaction.range else { continue }
                try require(range.first.rawValue > acknowledged, "invariant 1: transaction \(index) was acknowledged")
                continue
            }
            let found = reading.records[next...].prefix(transaction.records.count)
            if found.elementsEqual(transaction.records) {
                let first = reading.first + UInt64(next)
                try require(
                    transaction.range.map { $0.first.rawValue == first } ?? true,
                    "invariant 4: transaction \(index) got \(transaction.range.map { "\($0)" } ?? ""), and is at @\(first)"
                )
                next += found.count
            } else {
                try require(
                    transaction.range == nil,
                    "invariant 2: @\(reading.first + UInt64(next)) is not transaction \(index)'s")
            }
        }
        try require(
            next == reading.records.count, "invariants 3, 6: @\(reading.first + UInt64(next)) belongs to no transaction"
        )
    }
}
