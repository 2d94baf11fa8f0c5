// Numbers are read back, whatever their sizes and whatever follows, one by one and three at a time.

import SynclineGround
import Testing

@Suite struct ByteReaderTests {
    private static let numbers = [0, 1, 127, 128, 129, 255, 256, 16_383, 16_384, 1 << 40]

    @Test func `three short numbers at once are the same three`() {
        for first in Self.numbers {
            for second in Self.numbers {
                for third in Self.numbers {
                    for padding in 0..<3 { compare([first, second, third], padding) }
                }
            }
        }
    }

    @Test func `a number reads the same alone and before others, and is refused if it is cut short`() {
        let sizes = (0...64).flatMap { size -> [UInt64] in
            let power = size == 64 ? UInt64.max : (UInt64(1) << size) - 1
            return [power, power &+ 1, power & 0x5555_5555_5555_5555, power & 0xfedc_ba98_7654_3210]
        }
        for number in sizes {
            var writer = ByteWriter()
            writer.append(varint: number)
            let length = writer.count
            for follower in [0x00, 0x80, 0xff] as [UInt8] {
                for padding in 0..<12 {
                    let bytes = writer.bytes + [UInt8](repeating: follower, count: padding)
                    bytes.withBytes { bytes in
                        var reader = ByteReader(bytes)
                        let found = try? reader.varint()
                        #expect(found == number)
                        #expect(reader.offset == length)
                    }
                }
            }
            for cut in 0..<length {
                writer.bytes.withBytes { bytes in
                    var reader = ByteReader(UnsafeRawBufferPointer(rebasing: bytes[..<cut]))
                    #expect(throws: MalformedBytes.self) { try reader.varint() }
                }
            }
        }
    }

    private func compare(_ numbers: [Int], _ padding: Int) {
        var writer = ByteWriter()
        for number in numbers { writer.append(varint: number) }
        for _ in 0..<padding { writer.append(0xff) }
        let length = writer.count - padding
        writer.withView { bytes in
            var reader = ByteReader(bytes)
            if let found = reader.shortVarints() {
                #expect([found.0, found.1, found.2] == numbers)
                #expect(reader.offset == length)
            } else {
                #expect(reader.offset == 0)
                // Only a longer one, or one at the very end, is left to be read alone.
                #expect(numbers[0] > 127 || numbers[1] > 127 || numbers[2] > 16_383 || bytes.count < 4)
            }
        }
    }
}
