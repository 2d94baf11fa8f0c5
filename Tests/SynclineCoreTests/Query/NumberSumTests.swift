// Sums of numbers compared with sums of large integers that are rounded by searching for the nearest double.

import LogTesting
import Testing

@testable import SynclineCore

/// A sum in units of the smallest double, in digits of 32 bits, the lowest first.
private struct LongSum {
    private var digits = [Int64](repeating: 0, count: 72)

    mutating func add(_ number: Double, times: Int64 = 1) {
        let exponent = max(number.exponent, -1022) - 52
        let whole = Double(sign: .plus, exponent: -exponent, significand: number)
        add(Int64(whole), shift: exponent + 1074, times: times)
    }

    mutating func add(_ number: Int64, shift: Int = 1074, times: Int64 = 1) {
        let sign = number < 0 ? -times : times
        for half in [0, 1] {
            let part = UInt64(number.magnitude >> UInt64(32 * half)) & 0xffff_ffff
            let place = shift / 32 + half
            let moved = part << UInt64(shift % 32)
            digits[place] += sign * Int64(moved & 0xffff_ffff)
            digits[place + 1] += sign * Int64(moved >> 32)
        }
    }

    /// -1, 0 or 1.
    var sign: Int {
        var (carry, isZero): (Int64, Bool) = (0, true)
        for digit in digits {
            let all = digit + carry
            carry = all >> 32
            if all & 0xffff_ffff != 0 { isZero = false }
        }
        return carry < 0 ? -1 : isZero && carry == 0 ? 0 : 1
    }

    /// Returns the sum, doubled, minus twice a number and once another.
    private func doubled(without number: Double, _ other: Double = 0) -> LongSum {
        var sum = self
        for index in digits.indices { sum.digits[index] *= 2 }
        sum.add(number, times: -2)
        sum.add(other, times: -1)
        return sum
    }

    var rounded: Double {
        if sign < 0 {
            var opposite = self
            for index in digits.indices { opposite.digits[index] *= -1 }
            return -opposite.rounded
        }
        // The largest double that is not greater than the sum.
        var (low, high) = (UInt64(0), Double.greatestFiniteMagnitude.bitPattern)
        while low < high {
            let middle = low + (high - low + 1) / 2
            if doubled(without: Double(bitPattern: middle)).sign >= 0 { low = middle } else { high = middle - 1 }
        }
        let below = Double(bitPattern: low)
        let half = doubled(without: below, below.ulp).sign
        return half > 0 || half == 0 && low % 2 == 1 ? below.nextUp : below
    }
}

extension Chance {
    /// Numbers of all sizes, and many of similar sizes, whose sums are near the middle of two doubles.
    fileprivate mutating func number() -> Value {
        let sign: Double = once(in: 2) ? 1 : -1
        switch below(6) {
        case 0: return .integer(integer())
        case 1: return .double(double())
        case 2: return .double(sign * Double(bitPattern: next() >> 12))
        case 3: return .double(sign * Double(sign: .plus, exponent: below(120) - 60, significand: 1))
        case 4: return .double(sign * (1 + Double(below(1 << 20)) * .ulpOfOne))
        default: return .double(sign * pick([.greatestFiniteMagnitude, 0x1p970, 0x1p969, .leastNormalMagnitude]))
        }
    }
}

@Suite struct NumberSumTests {
    private func expected(_ numbers: [Value]) -> Value {
        var sum = LongSum()
        for number in numbers {
            switch number {
            case .integer(let number): sum.add(number)
            case .double(let number): sum.add(number)
            default: break
            }
        }
        let rounded = sum.rounded
        return rounded.isFinite ? .double(rounded) : .null
    }

    private func sum(_ numbers: [Value]) -> Value {
        var sum = NumberSum(.any)
        for number in numbers { sum.change(number, isAdded: true) }
        return sum.sum
    }

    @Test(arguments: UInt64(1)...100)
    func `a sum is rounded once, whatever its order and whatever was taken back`(_ seed: UInt64) {
        var chance = Chance(seed: seed)
        var numbers = [Value.double(0.5)]
        for _ in 0..<chance.below(20) {
            let number = chance.number()
            numbers.append(number)
            // Opposites leave only what is small.
            if case .double(let number) = number, chance.once(in: 3) { numbers.append(.double(-number)) }
        }
        let expected = expected(numbers)
        #expect(sum(numbers) == expected)
        #expect(sum(numbers.reversed()) == expected)
        var more = NumberSum(.any)
        let others = (0..<10).map { _ in chance.number() }
        for number in others + numbers { more.change(number, isAdded: true) }
        for number in others.reversed() { more.change(number, isAdded: false) }
        #expect(more.sum == expected && more.count == numbers.count)
    }

    @Test func `halves are rounded to the even double`() {
        #expect(sum([.double(1), .double(0x1p-53)]) == .double(1))
        #expect(sum([.double(1), .double(0x1p-53), .double(.leastNonzeroMagnitude)]) == .double(1 + .ulpOfOne))
        #expect(sum([.double(1 + .ulpOfOne), .double(0x1p-53)]) == .double(1 + 2 * .ulpOfOne))
        #expect(sum([.double(-1), .double(-0x1p-53)]) == .double(-1))
        #expect(sum([.double(0.1), .double(0.2), .double(-0.3)]) == .double(0x1p-55))
    }

    @Test func `a sum beyond the largest double is null, until it is not`() {
        let large = Value.double(.greatestFiniteMagnitude)
        var numbers = NumberSum(.any)
        for _ in 0..<2 { numbers.change(large, isAdded: true) }
        #expect(numbers.sum == .null && numbers.average == .null)
        numbers.change(large, isAdded: false)
        #expect(numbers.sum == large)
        // Half of the last bit more is too much.
        numbers.change(.double(0x1p970), isAdded: true)
        #expect(numbers.sum == .null)
        numbers.change(.double(-.leastNonzeroMagnitude), isAdded: true)
        #expect(numbers.sum == large)
    }

    @Test func `a number that is not finite makes a sum null until it is taken back`() {
        var numbers = NumberSum(.any)
        numbers.change(.integer(2), isAdded: true)
        for number in [Double.infinity, -.infinity, .nan] {
            numbers.change(.double(number), isAdded: true)
            #expect(numbers.sum == .null)
        }
        for number in [Double.infinity, -.infinity, .nan] { numbers.change(.double(number), isAdded: false) }
        #expect(numbers.sum == .integer(2) && numbers.average == .integer(2))
    }

    @Test func `a sum of integers has all digits`() throws {
        var numbers = NumberSum(.any)
        let values: [Value] = [.integer(.max), .integer(.max), .null, .string("7")]
        for value in values { numbers.change(value, isAdded: true) }
        let sum = try #require(Value(number: "18446744073709551614"))
        #expect(numbers.count == 2 && numbers.sum == sum && numbers.average == .integer(.max))
        numbers.change(.double(1), isAdded: true)
        numbers.change(.integer(.max), isAdded: false)
        #expect(numbers.sum == .double(0x1p63))
        numbers.change(.double(1), isAdded: false)
        #expect(numbers.sum == .integer(.max))
    }
}
