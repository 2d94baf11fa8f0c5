// A sum of numbers, whatever their order. It is exact until it is read, so numbers can be taken back.

struct NumberSum {
    /// How many numbers there are.
    private(set) var count = 0
    /// The sum of the integers is `integer` and `carry` times 2 to the power of 64.
    private var integer: Int64 = 0
    private var carry: Int64 = 0
    /// How many doubles there are, how many of them are not finite, and the sum of the others.
    private var doubles = 0
    private var infinite = 0
    private var fractions = ExactSum()

    /// Adds a number, or takes one back; other values count as nothing.
    mutating func change(_ value: Value, isAdded: Bool) {
        switch value {
        case .integer(let number): isAdded ? add(number) : remove(number)
        case .double(let number): change(number, isAdded: isAdded)
        case .number(let number): change(number.rounded, isAdded: isAdded)
        default: return
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

    /// An integer if all numbers are integers and it fits.
    var sum: Value { doubles == 0 && carry == 0 ? .integer(integer) : finite(total) }

    var average: Value { count == 0 ? .null : finite(total / Double(count)) }

    /// The sum, rounded once.
    private var total: Double {
        if infinite > 0 { return .nan }
        if doubles == 0, carry == 0 { return Double(integer) }
        var all = fractions
        all.add(integer)
        all.add(carry, power: 1)
        return all.rounded
    }

    /// A number that is too large for a double is null.
    private func finite(_ number: Double) -> Value { number.isFinite ? .double(number) : .null }
}
