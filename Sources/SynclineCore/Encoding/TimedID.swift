// Ids that are made here: UUIDs of version 7, which begin with the time. Rows made one after the other have keys that are
// neighbours, in a store as in the indexes of a server, so that many of them share a block or a page.

package enum TimedID {
    /// A UUID of a moment, the rest of which is chance.
    package static func text(
        milliseconds: Int64, chance: (high: UInt64, low: UInt64), isUpper: Bool
    ) -> String {
        let high = UInt64(max(0, milliseconds)) << 16 | 0x7000 | chance.high & 0x0fff
        let low = 1 << 63 | chance.low & UInt64.max >> 2
        return withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { TextForm.text(ofUUID: $0, isUpper: isUpper) }
    }
}
