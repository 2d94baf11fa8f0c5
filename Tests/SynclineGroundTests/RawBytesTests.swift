// Bytes in raw memory: a zero is found at any place, beside bytes whose bits could hide or feign it.

import SynclineGround
import Testing

@Suite struct RawBytesTests {
    @Test func `a zero is found at any place, and nowhere else`() {
        for others in [0x01, 0x02, 0x7f, 0x80, 0x81, 0xff] as [UInt8] {
            for count in 0..<40 {
                var bytes = [UInt8](repeating: others, count: count)
                #expect(!bytes.withBytes { $0.hasZero })
                for place in 0..<count {
                    bytes[place] = 0
                    #expect(bytes.withBytes { $0.hasZero })
                    bytes[place] = others
                }
            }
        }
    }
}
