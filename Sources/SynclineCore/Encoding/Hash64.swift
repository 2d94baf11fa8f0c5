// A hash of bytes, the same on every machine and in every version, because it is stored in files. It detects accidents,
// not attacks.

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
