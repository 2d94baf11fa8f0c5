// Strings from bytes: both ways to check them agree, the system's and the one for older systems.

import SynclineGround
import Testing

@Suite struct UTF8Tests {
    private func string(_ bytes: [UInt8]) -> String? { bytes.withBytes { String(validUTF8: $0) } }
    private func olderString(_ bytes: [UInt8]) -> String? { bytes.withBytes { String(unrepairedUTF8: $0) } }

    @Test(arguments: ["", "a", "milk", "é", "日本", "👩‍👩‍👧", "\u{0}", "\u{fffd}", "a\u{301}"])
    func `a valid string comes back`(_ text: String) {
        let bytes = Array(text.utf8)
        #expect(string(bytes).map { Array($0.utf8) } == bytes)
        #expect(olderString(bytes).map { Array($0.utf8) } == bytes)
    }

    @Test(
        arguments: [
            [0x80], [0xc3], [0xc0, 0x80], [0xed, 0xa0, 0x80], [0xf4, 0x90, 0x80, 0x80], [0x61, 0xff, 0x62],
            [0xe6, 0x97], [0xef, 0xbf, 0xbd, 0xff],
        ] as [[UInt8]])
    func `bytes that are not UTF-8 make no string`(_ bytes: [UInt8]) {
        #expect(string(bytes) == nil)
        #expect(olderString(bytes) == nil)
    }

    @Test func `both agree on every pair of bytes`() {
        for first in UInt8.min...UInt8.max {
            for second in UInt8.min...UInt8.max {
                #expect((string([first, second]) == nil) == (olderString([first, second]) == nil))
            }
        }
    }
}
