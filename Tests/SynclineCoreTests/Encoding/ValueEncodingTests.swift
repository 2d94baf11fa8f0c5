// Values in bytes: every value round-trips, has one encoding, and no bytes can stop the process.

import LogTesting
import SynclineGround
import Testing

@testable import SynclineCore

@Suite struct ValueEncodingTests {
    private static func bytes(_ value: Value) -> [UInt8] {
        var writer = ByteWriter()
        writer.append(value: value)
        return writer.bytes
    }

    /// Decodes a whole value; nil if it is rejected or bytes are left.
    private static func value(_ bytes: [UInt8]) -> Value? {
        ByteReader.reading(bytes) { reader throws(MalformedBytes) in
            let value = try reader.value()
            guard reader.isAtEnd else { throw MalformedBytes() }
            return value
        }
    }

    private static func skipped(_ bytes: [UInt8]) -> Int? {
        ByteReader.reading(bytes) { reader throws(MalformedBytes) in
            try reader.skipValue()
            return reader.offset
        }
    }

    @Test func `random values come back with the same bytes`() throws {
        for seed in UInt64(1)...20_000 {
            var chance = Chance(seed: seed)
            let value = chance.value()
            let bytes = Self.bytes(value)
            let decoded = try #require(Self.value(bytes), "seed \(seed)")
            try #require(decoded == value, "seed \(seed)")
            // Strings that are equal in Unicode are distinguished here.
            try #require(Self.bytes(decoded) == bytes && "\(decoded)" == "\(value)", "seed \(seed)")
            try #require(Self.skipped(bytes) == bytes.count, "seed \(seed)")
        }
    }

    @Test func `cut and damaged values are refused or read as other values`() throws {
        for seed in UInt64(1)...3000 {
            var chance = Chance(seed: seed)
            let bytes = Self.bytes(chance.value())
            for end in 0..<min(bytes.count, 60) {
                try #require(Self.value(Array(bytes[..<end])) == nil, "seed \(seed), cut at \(end)")
                try #require(Self.skipped(Array(bytes[..<end])) == nil, "seed \(seed), cut at \(end)")
            }
            for _ in 0..<20 {
                var damaged = bytes
                for _ in 0...chance.below(3) {
                    damaged[chance.below(bytes.count)] = UInt8(truncatingIfNeeded: chance.next())
                }
                if let value = Self.value(damaged) {
                    // Whatever it is now, it can be used: compared, printed, skipped.
                    #expect(value.means(value) || "\(value)".contains("nan"), "seed \(seed)")
                    #expect(Self.skipped(damaged) == damaged.count, "seed \(seed)")
                    use(value)
                }
            }
        }
    }

    private func use(_ value: Value) {
        switch value {
        case .date(let date):
            #expect(!date.description.isEmpty)
            _ = date.instant.milliseconds
        case .array(let elements): for element in elements { use(element) }
        case .object(let members): for member in members { use(member.value) }
        default: break
        }
    }

    @Test(arguments: [
        ("7f3a0b1c-0000-4000-8000-00000000ffff", 17), ("7F3A0B1C-0000-4000-8000-00000000FFFF", 17),
        ("7F3a0B1C-0000-4000-8000-00000000FFFF", 37), ("2026-05-19T21:30:00.123Z", 7),
        ("2026-02-30T21:30:00.123Z", 25), ("0123456789abcdef", 10), ("0123456789ABCDEF", 17), ("", 1),
        ("AAAAAAAAB9E=", 10), ("apm0sfd90PwAAAAAAAAADA==", 18), ("AAAAAAAAB9F=", 13), ("AAAA====", 9), ("AAAAAAA=", 7),
        ("AAA=", 5), ("AAAAAAAAB9EA", 13), ("AAAAAAAAB9E-", 13), ("=AAAAAA=", 9), ("AAAA-A==", 9),
    ])
    func `strings of known forms are short and keep their spelling`(_ text: String, _ size: Int) {
        let bytes = Self.bytes(.string(text))
        #expect(bytes.count == size)
        #expect(Self.value(bytes) == .string(text))
    }

    @Test func `every zone and precision of a date comes back`() {
        let zones: [Timestamp.Zone] =
            [.utc, .none, .dateOnly] + stride(from: -1439, through: 1439, by: 1).map { .offset($0) }
        for zone in zones {
            for decimals in UInt8(0)...9 {
                let date = Timestamp(.init(seconds: -1, nanoseconds: 999_999_999), decimals: decimals, zone: zone)
                #expect(Self.value(Self.bytes(.date(date))) == .date(date))
            }
        }
    }

    @Test func `values nest up to the limit and no deeper`() {
        func nested(_ depth: Int) -> Value {
            (0..<depth).reduce(.integer(1)) { value, _ in .array([value]) }
        }
        #expect(Self.value(Self.bytes(nested(valueDepthLimit))) == nested(valueDepthLimit))
        #expect(Self.value(Self.bytes(nested(valueDepthLimit + 1))) == nil)
        #expect(Self.skipped(Self.bytes(nested(valueDepthLimit + 1))) == nil)
        let endless = [UInt8](repeating: ValueTag.array, count: 100_000)
        #expect(Self.value(endless) == nil)
        #expect(Self.skipped(endless) == nil)
    }
}
