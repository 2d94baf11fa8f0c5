// The bytes by which rows are sorted: they compare as the values do.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct SortEncodingTests {
    private static func bytes(_ value: Value, limit: Int = .max) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(sortOf: value, as: .any, limit: limit)
        return writer.bytes
    }

    private static func bytesOfEncoded(_ value: Value) throws -> [UInt8] {
        var (encoded, writer) = (ByteWriter(), ByteWriter())
        encoded.append(value: value)
        // What follows the value is not read.
        encoded.append(value: .string("after"))
        try encoded.bytes.withBytes { bytes throws(MalformedBytes) in try writer.append(sortOfEncoded: bytes, as: .any)
        }
        return writer.bytes
    }

    private static func order(_ left: [UInt8], _ right: [UInt8]) -> Value.Order {
        let order = left.withBytes { left in right.withBytes { left.compare($0) } }
        return order < 0 ? .less : order == 0 ? .equal : .greater
    }

    private static let values: [Value] =
        [
            .null, .bool(false), .bool(true), .array([]), .array([.integer(1)]), .object([]), .bytes([]), .bytes([0]),
            .bytes([0, 0]), .bytes([1]), .bytes([0xff]),
        ]
        + [
            0, 1, -1, 63, 64, 1 << 53 - 1, 1 << 53, 1 << 53 + 1, 1 << 53 + 2, -(1 << 53) - 1, .max, .max - 1,
            .max - 1023, .max - 1024, .min, .min + 1,
        ].map { .integer($0) }
        + [
            0, -0.0, 0.5, -0.5, 1, 63.5, 0x1p53, 0x1p53 + 2, 0x1p63, -0x1p63, -0x1p63 - 2048, 1e300, .infinity,
            -.infinity, .leastNonzeroMagnitude,
        ].map { .double($0) }
        + [
            "1.50", "-0", "1e3", "9223372036854775808", "9223372036854775809", "-9223372036854775809", "1E400", "2e400",
            "18446744073709551615", "18446744073709551616", "18446744073709551617", "-18446744073709551617", "-1e400",
            "-2e400", "1e308", "12345678901234567890123", "12345678901234567890124", "1e999999999", "-1e999999999",
        ].compactMap { Value(number: $0) }
        + [
            "", "\0", "\0\0", "\0a", "a", "a\0", "a\0b", "a\u{1}", "b", "é", "e\u{301}", "\u{ffff}", "\u{1f600}",
            "2026-05-19T21:30:00.123Z", "2026-05-19T21:30:00.124Z", "3d5b8d6e-3f64-4e0c-9d56-8a5b3bd0a1f2",
            "3D5B8D6E-3F64-4E0C-9D56-8A5B3BD0A1F2", "0123456789abcdef", String(repeating: "long", count: 100),
        ].map { .string($0) }
        + [
            Timestamp(.init(seconds: -1, nanoseconds: 5)), Timestamp(.init(seconds: 0)),
            Timestamp(.init(seconds: 0, nanoseconds: 1)), Timestamp(.init(seconds: 0), decimals: 3, zone: .offset(60)),
            Timestamp(.init(seconds: 1 << 40)), Timestamp(.init(seconds: -(1 << 40))),
        ].map { .date($0) }

    @Test func `bytes compare as the values do`() {
        for left in Self.values {
            for right in Self.values {
                let order = Value.sortOrder(left, right)
                let (one, two) = (Self.bytes(left), Self.bytes(right))
                #expect(Self.order(one, two) == (order == .none ? .equal : order), "\(left) and \(right)")
                let (inverted, other) = (one.map { ~$0 }, two.map { ~$0 })
                let reversed = Self.order(other, inverted)
                #expect(reversed == (order == .none ? .equal : order), "\(left) and \(right), descending")
                if one != two { #expect(!one.starts(with: two), "\(left) begins with \(right)") }
            }
        }
    }

    @Test func `numbers of all sizes and spellings compare by their digits, and so do their bytes`() throws {
        var chance = Chance(seed: 5)
        var numbers = (0..<300).map { _ in chance.once(in: 3) ? Value.double(chance.double()) : chance.spelled() }
        numbers += (0..<100).map { _ in .integer(chance.integer()) }
        // Neighbours of some.
        for value in numbers {
            guard case .number(let number) = value, !number.isDouble, number.rounded.isFinite else { continue }
            numbers += [.double(number.rounded), .double(number.rounded.nextUp), .double(number.rounded.nextDown)]
        }
        for left in numbers {
            let one = Self.bytes(left)
            let length = (one + [7]).withUnsafeBytes { bytes -> Int in
                var reader = ByteReader(bytes)
                _ = try? reader.skipSortValue()
                return reader.offset
            }
            try #require(length == one.count, "\(left)")
            for right in numbers {
                let order = Value.compare(left, right)
                try #require(order != .none && Value.compare(right, left) == order.reversed, "\(left) and \(right)")
                try #require(Self.order(one, Self.bytes(right)) == order, "\(left) and \(right)")
            }
        }
    }

    @Test func `an encoded value has the bytes of its value`() throws {
        for value in Self.values { #expect(try Self.bytesOfEncoded(value) == Self.bytes(value), "\(value)") }
        var chance = Chance(seed: 7)
        for _ in 0..<2000 {
            let value = chance.value()
            #expect(try Self.bytesOfEncoded(value) == Self.bytes(value), "\(value)")
        }
    }

    @Test func `a string that is cut off sorts after its beginning, and says how much is known`() throws {
        let cut = Self.bytes(.string("abcd"), limit: 3)
        #expect(Self.order(Self.bytes(.string("abc"), limit: 3), cut) == .less)
        #expect(Self.order(cut, Self.bytes(.string("abd"), limit: 3)) == .less)
        try cut.withBytes { bytes throws(MalformedBytes) in
            var reader = ByteReader(bytes)
            #expect(try reader.skipSortValue() == 4)
            #expect(reader.isAtEnd)
        }
    }

    @Test func `every place can be stepped over`() throws {
        for value in Self.values {
            try (Self.bytes(value) + [7]).withBytes { bytes throws(MalformedBytes) in
                var reader = ByteReader(bytes)
                #expect(try reader.skipSortValue() == nil)
                #expect(reader.remaining == 1, "\(value)")
            }
        }
    }
}
