// Hexadecimal digits, in lower case as they are written and in either case as they are read.

public enum Hexadecimal {
    /// A number with at least this many digits.
    public static func text(_ number: some BinaryInteger, digits: Int) -> String {
        let text = String(number, radix: 16)
        return String(repeating: "0", count: max(0, digits - text.count)) + text
    }

    /// Two digits for each byte.
    public static func text(of bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: bytes.count * 2) { write(bytes, into: $0) }
    }

    public static func text(of bytes: some Sequence<UInt8>) -> String { Array(bytes).withBytes { text(of: $0) } }

    /// Writes two digits for each byte, and returns their number.
    public static func write(
        _ bytes: UnsafeRawBufferPointer, into text: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let memory = UnsafeMutableRawBufferPointer(text)
        for start in stride(from: 0, through: bytes.count - 4, by: 4) {
            let four = UInt32(littleEndian: bytes.loadUnaligned(fromByteOffset: start, as: UInt32.self))
            memory.storeBytes(of: Eight.characters(of: four).littleEndian, toByteOffset: 2 * start, as: UInt64.self)
        }
        for index in bytes.count & ~3..<bytes.count {
            text[2 * index] = digit(bytes[index] >> 4)
            text[2 * index + 1] = digit(bytes[index] & 15)
        }
        return bytes.count * 2
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
