// Shared by the torture checks: the failure they throw (so that the runner of breakages can call them, too), a clock
// and settings that make every run the same, and one way to read a whole log and compare it with what was written.

import LogTesting
import SegmentLog
import SynclineGround

#if canImport(Darwin)
    import Darwin
#else
    import Glibc
#endif

/// A rule of the log was broken; the message says which, where and with which seed.
struct TortureFailure: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// Throws unless the condition holds.
func require(_ condition: Bool, _ message: @autoclosure () -> String) throws {
    if !condition { throw TortureFailure(message()) }
}

/// A clock of its own: each call adds a millisecond, and identities come from the seed.
final class TestClock: LogClock {
    private let state: Mutex<(time: Int64, numbers: Chance)>

    init(seed: UInt64 = 1, start: Int64 = 1_700_000_000_000) {
        state = Mutex((start, Chance(seed: seed)))
    }

    func now() -> WallTime {
        state.withLock { state in
            state.time += 1
            return WallTime(rawValue: state.time)
        }
    }

    func set(_ time: Int64) {
        state.withLock { $0.time = time }
    }

    func newIdentity() -> LogIdentity {
        state.withLock { state in LogIdentity(high: state.numbers.next(), low: state.numbers.next()) }
    }
}

extension LogConfiguration {
    /// Small files, and no background work.
    static func small(
        segment: UInt64 = 4096, zeroAhead: UInt64 = 4096
    ) -> LogConfiguration {
        var configuration = LogConfiguration()
        configuration.segmentSize = .bytes(segment)
        configuration.zeroAhead = .bytes(zeroAhead)
        configuration.syncsWhenIdle = false
        return configuration
    }
}

extension LogWriter {
    /// Opens with a test's clock and small files.
    static func small(
        _ storage: any LogStorage, creating creation: LogCreation = .ifMissing,
        _ configuration: LogConfiguration = .small(), seed: UInt64 = 1
    ) throws(LogError) -> LogWriter {
        try open(storage, creating: creation, configuration: configuration, clock: TestClock(seed: seed))
    }
}

extension RecordBatch {
    init(records: [[UInt8]]) {
        self.init()
        for record in records { append(record) }
    }
}

/// What a reader found: records by their numbers, in order, up to the error that stopped it.
struct Reading: Equatable {
    var first: UInt64 = 0
    var records: [[UInt8]] = []
    var holes: [SequenceRange] = []
    var error: LogError?

    var last: UInt64 { first == 0 ? 0 : first + UInt64(records.count) - 1 }
}

enum TortureReader {
    /// Calls `visit` with every record; throws what the reader throws.
    static func forEach(
        _ storage: any LogStorage, showing visibility: LogReader.Visibility = .written, from: UInt64? = nil,
        _ visit: (UInt64, UnsafeRawBufferPointer) throws -> Void
    ) throws {
        let reader = try LogReader.open(storage, showing: visibility)
        var cursor =
            if let from { try reader.cursor(from: SequenceNumber(rawValue: from)) } else { try reader.cursor() }
        while try cursor.nextFrame() {
            try cursor.forEachRecord { (number, record) throws in
                try record.withUnsafeBytes { try visit(number.rawValue, $0) }
            }
        }
    }

    /// Reads as far as possible. A number out of order is an error of the log, not of the reading.
    static func read(
        _ storage: any LogStorage, showing visibility: LogReader.Visibility = .written, from: UInt64? = nil
    ) throws -> Reading {
        var records: [[UInt8]] = []
        var reading = try walk(storage, showing: visibility, from: from) { _, record in records.append([UInt8](record))
        }
        reading.records = records
        return reading
    }

    /// Like `read`, but compares each record with a known one, which is faster than keeping it; the result has only
    /// the records' count. Throws at a difference.
    static func compare(_ storage: any LogStorage, with known: Reading) throws -> (reading: Reading, count: Int) {
        var count = 0
        let reading = try walk(storage, showing: .written, from: nil) { number, record in
            try require(
                count < known.records.count && known.records[count].withUnsafeBytes { same($0, record) },
                "@\(number) is not what was written")
            count += 1
        }
        return (reading, count)
    }

    private static func same(_ left: UnsafeRawBufferPointer, _ right: UnsafeRawBufferPointer) -> Bool {
        guard left.count == right.count else { return false }
        guard let one = left.baseAddress, let other = right.baseAddress else { return true }
        return memcmp(one, other, left.count) == 0
    }

    private static func walk(
        _ storage: any LogStorage, showing visibility: LogReader.Visibility, from: UInt64?,
        _ visit: (UInt64, UnsafeRawBufferPointer) throws -> Void
    ) throws -> Reading {
        var reading = Reading()
        var next: UInt64 = 0
        do {
            let reader = try LogReader.open(storage, showing: visibility)
            var cursor =
                if let from { try reader.cursor(from: SequenceNumber(rawValue: from)) } else { try reader.cursor() }
            while try cursor.nextFrame() {
                if let hole = cursor.lastHole, reading.holes.last != hole {
                    reading.holes.append(hole)
                    if reading.first > 0 { next += hole.count }
                }
                try cursor.forEachRecord { (number, record) throws in
                    if reading.first == 0 { (reading.first, next) = (number.rawValue, number.rawValue) }
                    try require(number.rawValue == next, "\(number) came where @\(next) is expected")
                    next += 1
                    try record.withUnsafeBytes { try visit(number.rawValue, $0) }
                }
            }
        } catch let error as LogError {
            reading.error = error
        }
        return reading
    }
}

/// Records for tests: of every size and texture, and each different from all others if it is large enough.
struct RecordSource {
    var numbers: Chance
    private var count: UInt64 = 0

    init(seed: UInt64) {
        numbers = Chance(seed: seed)
    }

    mutating func below(_ limit: Int) -> Int { Int(numbers.next() % UInt64(limit)) }

    /// A record of at most about `limit` bytes.
    mutating func record(limit: Int) -> [UInt8] {
        count += 1
        let length = below(16) == 0 ? 0 : 1 + below(limit)
        var bytes: [UInt8]
        switch below(4) {
        case 0: bytes = [UInt8](repeating: 0, count: length)
        case 1: bytes = (0..<length).map { _ in UInt8(truncatingIfNeeded: numbers.next()) }
        case 2: bytes = [UInt8](repeating: below(2) == 0 ? 0xa5 : 0x41, count: length)
        default: bytes = Array(Array("{\"title\":\"buy milk\",\"done\":false}".utf8).cycled(to: length))
        }
        for (index, byte) in withUnsafeBytes(of: count.littleEndian, Array.init).prefix(min(4, length)).enumerated() {
            bytes[index] = byte
        }
        return bytes
    }
}

extension [UInt8] {
    fileprivate func cycled(to length: Int) -> [UInt8] {
        (0..<length).map { self[$0 % count] }
    }
}

/// How much the torture tests explore: everything in a release build, a part of it in a debug build; the variable
/// SYNCLINE_TORTURE multiplies it, for nightly runs.
enum TortureBudget {
    static let factor: Double = {
        #if DEBUG
            let normal = 0.04
        #else
            let normal = 1.0
        #endif
        return normal * (getenv("SYNCLINE_TORTURE").flatMap { Double(String(cString: $0)) } ?? 1)
    }()

    static func scaled(_ count: Int) -> Int { max(1, Int(Double(count) * factor)) }
}
