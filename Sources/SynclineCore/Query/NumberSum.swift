// A sum of numbers, whatever their order. It is exact until it is read, so numbers can be taken back.

import SynclineGround

package struct NumberSum {
    private let type: ColumnType
    /// How many numbers there are.
    package private(set) var count = 0
    /// The sum of the integers is `integer` and `carry` times 2 to the power of 64.
    private var integer: Int64 = 0
    private var carry: Int64 = 0
    /// How many doubles there are, how many of them are not finite, and the sum of the others.
    private var doubles = 0
    private var infinite = 0
    private var fractions = ExactSum()
    private var decimals = DecimalSum()

    package init(_ type: ColumnType) {
        self.type = type
    }

    /// Adds a number, or takes one back. Other values, and those that do not fit the column, count as nothing.
    package mutating func change(_ value: Value, isAdded: Bool) {
        switch Meaning(value, as: type) {
        case .integer(let number), .plain(.integer(let number)): isAdded ? add(number) : remove(number)
        case .number(let number), .plain(.double(let number)): change(number, isAdded: isAdded)
        case .plain(.number(let number)): change(number.rounded, isAdded: isAdded)
        case .decimal(let number): decimals.change(number, isAdded: isAdded)
        default: return
        }
        count += isAdded ? 1 : -1
    }

    /// The same for the value at the beginning of some bytes. Most numbers need no decoding.
    mutating func change(encoded bytes: Bytes, isAdded: Bool) throws(MalformedBytes) {
        switch bytes.first {
        case ValueTag.double? where type.isPlain:
            var reader = ByteReader(bytes, at: 1)
            change(Double(bitPattern: try reader.fixed()), isAdded: isAdded)
        case let tag? where tag & 0xc0 == ValueTag.smallInteger && (type.isPlain || type == .integer):
            isAdded ? add(Int64(tag & 0x3f)) : remove(Int64(tag & 0x3f))
        default:
            var reader = ByteReader(bytes)
            return change(try reader.value(), isAdded: isAdded)
        }
        count += isAdded ? 1 : -1
    }

    private mutating func change(_ number: Double, isAdded: Bool) {
        doubles += isAdded ? 1 : -1
        if number.isFinite {
            fractions.add(isAdded ? number : -number)
        } else {
            infinite += isAdded ? 1 : -1
        }
    }

    private mutating func add(_ number: Int64) {
        let (sum, overflow) = integer.addingReportingOverflow(number)
        integer = sum
        if overflow { carry += number > 0 ? 1 : -1 }
    }

    private mutating func remove(_ number: Int64) {
        let (difference, overflow) = integer.subtractingReportingOverflow(number)
        integer = difference
        if overflow { carry -= number > 0 ? 1 : -1 }
    }

    /// Whether it adds digits.
    package var isOfDecimals: Bool { type.isDecimal }

    /// With all digits if the numbers are integers or decimals.
    package var sum: Value {
        if let digits { return digits.value }
        return doubles == 0 && carry == 0 ? .integer(integer) : finite(total)
    }

    /// Exact if the numbers are integers or decimals and it ends; 38 digits of them otherwise.
    package var average: Value {
        if count == 0 { return .null }
        if doubles > 0 { return finite(total / Double(count)) }
        let sum = digits ?? NumberDigits(integer)
        return sum.divided(by: NumberDigits(Int64(count)))?.value ?? .null
    }

    /// The sum of integers or decimals, unless 64 bits hold it.
    private var digits: NumberDigits? {
        if type.isDecimal { return decimals.total }
        guard doubles == 0, carry != 0 else { return nil }
        return NumberDigits(integer) + NumberDigits(carry) * NumberDigits(1 << 32) * NumberDigits(1 << 32)
    }

    /// The sum, rounded once.
    private var total: Double {
        if infinite > 0 { return .nan }
        var all = fractions
        all.add(integer)
        all.add(carry, power: 1)
        return all.rounded
    }

    /// A number that is too large for a double is null.
    private func finite(_ number: Double) -> Value { number.isFinite ? .double(number) : .null }
}
