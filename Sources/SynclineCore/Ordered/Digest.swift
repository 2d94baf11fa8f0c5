// A digest of the state: with it, a fold and a checkpoint are compared.

import SynclineGround

/// A sum over all entries of the state that does not depend on their order: each entry adds its hash when it appears
/// and subtracts it when it is removed.
package struct Digest: Hashable, Sendable, CustomStringConvertible {
    package var high: UInt64 = 0
    package var low: UInt64 = 0

    package init() {}

    package init(high: UInt64, low: UInt64) {
        self.high = high
        self.low = low
    }

    mutating func add(_ key: Bytes, _ value: Bytes) {
        high &+= hash64(value, seed: hash64(key, seed: 1))
        low &+= hash64(value, seed: hash64(key, seed: 2))
    }

    mutating func remove(_ key: Bytes, _ value: Bytes) {
        high &-= hash64(value, seed: hash64(key, seed: 1))
        low &-= hash64(value, seed: hash64(key, seed: 2))
    }

    package var description: String {
        Hexadecimal.text(high, digits: 16) + Hexadecimal.text(low, digits: 16)
    }
}
