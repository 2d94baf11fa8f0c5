// Bytes and numbers as digits, and back.

import SynclineGround
import Testing

@Suite struct DigitTests {
    @Test func `a number has at least as many digits as are asked for`() {
        #expect(Hexadecimal.text(0, digits: 1) == "0")
        #expect(Hexadecimal.text(UInt64.max, digits: 2) == "ffffffffffffffff")
        #expect(Hexadecimal.text(UInt8(10), digits: 4) == "000a")
    }

    @Test func `bytes come back from their digits, in either case`() {
        let bytes = (0...255).map { UInt8($0) }
        let text = Hexadecimal.text(of: bytes)
        #expect(text.hasPrefix("000102") && text.hasSuffix("fdfeff"))
        #expect(Hexadecimal.bytes(text) == bytes)
        #expect(Hexadecimal.bytes(text.uppercased()) == bytes)
        #expect(Hexadecimal.bytes("") == [])
    }

    @Test(arguments: ["0", "0g", "g0", " 0", "0x", "é0", "00 "])
    func `an invalid pair of digits is refused`(text: String) {
        #expect(Hexadecimal.bytes(text) == nil)
    }

    @Test func `a digit is written in the form in which it is read`() {
        for number in UInt8(0)..<16 {
            #expect(Hexadecimal.value(Hexadecimal.digit(number)) == number)
            #expect(Hexadecimal.value(Hexadecimal.digit(number, isUpper: true)) == number)
        }
        #expect(Hexadecimal.digit(11, isUpper: true) == UInt8(ascii: "B"))
    }

    @Test(arguments: [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")])
    func `bytes come back from base 64`(text: String, coded: String) {
        #expect(Base64.encode(Array(text.utf8)) == coded)
        #expect(Base64.decode(coded) == Array(text.utf8))
    }

    @Test(arguments: ["Zg=", "Zg", "Z===", "Zm9=v", "Zm 9", "Zm9v=", "Z-9v"])
    func `invalid base 64 is refused`(text: String) {
        #expect(Base64.decode(text) == nil)
    }

    @Test func `the alphabet of URLs has no padding`() {
        #expect(Base64.decode(url: "-_8") == [0xfb, 0xff])
        #expect(Base64.decode(url: "+_8") == nil)
        #expect(Base64.decode(url: "-_8=") == nil)
        #expect(Base64.decode(url: "") == nil)
    }

    @Test func `a varint that is longer than necessary is refused if its form matters`() {
        let bytes: [UInt8] = [0x80, 0x00]
        bytes.withUnsafeBytes { bytes in
            var (lenient, strict) = (ByteReader(bytes), ByteReader(bytes))
            let read = (lenient: try? lenient.varint(), strict: try? strict.shortestVarint())
            #expect(read.lenient == 0 && read.strict == nil)
        }
    }
}
