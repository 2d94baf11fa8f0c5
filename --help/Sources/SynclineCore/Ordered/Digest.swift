// Hashes of byte strings that are the same on every machine and in every version, because they are stored in files.
// They detect accidents, not attacks.

import SynclineGround

/// Returns a 64-bit hash: each eight bytes are multiplied into 128 bits and folded.
package func hash64(_ bytes: Bytes, seed: UInt64 = 0) -> UInt64 {
    var state = seed ^ 0x2d35_8dcc_aa6c_78a5 ^ UInt64(bytes.count)
    var offset = 0
    while offset + 8 <= bytes.count {
        let word = UInt64(littleEndian: bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self))
        state = mix(state ^ word, 0x8bb8_4b93_962e_acc9)
        offset += 8
    }
    var rest: UInt64 = 0
    var shift: UInt64 = 0
    while offset < bytes.count {
        rest |= UInt64(bytes[offset]) << shift
        shift += 8
        offset += 1
    }
    state = mix(state ^ rest, 0x4b33_a62e_d433_d4a3)
    return mix(state ^ 0x4d5a_2da5_1de1_aa47, 0x9e37_79b9_7f4a_7c15)
}

/// Returns a string as a number that does not reveal it.
package func hash64(of text: String) -> UInt64 { Array(text.utf8).withBytes { hash64($0) } }

@inline(__always)
private func mix(_ left: UInt64, _ right: UInt64) -> UInt64 {
    let product = left.multipliedFullWidth(by: right)
    return product.high ^ product.low
}

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
