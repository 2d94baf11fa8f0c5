// A UUID string as its sixteen bytes, and other hexadecimal digits as theirs.

import SynclineGround

/// The sixteen bytes of a UUID string, and its case.
package struct UUIDDigits: Hashable, Sendable {
    /// The first byte is the lowest of `first`.
    let first: UInt64
    let second: UInt64
    let isUpper: Bool

    init(first: UInt64, second: UInt64, isUpper: Bool) {
        (self.first, self.second, self.isUpper) = (first, second, isUpper)
    }

    /// The 36 characters.
    var text: String {
        withUnsafeBytes(of: (first.littleEndian, second.littleEndian)) { TextForm.text(ofUUID: $0, isUpper: isUpper) }
    }

    /// Reads 36 characters whose letters have one case.
    init?(_ utf8: UnsafeRawBufferPointer) {
        self.init(utf8, allowsBothCases: false)
    }

    /// Reads a string that is a UUID in upper, lower or mixed case.
    init?(anyCase utf8: UnsafeRawBufferPointer) {
        guard utf8.count == 36 else { return nil }
        self.init(utf8, allowsBothCases: true)
    }

    private init?(_ utf8: UnsafeRawBufferPointer, allowsBothCases: Bool) {
        func half(_ offset: Int) -> UInt64 {
            UInt64(UInt32(littleEndian: utf8.loadUnaligned(fromByteOffset: offset, as: UInt32.self)))
        }
        guard utf8[8] == 0x2d, utf8[13] == 0x2d, utf8[18] == 0x2d, utf8[23] == 0x2d,
            let a = Hexadecimal.Eight(utf8, at: 0), let b = Hexadecimal.Eight(half(9) | half(14) &<< 32),
            let c = Hexadecimal.Eight(half(19) | half(24) &<< 32), let d = Hexadecimal.Eight(utf8, at: 28)
        else { return nil }
        isUpper = a.hasUpper || b.hasUpper || c.hasUpper || d.hasUpper
        if isUpper && !allowsBothCases && (a.hasLower || b.hasLower || c.hasLower || d.hasLower) { return nil }
        first = UInt64(a.bytes) | UInt64(b.bytes) &<< 32
        second = UInt64(c.bytes) | UInt64(d.bytes) &<< 32
    }
}

extension UUIDDigits: Comparable {
    /// By their bytes.
    package static func < (left: UUIDDigits, right: UUIDDigits) -> Bool {
        left.first == right.first
            ? left.second.byteSwapped < right.second.byteSwapped : left.first.byteSwapped < right.first.byteSwapped
    }
}

extension ByteWriter {
    mutating func append(_ uuid: UUIDDigits) {
        append(fixed: uuid.first)
        append(fixed: uuid.second)
    }

    /// Appends hexadecimal digits as bytes; their number is a multiple of eight, and they are known to be digits.
    mutating func append(hexadecimal utf8: UnsafeRawBufferPointer) {
        for offset in stride(from: 0, to: utf8.count, by: 8) {
            guard let digits = Hexadecimal.Eight(utf8, at: offset) else {
                preconditionFailure("the text was looked at before")
            }
            withUnsafeBytes(of: digits.bytes.littleEndian) { append($0) }
        }
    }
}
