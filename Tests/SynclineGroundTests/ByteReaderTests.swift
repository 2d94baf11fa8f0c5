// Numbers read three at a time equal those read one by one, whatever their sizes and whatever follows.

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
