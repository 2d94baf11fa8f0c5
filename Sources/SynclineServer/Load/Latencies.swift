// Durations of requests, counted in buckets 1.6 % wide, so that any number of them fits in some kilobytes.

struct Latencies: Hashable, Sendable {
    private static let fractionBits = 6
    private var counts = [Int](repeating: 0, count: (64 - fractionBits + 1) << fractionBits)
    private(set) var count = 0
    private(set) var longest = Duration.zero

    mutating func add(_ duration: Duration) {
        let duration = max(.zero, duration)
        counts[Latencies.bucket(of: duration.nanoseconds)] += 1
        count += 1
        longest = max(longest, duration)
    }

    /// The duration that this share of them did not exceed, rounded up to the end of its bucket; nil if there are none.
    func quantile(_ share: Double) -> Duration? {
        var rest = max(1, Int((Double(count) * share).rounded(.up)))
        for (bucket, number) in counts.enumerated() {
            rest -= number
            if rest <= 0 { return min(longest, .nanoseconds(Latencies.end(of: bucket))) }
        }
        return nil
    }

    /// Values below 64 have a bucket each; above, every power of two is cut in 64.
    private static func bucket(of value: UInt64) -> Int {
        let shift = max(0, 63 - fractionBits - value.leadingZeroBitCount)
        return (shift << fractionBits) + Int(value >> UInt64(shift))
    }

    /// The greatest value of a bucket.
    private static func end(of bucket: Int) -> Int64 {
        guard bucket >= 2 << fractionBits else { return Int64(bucket) }
        let shift = (bucket >> fractionBits) - 1
        return Int64(clamping: (UInt64(bucket - (shift << fractionBits) + 1) << UInt64(shift)) &- 1)
    }
}

extension Duration {
    fileprivate var nanoseconds: UInt64 {
        UInt64(clamping: components.seconds.multipliedReportingOverflow(by: 1_000_000_000).partialValue)
            &+ UInt64(clamping: components.attoseconds / 1_000_000_000)
    }
}
