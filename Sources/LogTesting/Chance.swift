// A random number generator for tests: the same seed gives the same choices on every machine and in every build.

/// SplitMix64.
package struct Chance: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) {
        state = seed
    }

    package mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    /// Returns a number from 0 up to, but not including, the limit.
    package mutating func below(_ limit: Int) -> Int {
        Int(next() % UInt64(limit))
    }

    /// Returns true once in `times` calls on average.
    package mutating func once(in times: Int) -> Bool {
        below(times) == 0
    }

    package mutating func pick<Value>(_ values: [Value]) -> Value {
        values[below(values.count)]
    }

    package mutating func bytes(_ count: Int) -> [UInt8] {
        (0..<count).map { _ in UInt8(truncatingIfNeeded: next()) }
    }
}
