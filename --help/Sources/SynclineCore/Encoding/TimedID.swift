// Ids made here: version 7 UUIDs, which begin with the time. Rows created one after another have neighbouring keys,
// in a store as in a server's indexes, so that many share a block or a page.

package enum TimedID {
    /// Returns a UUID of a time with a random remainder.
    package static func text(
        milliseconds: Int64, chance: (high: UInt64, low: UInt64), isUpper: Bool
    ) -> String {
        withUnsafeBytes(of: halves(milliseconds: milliseconds, chance: chance)) {
            TextForm.text(ofUUID: $0, isUpper: isUpper)
        }
    }

    /// Returns the two halves of such a UUID, each with its most significant byte first.
    package static func halves(
        milliseconds: Int64, chance: (high: UInt64, low: UInt64)
    ) -> (high: UInt64, low: UInt64) {
        let high = UInt64(max(0, milliseconds)) << 16 | 0x7000 | chance.high & 0x0fff
        let low = 1 << 63 | chance.low & UInt64.max >> 2
        return (high.bigEndian, low.bigEndian)
    }
}
