// A sum of numbers: exact for integers, whatever their order; with fractions, a double that is corrected for rounding.

struct NumberSum {
    /// How many numbers there are.
    private(set) var count = 0
    /// The sum of the integers is `integer` and `carry` times 2 to the power of 64.
    private var integer: Int64 = 0
    private var carry = 0
    /// The sum of the others, and what rounding lost of it.
    private var double = 0.0
    private var lost = 0.0
    private var isExact = true

    /// Adds a number; other values count as nothing. Returns false if the sum may depend on the order.
    mutating func add(_ value: Value) -> Bool {
        switch value {
        case .integer(let number):
            let (sum, overflow) = integer.addingReportingOverflow(number)
            integer = sum
            if overflow { carry += number > 0 ? 1 : -1 }
        case .double(let number): add(number)
        default: return true
        }
        count += 1
        return isExact
    }

    /// Takes a number back. Returns false if that is not possible without all others.
    mutating func remove(_ value: Value) -> Bool {
        switch value {
        case .integer(let number):
            let (difference, overflow) = integer.subtractingReportingOverflow(number)
            integer = difference
            if overflow { carry -= number > 0 ? 1 : -1 }
            count -= 1
            return isExact
        case .double: return false
        default: return true
        }
    }

    /// Neumaier's sum.
    private mutating func add(_ number: Double) {
        isExact = false
        let sum = double + number
        lost += double.magnitude >= number.magnitude ? (double - sum) + number : (number - sum) + double
        double = sum
    }

    var sum: Value { isExact && carry == 0 ? .integer(integer) : finite(total) }

    var average: Value { count == 0 ? .null : finite(total / Double(count)) }

    private var total: Double {
        var all = self
        all.add(Double(carry) * 0x1p64)
        all.add(Double(integer))
        return all.double + all.lost
    }

    /// A number that is too large for a double is null.
    private func finite(_ number: Double) -> Value { number.isFinite ? .double(number) : .null }
}
