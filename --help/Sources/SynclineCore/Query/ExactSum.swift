// A sum of doubles without rounding: an integer of fixed width that counts in units of the smallest double. So the order
// of the numbers does not matter, and a number can be taken back by adding its opposite.

struct ExactSum {
    /// The bits from the smallest double to the largest are 2,098. The rest is for more than 2^63 numbers, and the sign.
    private static let count = 34
    /// How far 1 is from the smallest double.
    private static let one = 1074

    /// The integer in two's complement, its lowest bits first; empty as long as it is 0.
    private var limbs: [UInt64] = []

    /// Adds a finite number.
    mutating func add(_ number: Double) {
        let exponent = Int(number.exponentBitPattern)
        let significand = number.significandBitPattern
        // The smallest numbers have no leading bit.
        if exponent == 0 {
            add(significand, shift: 0, isNegative: number.sign == .minus)
        } else {
            add(significand | 1 << 52, shift: exponent - 1, isNegative: number.sign == .minus)
        }
    }

    /// Adds an integer times a power of 2 to the power of 64.
    mutating func add(_ number: Int64, power: Int = 0) {
        add(number.magnitude, shift: ExactSum.one + 64 * power, isNegative: number < 0)
    }

    private mutating func add(_ magnitude: UInt64, shift: Int, isNegative: Bool) {
        if magnitude == 0 { return }
        if limbs.isEmpty { limbs = Array(repeating: 0, count: ExactSum.count) }
        let (index, offset) = (shift / 64, UInt64(shift % 64))
        change(index, by: magnitude << offset, isNegative: isNegative)
        change(index + 1, by: magnitude >> (64 - offset), isNegative: isNegative)
    }

    /// Adds to a limb or subtracts from it, and carries.
    private mutating func change(_ index: Int, by amount: UInt64, isNegative: Bool) {
        var (index, amount) = (index, amount)
        while amount > 0, index < limbs.count {
            let (changed, carries) =
                isNegative
                ? limbs[index].subtractingReportingOverflow(amount) : limbs[index].addingReportingOverflow(amount)
            limbs[index] = changed
            amount = carries ? 1 : 0
            index += 1
        }
    }

    // MARK: Rounding

    /// The double that is nearest to the sum; of two that are as near, the one whose last bit is 0. Infinite if the sum is
    /// too large.
    var rounded: Double {
        guard let last = limbs.last else { return 0 }
        if last >> 63 == 0 { return magnitude }
        var opposite = ExactSum()
        opposite.limbs = limbs.map { ~$0 }
        opposite.change(0, by: 1, isNegative: false)
        return -opposite.magnitude
    }

    /// The same for a sum that is not negative.
    private var magnitude: Double {
        guard let index = limbs.lastIndex(where: { $0 != 0 }) else { return 0 }
        let bits = 64 * (index + 1) - limbs[index].leadingZeroBitCount
        // A double has 53 bits. All but the smallest begin with a 1, which turns the exponent into one more than `shift`.
        let shift = max(0, bits - 53)
        if shift > 2045 { return .infinity }
        let pattern = UInt64(shift) << 52 + self.bits(from: shift)
        return Double(bitPattern: pattern + (roundsUp(from: shift, isOdd: pattern & 1 == 1) ? 1 : 0))
    }

    /// Whether more than half of a unit is below a bit, or half of one if the number is odd.
    private func roundsUp(from shift: Int, isOdd: Bool) -> Bool {
        guard shift > 0, bits(from: shift - 1) & 1 == 1 else { return false }
        let (index, offset) = ((shift - 1) / 64, UInt64((shift - 1) % 64))
        return isOdd || limbs[index] & (1 << offset - 1) != 0 || limbs[..<index].contains { $0 != 0 }
    }

    /// The 64 bits from one on.
    private func bits(from shift: Int) -> UInt64 {
        let (index, offset) = (shift / 64, UInt64(shift % 64))
        let high = index + 1 < limbs.count ? limbs[index + 1] : 0
        return limbs[index] >> offset | high << (64 - offset)
    }
}
