// A sum of numbers, whatever their order. It is exact until it is read, so numbers can be taken back.

import SynclineGround

package struct NumberSum {
    private let type: ColumnType
    /// How many numbers there are.
    package private(set) var count = 0
    private var integers = IntegerSum()
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
        case .integer(let number), .plain(.integer(let number)): integers.change(number, isAdded: isAdded)
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
            integers.change(Int64(tag & 0x3f), isAdded: isAdded)
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

    /// Adds a value that several rows have.
    mutating func add(encoded bytes: Bytes, times count: Int) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        let value = try reader.value()
        for _ in 0..<count { change(value, isAdded: true) }
    }

    /// Adds integers: how many, the least, and the sum of what they have above it.
    mutating func add(_ count: Int, _ least: Int64, above: UInt64) {
        var sum = IntegerSum()
        sum.add(least, times: count)
        sum.add(above)
        self.count += count
        if type.isDecimal {
            decimals.change(sum.digits, isAdded: true)
        } else if type == .number {
            doubles += count
            sum.add(to: &fractions)
        } else {
            integers.add(sum)
        }
    }

    /// Whether it adds digits.
    package var isOfDecimals: Bool { type.isDecimal }

    /// With all digits if the numbers are integers or decimals.
    package var sum: Value {
        if let digits { return digits.value }
        return doubles == 0 && integers.high == 0 ? .integer(integers.low) : finite(total)
    }

    /// Exact if the numbers are integers or decimals and it ends; 38 digits of them otherwise.
    package var average: Value {
        if count == 0 { return .null }
        if doubles > 0 { return finite(total / Double(count)) }
        let sum = digits ?? NumberDigits(integers.low)
        return sum.divided(by: NumberDigits(Int64(count)))?.value ?? .null
    }

    /// The sum of integers or decimals, unless 64 bits hold it.
    private var digits: NumberDigits? {
        if type.isDecimal { return decimals.total }
        return doubles == 0 && integers.high != 0 ? integers.digits : nil
    }

    /// The sum, rounded once.
    private var total: Double {
        if infinite > 0 { return .nan }
        var all = fractions
        integers.add(to: &all)
        return all.rounded
    }

    /// A number that is too large for a double is null.
    private func finite(_ number: Double) -> Value { number.isFinite ? .double(number) : .null }
}

/// A sum of integers: `low`, and `high` times 2 to the power of 64.
private struct IntegerSum {
    private(set) var low: Int64 = 0
    private(set) var high: Int64 = 0

    mutating func change(_ number: Int64, isAdded: Bool) {
        let (changed, overflow) =
            isAdded ? low.addingReportingOverflow(number) : low.subtractingReportingOverflow(number)
        low = changed
        if overflow { high += (number > 0) == isAdded ? 1 : -1 }
    }

    mutating func add(_ number: Int64, times count: Int) {
        let product = number.multipliedFullWidth(by: Int64(count))
        high += product.high
        add(product.low)
    }

    mutating func add(_ number: UInt64) {
        high += Int64(number >> 63)
        change(Int64(bitPattern: number), isAdded: true)
    }

    mutating func add(_ other: IntegerSum) {
        high += other.high
        change(other.low, isAdded: true)
    }

    /// Adds it to a sum of doubles.
    func add(to sum: inout ExactSum) {
        sum.add(low)
        sum.add(high, power: 1)
    }

    var digits: NumberDigits {
        NumberDigits(low) + NumberDigits(high) * NumberDigits(1 << 32) * NumberDigits(1 << 32)
    }
}
