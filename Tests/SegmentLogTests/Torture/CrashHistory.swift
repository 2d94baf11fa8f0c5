// A random history of a log, from a seed: what is appended and how, when the log rolls, closes, is abandoned,
// checkpointed and collected. It runs on a disk that may fail at any call; the oracle records what was submitted and
// acknowledged.

import LogTesting
import SegmentLog

/// One history, run repeatedly with the disk failing at another call each time.
struct CrashHistory {
    enum Step {
        case append([[UInt8]], Durability)
        case flush, attest, roll
        /// Closes and opens again.
        case close
        /// Dropped without closing, as by a killed process, and opened again.
        case abandon
        case checkpoint, collect
    }

    let seed: UInt64
    let configuration: LogConfiguration
    let granularity: MemoryStorage.Granularity
    let steps: [Step]

    init(seed: UInt64, large: Bool) {
        var source = RecordSource(seed: seed)
        self.seed = seed
        granularity = source.below(4) == 0 ? .page : .sector
        configuration = .small(
            segment: [4096, 4096, 6144, 16_384][source.below(4)], zeroAhead: [0, 512, 1024, 4096][source.below(4)])
        var steps: [Step] = []
        for _ in 0..<3 + source.below(8) { steps.append(CrashHistory.step(&source, large: large)) }
        self.steps = steps
    }

    private static func step(_ source: inout RecordSource, large: Bool) -> Step {
        switch source.below(24) {
        case 0: return .flush
        case 1: return .attest
        case 2: return .roll
        case 3: return .close
        case 4, 5: return .abandon
        case 6: return .checkpoint
        case 7: return .collect
        default:
            let isLarge = large && source.below(5) == 0
            let limit = isLarge ? 80_000 : [40, 300, 1500][source.below(3)]
            let records = (0...source.below(isLarge ? 2 : 4)).map { _ in source.record(limit: limit) }
            return .append(records, [.durable, .durable, .ordered, .buffered][source.below(4)])
        }
    }
}

/// What was submitted to a log, and what it promised.
struct CrashOracle {
    var records: [[UInt8]] = []
    /// Where transactions end.
    var boundaries: Set<UInt64> = [0]
    var acknowledged: UInt64 = 0
    /// The latest record with which the log may begin.
    var latestFloor: UInt64 = 1
    /// Whether a commit ended with an error: it may be there as a whole.
    var failed = 0

    mutating func submit(_ batch: [[UInt8]]) {
        records += batch
        boundaries.insert(UInt64(records.count))
    }
}

/// A history while it runs.
final class CrashPlay {
    let history: CrashHistory
    let disk: MemoryStorage
    private(set) var oracle = CrashOracle()
    private var writer: LogWriter?
    private let clock: TestClock

    /// Calls that change what a crash can leave.
    static let changes: Set<CallKind> = [
        .open, .write, .sync, .syncDirectory, .resize, .rename, .remove, .lock, .createDirectory,
    ]

    init(_ history: CrashHistory) {
        self.history = history
        disk = MemoryStorage(granularity: history.granularity)
        clock = TestClock(seed: history.seed)
    }

    /// Runs until a call fails or the history ends; returns whether it reached its end.
    func run(dyingAtCall call: Int?) throws -> Bool {
        if let call { disk.arm(FaultPlan(call: call, of: CrashPlay.changes, persists: true)) }
        do {
            try open()
            for step in history.steps { try perform(step) }
            return true
        } catch let error as LogError {
            guard call != nil else { throw TortureFailure("seed \(history.seed): a healthy disk failed: \(error)") }
            return false
        }
    }

    private func open() throws {
        writer = nil
        let writer = try LogWriter.open(disk, configuration: history.configuration, clock: clock)
        self.writer = writer
        try require(
            writer.lastSequence.rawValue == UInt64(oracle.records.count),
            "seed \(history.seed): reopened without a crash at \(writer.lastSequence), not @\(oracle.records.count)")
        note(writer)
    }

    private func note(_ writer: LogWriter) {
        oracle.acknowledged = max(oracle.acknowledged, writer.durableThrough.rawValue)
    }

    private func perform(_ step: CrashHistory.Step) throws {
        if case .abandon = step { return try open() }
        guard let writer else { return }
        switch step {
        case .append(let records, let durability):
            oracle.submit(records)
            try writer.append(RecordBatch(records: records), durability: durability)
            if durability == .durable { oracle.acknowledged = UInt64(oracle.records.count) }
        case .flush:
            try writer.flush()
            oracle.acknowledged = UInt64(oracle.records.count)
        case .attest: try writer.attest()
        case .roll: try writer.roll()
        case .close:
            try writer.close()
            oracle.acknowledged = UInt64(oracle.records.count)
            return try open()
        case .abandon: break
        case .checkpoint: try checkpoint(writer)
        case .collect:
            oracle.latestFloor = max(1, oracle.records.isEmpty ? 1 : UInt64(oracle.records.count))
            _ = try writer.collect(keepingFrom: SequenceNumber(rawValue: oracle.latestFloor))
        }
        note(writer)
    }

    private func checkpoint(_ writer: LogWriter) throws {
        guard writer.lastSequence > .none else { return }
        var checkpoint = try CheckpointWriter.begin(for: writer, through: writer.lastSequence, clock: clock)
        let block = Array("state through \(writer.lastSequence)".utf8)
        _ = try block.withUnsafeBytes { bytes throws(LogError) in try checkpoint.append(bytes) }
        try checkpoint.finish(note: [1, 2, 3])
    }
}
