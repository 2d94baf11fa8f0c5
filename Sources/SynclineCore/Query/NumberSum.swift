// A sum of numbers: exact as long as they are integers and it fits, else a double that is corrected for rounding.

struct NumberSum {
    /// How many numbers there are.
    private(set) var count = 0
    private var integer: Int64 = 0
    /// What is not in `integer`, and what rounding lost of it.
    private var double = 0.0
    private var lost = 0.0
    private var isExact = true

    /// Adds a number; other values count as nothing. Returns false if the sum may depend on the order.
    mutating func add(_ value: Value) -> Bool {
        switch value {
        case .integer(let number):
            let (sum, overflow) = integer.addingReportingOverflow(number)
            if overflow { add(Double(integer)) }
            integer = overflow ? number : sum
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
            count -= 1
            return isExact && !overflow
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

    var sum: Value { isExact ? .integer(integer) : finite(total) }

    var average: Value { count == 0 ? .null : finite(total / Double(count)) }

    private var total: Double {
        var all = self
        all.add(Double(integer))
        return all.double + all.lost
    }

    /// A number that is too large for a double is null.
    private func finite(_ number: Double) -> Value { number.isFinite ? .double(number) : .null }
}
