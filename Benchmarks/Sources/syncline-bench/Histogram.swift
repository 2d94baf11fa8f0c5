// Latencies, counted in buckets 1.6 % wide, so that any number of commits fits in a few kilobytes and the counts of
// threads and rounds can be added up.

import Glibc

/// Nanoseconds of the clock that only goes forward, the same for every process.
func monotonicNanoseconds() -> UInt64 {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    return UInt64(time.tv_sec) * 1_000_000_000 + UInt64(time.tv_nsec)
}

struct Histogram: Sendable {
    private static let fractionBits = 6
    private static let buckets = (64 - fractionBits) << fractionBits

    private var counts = [UInt32](repeating: 0, count: buckets)

    mutating func add(_ nanoseconds: UInt64) { counts[Self.bucket(of: nanoseconds)] += 1 }

    mutating func add(_ other: Histogram) {
        for bucket in counts.indices { counts[bucket] += other.counts[bucket] }
    }

    var total: Int { counts.reduce(0) { $0 + Int($1) } }

    /// The latency in microseconds that a share of all commits did not exceed; nil when there are none.
    func microseconds(atQuantile quantile: Double) -> Double? {
        let total = total
        guard total > 0 else { return nil }
        var rest = max(1, Int((Double(total) * quantile).rounded(.up)))
        for (bucket, count) in counts.enumerated() {
            rest -= Int(count)
            if rest <= 0 { return Double(Self.middle(of: bucket)) / 1000 }
        }
        return nil
    }

    /// Values below 64 have a bucket each; above, every power of two is cut in 64.
    private static func bucket(of value: UInt64) -> Int {
        let shift = max(0, 63 - fractionBits - value.leadingZeroBitCount)
        return min(buckets - 1, (shift << fractionBits) + Int(value >> UInt64(shift)))
    }

    private static func middle(of bucket: Int) -> UInt64 {
        guard bucket >= 2 << fractionBits else { return UInt64(bucket) }
        let shift = (bucket >> fractionBits) - 1
        let mantissa = UInt64(bucket - (shift << fractionBits))
        return ((2 * mantissa + 1) << UInt64(shift)) / 2
    }
}

/// As pairs of bucket and count: most buckets are empty.
extension Histogram: Codable {
    init(from decoder: any Decoder) throws {
        var pairs = try decoder.unkeyedContainer()
        while !pairs.isAtEnd {
            let bucket = try pairs.decode(Int.self)
            counts[bucket] = try pairs.decode(UInt32.self)
        }
    }

    func encode(to encoder: any Encoder) throws {
        var pairs = encoder.unkeyedContainer()
        for (bucket, count) in counts.enumerated() where count > 0 {
            try pairs.encode(bucket)
            try pairs.encode(count)
        }
    }
}
