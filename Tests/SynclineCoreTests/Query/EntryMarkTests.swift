// What an entry of an index says of its row's values, by its key and its mark.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct EntryMarkTests {
    private static let columns = ["a", "b", "c", "d", "e", "f", "g", "h", "i"]
    private static let index = TableIndex(columns: columns, number: 0)

    /// The values that an entry has, with their kinds; nil if its row has to be read.
    private static func values(_ values: [Value]) throws -> [Value]? {
        var (key, mark) = (ByteWriter(), EntryMark())
        for (place, value) in values.enumerated() {
            // Dates are in columns of dates only.
            let type: ColumnType = if case .date = value { .date } else { .any }
            key.append(placeOf: value, as: type)
            mark.add(value, as: type, at: place)
        }
        let read = try mark.bytes.withBytes { bytes throws(MalformedBytes) in try EntryMark(of: bytes) }
        #expect(read == mark)
        if mark.needsRow { return nil }
        return try key.bytes.withBytes { bytes throws(MalformedBytes) in
            var reader = ByteReader(bytes)
            var found: [Value] = []
            for place in values.indices {
                found.append(Value(try reader.entryValue(isOther: mark.isOther(place))))
            }
            #expect(reader.isAtEnd)
            return found
        }
    }

    /// The values that are the same but for the form of a date, which an index does not keep.
    private static func plain(_ value: Value) -> Value {
        guard case .date(let date) = value else { return value }
        return .date(Timestamp(date.instant, decimals: 9))
    }

    private static let edges: [Value] =
        [
            .null, true, false, "", "a", "\u{1}", .string(String(repeating: "x", count: 64)), .bytes([]),
            .bytes([1, 255]),
            .bytes([UInt8](repeating: 7, count: 64)),
        ]
        + [0, 1, -1, 1 << 53 - 1, 1 << 53, 1 << 53 + 1, -(1 << 53) - 1, .max, .max - 1, .max - 1024, .min, .min + 1]
        .map { .integer($0) }
        + [
            0, 1, -1, 0.5, -0.5, 0x1p53, 0x1p53 + 2, -0x1p53 - 2, 0x1p63, -0x1p63, 0x1p63 - 1024, -0x1p63 - 2048, 1e300,
            .leastNonzeroMagnitude,
        ].map { .double($0) }
        + [(-1, 5), (0, 0), (1 << 40, 999_999_999), (-(1 << 40), 0)].map {
            .date(Timestamp(.init(seconds: $0, nanoseconds: $1), decimals: 9))
        }

    @Test(arguments: edges)
    func `an entry has a value with its kind`(value: Value) throws {
        let found = try #require(try Self.values([value]))
        #expect(found == [value])
        #expect(found.map { "\($0.debugDescription)" } == ["\(value.debugDescription)"])
    }

    @Test(
        arguments: [
            .double(-0.0), .double(.infinity), .double(-.infinity), .string("a\0"), .bytes([0]), .array([]),
            .object([]),
            .string(String(repeating: "x", count: 65)), .string(String(repeating: "é", count: 33)),
            .bytes([UInt8](repeating: 7, count: 65)),
        ] as [Value])
    func `a row is read for a value that its entry does not have`(value: Value) throws {
        #expect(try Self.values([value]) == nil)
        #expect(try Self.values([1, value, .double(2)]) == nil)
    }

    @Test func `each of the first columns has its own mark`() throws {
        for place in Self.columns.indices {
            var values = [Value](repeating: 5, count: Self.columns.count)
            values[place] = 5.0
            let found = try Self.values(values)
            #expect(found == (place < 7 ? values : nil))
        }
    }

    @Test func `entries of random values have them, or say that they do not`() throws {
        var chance = Chance(seed: 24)
        var count = 0
        for _ in 0..<4000 {
            let values = (0...chance.below(4)).map { _ in chance.value() }
            guard let found = try Self.values(values) else { continue }
            try #require(found == values.map(Self.plain), "\(values)")
            count += 1
        }
        #expect(count > 400)
    }

    @Test func `bytes that are no mark, or no value, are refused`() {
        #expect(throws: MalformedBytes.self) {
            try [1, 0].withBytes { bytes throws(MalformedBytes) in try EntryMark(of: bytes) }
        }
        for bytes in [[], [0], [3], [4, 1], [5, 1, 2, 3, 4, 5, 6, 7, 8, 9], [6, 0x61, 0, 1], [8], [9]] as [[UInt8]] {
            #expect(throws: MalformedBytes.self, "\(bytes)") {
                _ = try bytes.withBytes { bytes throws(MalformedBytes) in
                    var reader = ByteReader(bytes)
                    return Value(try reader.entryValue(isOther: false))
                }
            }
        }
    }
}

extension Value {
    fileprivate init(_ value: EntryValue) {
        self =
            switch value {
            case .null: .null
            case .bool(let flag): .bool(flag)
            case .integer(let number): .integer(number)
            case .double(let number): .double(number)
            case .date(let instant): .date(Timestamp(instant, decimals: 9))
            case .uuid(let text): .string(text)
            case .text(let utf8): .string(String(decoding: utf8, as: UTF8.self))
            case .bytes(let bytes): .bytes([UInt8](bytes))
            }
    }
}
