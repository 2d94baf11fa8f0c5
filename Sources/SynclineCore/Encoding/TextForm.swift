// The forms of strings that are stored in fewer bytes: UUIDs, other hexadecimal digits, moments, and versions of servers.
// Every string that is stored is looked at for them.

import SynclineGround

/// The forms of strings that have an encoding of their own.
enum TextForm: Hashable {
    case uuid(UUIDDigits)
    case hexadecimal
    /// `2026-05-19T21:30:00.123Z`, as milliseconds since 1970.
    case instant(Int64)
    /// Base64 with padding at its end, as the versions of rows are.
    case base64

    init?(_ utf8: UnsafeRawBufferPointer) {
        if TextForm.isBase64(utf8) {
            self = .base64
            return
        }
        switch utf8.count {
        case 36 where utf8[8] == UInt8(ascii: "-"):
            guard let uuid = UUIDDigits(utf8) else { return nil }
            self = .uuid(uuid)
        case 24 where utf8[10] == UInt8(ascii: "T"):
            let time = Timestamp(utf8: utf8.bindMemory(to: UInt8.self))
            guard let time, time.zone == .utc, time.decimals == 3 else { return nil }
            self = .instant(time.instant.milliseconds)
        case 16, 32, 40, 64:
            guard TextForm.areLowerDigits(utf8) else { return nil }
            self = .hexadecimal
        default: return nil
        }
    }

    private static func areLowerDigits(_ utf8: UnsafeRawBufferPointer) -> Bool {
        for offset in stride(from: 0, to: utf8.count, by: 8) {
            guard let digits = Hexadecimal.Eight(utf8, at: offset), !digits.hasUpper else { return false }
        }
        return true
    }

    /// Whether it is exactly what its bytes are in base64. Without padding, a word of the language could be.
    private static func isBase64(_ utf8: UnsafeRawBufferPointer) -> Bool {
        guard base64Lengths.contains(utf8.count), utf8.count & 3 == 0, utf8[utf8.count - 1] == UInt8(ascii: "=") else {
            return false
        }
        return withTextMemory(utf8.count) { memory in
            guard let count = Base64.decode(utf8, into: UnsafeMutableRawBufferPointer(memory)) else { return false }
            let bytes = memory.filled(count)
            return withTextMemory(utf8.count) { $0.filled(Base64.write(bytes, into: $0)).hasSameBytes(as: utf8) }
        }
    }

    private static let base64Lengths = 8...64

    static func text(ofBase64 bytes: UnsafeRawBufferPointer) -> String {
        String(unsafeUninitializedCapacity: Base64.length(of: bytes.count)) { Base64.write(bytes, into: $0) }
    }

    static func text(ofMilliseconds milliseconds: Int64) -> String {
        moment(milliseconds).description
    }

    static func moment(_ milliseconds: Int64) -> Timestamp { Timestamp(.init(milliseconds: milliseconds), decimals: 3) }

    static func text(ofUUID bytes: UnsafeRawBufferPointer, isUpper: Bool) -> String {
        String(unsafeUninitializedCapacity: 36) { write(uuid: bytes, isUpper: isUpper, $0) }
    }

    /// Writes 36 characters.
    static func write(
        uuid bytes: UnsafeRawBufferPointer, isUpper: Bool, _ output: UnsafeMutableBufferPointer<UInt8>
    ) -> Int {
        let memory = UnsafeMutableRawBufferPointer(output)
        func characters(_ offset: Int) -> UInt64 {
            let digits = bytes.loadUnaligned(fromByteOffset: offset, as: UInt32.self)
            return Hexadecimal.Eight.characters(of: UInt32(littleEndian: digits), isUpper: isUpper)
        }
        func store<Word: FixedWidthInteger>(_ word: Word, _ place: Int) {
            memory.storeBytes(of: word.littleEndian, toByteOffset: place, as: Word.self)
        }
        let (second, third) = (characters(4), characters(8))
        store(characters(0), 0)
        store(UInt32(truncatingIfNeeded: second), 9)
        store(UInt32(truncatingIfNeeded: second &>> 32), 14)
        store(UInt32(truncatingIfNeeded: third), 19)
        store(UInt32(truncatingIfNeeded: third &>> 32), 24)
        store(characters(12), 28)
        let dash = UInt8(ascii: "-")
        (output[8], output[13], output[18], output[23]) = (dash, dash, dash, dash)
        return 36
    }
}
