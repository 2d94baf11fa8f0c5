// Numbers whose spelling is kept: which are, what they mean, and that their bytes bring it back.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct SpelledNumberTests {
    private static func value(_ spelling: String) throws -> Value {
        try #require(Value(number: spelling), "\(spelling)")
    }

    @Test func `only a spelling that is not its number's own is kept`() throws {
        for spelling in ["0", "-1", "9223372036854775807", "-9223372036854775808"] {
            #expect(try Self.value(spelling) == .integer(#require(Int64(spelling))))
        }
        for spelling in [
            "0.0", "-0.0", "1.0", "0.1", "12.5", "1e+22", "5e-324", "0.001", "0.0001", "1e-05", "100000.0",
        ] {
            #expect(try Self.value(spelling) == .double(#require(Double(spelling))), "\(spelling)")
        }
        for spelling in [
            "-0", "1.50", "1e3", "1E3", "0.10", "1000000000000000000000.0", "0.00001", "1e22",
            "12345678901234567890.12",
            "18446744073709551615", "1E400", "-1e-400", "0.12345678901234567890123", "1.00", "0e0",
        ] {
            guard case .number(let number) = try Self.value(spelling) else {
                Issue.record("\(spelling) is not kept")
                continue
            }
            #expect(number.spelling == spelling)
        }
        for text in ["", "-", "01", "1.", ".5", "1e", "+1", "0x1", "1 ", "١", "1e9999999999", "NaN", "--1", "1.5.2"] {
            #expect(Value(number: text) == nil, "\(text)")
        }
        // Doubles that are printed are never kept with a spelling of their own.
        var chance = Chance(seed: 3)
        for _ in 0..<5000 {
            let number = chance.double()
            #expect(Value(number: "\(number)") == .double(number), "\(number)")
        }
    }

    @Test func `the bytes of a value bring its spelling back`() throws {
        var chance = Chance(seed: 4)
        for _ in 0..<2000 {
            let value = chance.spelled()
            let found = ByteReader.reading(value.encoded) { reader throws(MalformedBytes) in try reader.value() }
            #expect(found == value)
            let skipped = ByteReader.reading(value.encoded) { reader throws(MalformedBytes) in
                try reader.skipValue()
                return reader.isAtEnd
            }
            #expect(skipped == true)
        }
        // A number has one encoding.
        for spelling in ["1", "1.5", "x", ""] {
            var writer = ByteWriter()
            writer.append(ValueTag.spelledNumber)
            writer.append(text: spelling)
            #expect(ByteReader.reading(writer.bytes) { reader throws(MalformedBytes) in try reader.value() } == nil)
        }
    }

    @Test(arguments: [
        ("1", "1.0", false), ("1", "1e0", false), ("1.5", "1.50", true), ("1.50", "1.500", true),
        ("1e3", "1000.0", true),
        ("1000", "1e3", false), ("0.12345678901234567890123", "0.12345678901234568", true),
        ("18446744073709551615", "18446744073709552000.0", true),
        ("18446744073709551615", "18446744073709551614", false),
        ("18446744073709551615", "1.8446744073709552e+19", true), ("1E400", "1e+400", true), ("1E400", "2E400", false),
        ("1E400", "1e308", false), ("-0", "0.0", true), ("-0", "0", false), ("2.5", "2.51", false),
    ])
    func `a value stays under another spelling of it`(old: String, new: String, stays: Bool) throws {
        let (old, new) = (try Self.value(old), try Self.value(new))
        #expect(old.stays(under: new) == stays)
        #expect(Value.array([old]).stays(under: .array([new])) == stays)
        #expect(Value.object([.init("a", old)]).stays(under: .object([.init("a", new)])) == stays)
    }

    @Test func `a number means what its digits say`() throws {
        let sorted = [
            "-2e400", "-1E400", "-18446744073709551617", "-18446744073709551616", "-9223372036854775809",
            "-9223372036854775808", "-1.50", "-0", "1E-400", "0.12345678901234567890123", "1.50", "1e3",
            "9223372036854775807", "9223372036854775808", "18446744073709551615", "18446744073709551616", "1E400",
        ]
        for (place, left) in sorted.enumerated() {
            for (other, right) in sorted.enumerated() {
                let order = Value.compare(try Self.value(left), try Self.value(right))
                let isZero = ["-0", "1E-400"].contains(left) && ["-0", "1E-400"].contains(right)
                let expected: Value.Order = place == other || isZero ? .equal : place < other ? .less : .greater
                #expect(order == expected, "\(left) and \(right)")
            }
        }
        #expect(Value.compare(try Self.value("1.50"), .double(1.5)) == .equal)
        #expect(Value.compare(try Self.value("2.0e0"), .integer(2)) == .equal)
        #expect(Value.compare(try Self.value("1.50"), .string("1.50")) == .none)
    }
}
