// The key of masks that agree between reports: it makes a mask from the value alone, with SipHash-2-4, instead of from
// its rank among the values of one report. Without the key it can't be computed.

import SynclineGround

package struct MaskKey: Hashable, Sendable {
    private let low, high: UInt64

    private init(low: UInt64, high: UInt64) { (self.low, self.high) = (low, high) }

    /// - Parameter text: 32 hexadecimal digits; nil for anything else.
    package init?(_ text: String) {
        guard let bytes = Hexadecimal.bytes(text), bytes.count == 16 else { return nil }
        self.init(low: MaskKey.word(bytes[..<8]), high: MaskKey.word(bytes[8...]))
    }

    /// A number of 64 bits for bytes.
    package func number(of bytes: [UInt8]) -> UInt64 {
        var state = SipState(low, high)
        let whole = bytes.count & ~7
        for start in stride(from: 0, to: whole, by: 8) { state.add(MaskKey.word(bytes[start..<start + 8])) }
        state.add(MaskKey.word(bytes[whole...]) | UInt64(truncatingIfNeeded: bytes.count) << 56)
        return state.end()
    }

    private static func word(_ bytes: ArraySlice<UInt8>) -> UInt64 {
        bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// Maps the numbers below a limit onto each other, no two to the same one.
    func permuted(_ number: UInt64, below limit: UInt64) -> UInt64 {
        let half = UInt64(64 - (limit - 1).leadingZeroBitCount + 1) / 2
        let mask: UInt64 = 1 << half - 1
        var number = number
        // Four rounds of a Feistel network permute the numbers below a power of four; those beyond the limit continue.
        repeat {
            for round: UInt8 in 0..<4 {
                let right = number & mask
                let bytes = withUnsafeBytes(of: right.littleEndian) { Array($0) }
                number = right << half | (number >> half ^ self.number(of: [round] + bytes) & mask)
            }
        } while number >= limit
        return number
    }

    /// The key of one column.
    func derived(for place: Masking.Place) -> MaskKey {
        let bytes = ([place.table] + place.path).reduce(into: [UInt8]()) { $0 += Array($1.utf8) + [0] }
        return MaskKey(low: number(of: [0] + bytes), high: number(of: [1] + bytes))
    }
}

private struct SipState {
    private var a, b, c, d: UInt64

    init(_ low: UInt64, _ high: UInt64) {
        (a, b) = (low ^ 0x736f_6d65_7073_6575, high ^ 0x646f_7261_6e64_6f6d)
        (c, d) = (low ^ 0x6c79_6765_6e65_7261, high ^ 0x7465_6462_7974_6573)
    }

    mutating func add(_ word: UInt64) {
        d ^= word
        mix(2)
        a ^= word
    }

    mutating func end() -> UInt64 {
        c ^= 0xff
        mix(4)
        return a ^ b ^ c ^ d
    }

    private mutating func mix(_ rounds: Int) {
        func turned(_ word: UInt64, _ bits: UInt64) -> UInt64 { word << bits | word >> (64 - bits) }
        for _ in 0..<rounds {
            a &+= b
            c &+= d
            (b, d) = (turned(b, 13) ^ a, turned(d, 16) ^ c)
            a = turned(a, 32)
            c &+= b
            a &+= d
            (b, d) = (turned(b, 17) ^ c, turned(d, 21) ^ a)
            c = turned(c, 32)
        }
    }
}
