// A sum of decimals without rounding: a number of fixed width, in groups of nine digits. So the order of the decimals
// does not matter, and one can be taken back.

struct DecimalSum {
    /// The place of the lowest digit, as a power of ten. Decimals end above it.
    private static let lowest = -135
    /// Decimals have up to 300 places from there, and a sum some more.
    private static let count = 37
    private static let base: Int64 = 1_000_000_000
    /// How many numbers may be added before a group has to be carried.
    private static let limit = 4_000_000_000

    /// The groups, the lowest first, each with a sign; empty as long as nothing was added.
    private var groups: [Int64] = []
    private var added = 0

    /// Adds a decimal, or takes one back.
    mutating func change(_ number: NumberDigits, isAdded: Bool) {
        if number.digits.isEmpty { return }
        if groups.isEmpty { groups = Array(repeating: 0, count: DecimalSum.count) }
        if added == DecimalSum.limit { carry() }
        added += 1
        let isNegative = number.isNegative == isAdded
        var place = number.exponent - DecimalSum.lowest - 1
        var (index, weight) = (place / 9, DecimalSum.powers[place % 9])
        var group: Int64 = 0
        for digit in number.digits {
            group += Int64(digit) * weight
            place -= 1
            weight /= 10
            guard weight == 0 else { continue }
            groups[index] += isNegative ? -group : group
            (index, weight, group) = (index - 1, DecimalSum.base / 10, 0)
        }
        if group > 0 { groups[index] += isNegative ? -group : group }
    }

    private static let powers: [Int64] = [1, 10, 100, 1_000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000]

    /// Leaves less than a group's base in each group but the highest.
    private mutating func carry() {
        for index in groups.indices.dropLast() {
            let over = groups[index] / DecimalSum.base
            groups[index] -= over * DecimalSum.base
            groups[index + 1] += over
        }
        added = 0
    }

    var total: NumberDigits {
        var sum = self
        sum.carry()
        guard let highest = sum.groups.last(where: { $0 != 0 }) else { return .zero }
        let isNegative = highest < 0
        // All groups get the sign of the highest.
        if isNegative { sum.groups = sum.groups.map { -$0 } }
        for index in sum.groups.indices.dropLast() where sum.groups[index] < 0 {
            sum.groups[index] += DecimalSum.base
            sum.groups[index + 1] -= 1
        }
        var digits: [UInt8] = []
        for group in sum.groups.reversed() {
            for power in DecimalSum.powers.reversed() { digits.append(UInt8(group / power % 10)) }
        }
        return NumberDigits(isNegative: isNegative, exponent: digits.count + DecimalSum.lowest, digits: digits)
    }
}
