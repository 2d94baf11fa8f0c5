// Arithmetic on digits, exact but for quotients, which have 38 digits. It is for filters and averages, where a few numbers
// are calculated with; many are added by `DecimalSum`.

extension NumberDigits {
    /// The place of its last digit, as a power of ten.
    private var last: Int { exponent - digits.count }

    /// The digits down to a place, with zeros at the end.
    private func digits(downTo place: Int) -> [UInt8] { digits + Array(repeating: 0, count: last - place) }

    var negated: NumberDigits { NumberDigits(isNegative: !isNegative, exponent: exponent, digits: digits) }

    private var magnitude: NumberDigits { NumberDigits(isNegative: false, exponent: exponent, digits: digits) }

    static func + (left: NumberDigits, right: NumberDigits) -> NumberDigits {
        let place = min(left.last, right.last)
        let (one, other) = (left.digits(downTo: place), right.digits(downTo: place))
        func result(_ digits: [UInt8], isNegative: Bool) -> NumberDigits {
            NumberDigits(isNegative: isNegative, exponent: place + digits.count, digits: digits)
        }
        if left.isNegative == right.isNegative {
            return result(Digits.sum(one, other), isNegative: left.isNegative)
        }
        if left.magnitude < right.magnitude {
            return result(Digits.difference(other, one), isNegative: right.isNegative)
        }
        return result(Digits.difference(one, other), isNegative: left.isNegative)
    }

    static func - (left: NumberDigits, right: NumberDigits) -> NumberDigits { left + right.negated }

    static func * (left: NumberDigits, right: NumberDigits) -> NumberDigits {
        var product = [Int](repeating: 0, count: left.digits.count + right.digits.count)
        for (place, digit) in left.digits.enumerated() {
            for (other, factor) in right.digits.enumerated() { product[place + other + 1] += Int(digit) * Int(factor) }
        }
        for place in product.indices.reversed() where product[place] > 9 {
            product[place - 1] += product[place] / 10
            product[place] %= 10
        }
        return NumberDigits(
            isNegative: left.isNegative != right.isNegative, exponent: left.exponent + right.exponent,
            digits: product.map { UInt8($0) })
    }

    /// The quotient, rounded to 38 digits, half to even; nil if the divisor is zero.
    func divided(by divisor: NumberDigits) -> NumberDigits? {
        if divisor.digits.isEmpty { return nil }
        if digits.isEmpty { return .zero }
        let wanted = 38
        // As many zeros as give at least one digit more than is wanted.
        let zeros = max(0, wanted + 1 + divisor.digits.count - digits.count)
        let (quotient, rest) = Digits.quotient(digits + Array(repeating: 0, count: zeros), divisor.digits)
        let figures = Array(quotient.drop { $0 == 0 })
        let exponent = figures.count + last - zeros - divisor.last
        return NumberDigits(isNegative: isNegative != divisor.isNegative, exponent: exponent, digits: figures)
            .rounded(to: wanted, hasMore: rest.contains { $0 != 0 })
    }

    /// The remainder of a quotient that is cut off, with the sign of the dividend; nil if the divisor is zero.
    func remainder(dividingBy divisor: NumberDigits) -> NumberDigits? {
        if divisor.digits.isEmpty { return nil }
        let place = min(last, divisor.last)
        let (_, rest) = Digits.quotient(digits(downTo: place), divisor.digits(downTo: place))
        return NumberDigits(isNegative: isNegative, exponent: place + rest.count, digits: rest)
    }

    /// The number without its fraction.
    var truncated: NumberDigits {
        NumberDigits(
            isNegative: isNegative, exponent: exponent, digits: digits.prefix(max(0, exponent)))
    }

    /// Rounds to a number of digits, half to even.
    /// - Parameter hasMore: Whether the number has digits beyond those that are known.
    package func rounded(to count: Int, hasMore: Bool = false) -> NumberDigits {
        guard digits.count > count else { return self }
        let (kept, rest) = (Array(digits[..<count]), digits[count...])
        let half = rest[count] == 5 && !rest.dropFirst().contains { $0 != 0 } && !hasMore
        let isUp = half ? kept[count - 1] & 1 == 1 : rest[count] >= 5
        let figures = isUp ? Digits.sum(kept, [1]) : kept
        return NumberDigits(
            isNegative: isNegative, exponent: exponent + figures.count - count, digits: figures)
    }
}

/// Arithmetic on whole numbers as digits, the highest first.
private enum Digits {
    static func sum(_ one: [UInt8], _ other: [UInt8]) -> [UInt8] {
        var sum: [UInt8] = []
        var carry: UInt8 = 0
        for place in 1...max(one.count, other.count, 1) {
            let digit = (place <= one.count ? one[one.count - place] : 0)
            let total = digit + (place <= other.count ? other[other.count - place] : 0) + carry
            sum.append(total % 10)
            carry = total / 10
        }
        if carry > 0 { sum.append(carry) }
        return sum.reversed()
    }

    /// - Parameter smaller: Not greater than the other.
    static func difference(_ larger: [UInt8], _ smaller: [UInt8]) -> [UInt8] {
        var difference: [UInt8] = []
        var borrow: UInt8 = 0
        for place in stride(from: 1, through: larger.count, by: 1) {
            let taken = (place <= smaller.count ? smaller[smaller.count - place] : 0) + borrow
            let digit = larger[larger.count - place]
            borrow = digit < taken ? 1 : 0
            difference.append(digit + borrow * 10 - taken)
        }
        return difference.reversed()
    }

    static func quotient(_ dividend: [UInt8], _ divisor: [UInt8]) -> (quotient: [UInt8], rest: [UInt8]) {
        let divisor = Array(divisor.drop { $0 == 0 })
        var (quotient, rest): ([UInt8], [UInt8]) = ([], [])
        for digit in dividend {
            if !rest.isEmpty || digit > 0 { rest.append(digit) }
            var count: UInt8 = 0
            while rest.count > divisor.count || rest.count == divisor.count && !rest.lexicographicallyPrecedes(divisor)
            {
                rest = Array(difference(rest, divisor).drop { $0 == 0 })
                count += 1
            }
            quotient.append(count)
        }
        return (quotient, rest)
    }
}
