// Hexadecimal digits, in lower case as they are written and in either case as they are read.

public enum Hexadecimal {
    /// A number with at least this many digits.
    public static func text(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// Two digits for each byte.
    public static func text(of bytes: some Collection<UInt8>) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { text in
            var place = 0
            for byte in bytes {
                text[place] = digit(byte >> 4)
                text[place + 1] = digit(byte & 15)
                place += 2
            }
            return place
        }
    }

    /// The bytes that digits stand for; nil for anything else.
    public static func bytes(_ text: some StringProtocol) -> [UInt8]? {
        var bytes: [UInt8] = []
        var digits = text.utf8.makeIterator()
        while let first = digits.next() {
            guard let high = value(first), let low = digits.next().flatMap(value) else { return nil }
            bytes.append(high << 4 | low)
        }
        return bytes
    }

    /// The digit of a number below 16.
    @inlinable public static func digit(_ number: UInt8, isUpper: Bool = false) -> UInt8 {
        number < 10 ? 0x30 + number : (isUpper ? 0x41 : 0x61) - 10 + number
    }

    /// What a digit says; nil for any other character.
    @inlinable public static func value(_ character: UInt8) -> UInt8? {
        switch character {
        case 0x30...0x39: character - 0x30
        case 0x41...0x46: character - 0x41 + 10
        case 0x61...0x66: character - 0x61 + 10
        default: nil
        }
    }
}
