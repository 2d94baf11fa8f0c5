// Logs made from a seed: small segments, every durability, transactions over many frames, records larger than a frame,
// payloads full of zeros, rolls, several sessions, closed and dropped.

#if !FUZZING
    import SegmentLog
    import LogTesting
#endif

/// A generator with the same numbers for the same seed (SplitMix64), or with numbers that a fuzzer chose.
struct SeededRandom: RandomNumberGenerator {
    private var chance: Chance
    private var bytes: ArraySlice<UInt8> = []

    init(seed: UInt64) { chance = Chance(seed: seed) }

    init(bytes: ArraySlice<UInt8>) {
        chance = Chance(seed: 0)
        self.bytes = bytes
    }

    mutating func next() -> UInt64 {
        if !bytes.isEmpty {
            let low = bytes.removeFirst()
            return UInt64(low) | UInt64(bytes.popFirst() ?? 0) << 8
        }
        return chance.next()
    }

    mutating func below(_ bound: Int) -> Int { Int(next() % UInt64(max(1, bound))) }

    /// Returns true once in `times`, on average.
    mutating func once(in times: Int) -> Bool { below(times) == 0 }
}

/// A clock that stands still, with one identity.
struct StillClock: LogClock {
    var time: Int64 = 1_700_000_000_000
    var identity = LogIdentity(high: 0x0706_0504_0302_0100, low: 0x0F0E_0D0C_0B0A_0908)

    func now() -> WallTime { WallTime(rawValue: time) }
    func newIdentity() -> LogIdentity { identity }
}

enum RandomLog {
    /// Up to `batches` batches in each session; `hasLarge` lets records be larger than a frame.
    static func make(
        seed: UInt64, batches: Int = 30, hasLarge: Bool = true
    ) throws(LogError) -> MemoryStorage {
        var random = SeededRandom(seed: seed)
        let storage = MemoryStorage()
        var configuration = LogConfiguration()
        configuration.syncsWhenIdle = false
        configuration.segmentSize = .kibibytes(UInt64(4 << random.below(4)))
        configuration.zeroAhead = .kibibytes(random.once(in: 3) ? 0 : 4)
        // Long runs of zeros are stored, and masked.
        configuration.compresses = !random.once(in: 3)
        var clock = StillClock()
        for session in 0...random.below(3) {
            clock.time += Int64(random.below(5000)) - 100
            let writer = try LogWriter.open(
                storage, creating: session == 0 ? .always : .never, configuration: configuration, clock: clock)
            for _ in 0..<1 + random.below(batches) {
                try writer.append(
                    batch(&random, hasLarge: hasLarge), durability: [.durable, .ordered, .buffered][random.below(3)])
                if random.once(in: 12) { try writer.flush() }
                if random.once(in: 20) { try writer.attest() }
                if random.once(in: 20) { try writer.roll() }
                if random.once(in: 10) { try writer.setNote(LogNote(through: writer.lastSequence, bytes: [1, 2, 3])) }
            }
            // A writer that is dropped leaves the log as a crash of the process would.
            if random.once(in: 2) { try writer.close() }
        }
        return storage
    }

    private static func batch(_ random: inout SeededRandom, hasLarge: Bool) -> RecordBatch {
        var batch = RecordBatch()
        if hasLarge && random.once(in: 40) {
            batch.append(record(&random, of: 66_000 + random.below(140_000)))
        }
        if hasLarge && random.once(in: 40) {
            for _ in 0..<200 { batch.append(record(&random, of: 300 + random.below(500))) }
        }
        for _ in 0...random.below(6) {
            batch.append(record(&random, of: random.once(in: 10) ? random.below(5000) : random.below(120)))
        }
        return batch
    }

    private static func record(_ random: inout SeededRandom, of length: Int) -> [UInt8] {
        switch random.below(5) {
        case 0: return (0..<length).map { _ in UInt8(truncatingIfNeeded: random.next()) }
        case 1:
            // Islands of noise among zeros, or among the byte that masking would turn into zeros.
            let sea: UInt8 = random.once(in: 3) ? 0xA5 : 0
            let stride = 200 + random.below(500)
            return (0..<length).map { $0 % stride < 60 ? UInt8(truncatingIfNeeded: random.next()) : sea }
        default:
            let words = ["title", "{\"done\":false}", "2024-05-01", "Buy milk", "list-7"]
            var text: [UInt8] = []
            while text.count < length { text += Array(words[random.below(words.count)].utf8) + [0x20] }
            return Array(text.prefix(length))
        }
    }
}
