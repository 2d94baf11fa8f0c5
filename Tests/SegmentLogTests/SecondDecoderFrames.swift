// What the second decoder reads: names, headers, HEAD and frames, each checked against the tables of docs/FORMAT.md.

enum SecondRefusal: Error, Equatable {
    case broken(String), newer(String)
}

/// The name of a segment.
struct SecondName {
    let text: String
    let ordinal: UInt64
    let first: UInt64

    init?(_ text: String) {
        let characters = Array(text.utf8)
        guard characters.count == 29, text.hasSuffix(".seg"), characters[8] == 0x2D, text == text.lowercased(),
            let ordinal = UInt64(text.prefix(8), radix: 16),
            let first = UInt64(text.dropFirst(9).prefix(16), radix: 16)
        else { return nil }
        (self.text, self.ordinal, self.first) = (text, ordinal, first)
    }
}

struct SecondSegmentHeader {
    static let segmentMagic: [UInt8] = [0x89, 0x4C, 0x4F, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    static let checkpointMagic: [UInt8] = [0x89, 0x43, 0x4B, 0x50, 0x0D, 0x0A, 0x1A, 0x0A]

    let identity: [UInt8]
    let number, ordinal: UInt64
    let previousLength: UInt64
    let previousChain: UInt32
    let durable: UInt64
    let isCheckpoint: Bool

    /// The initial value of a frame's header checksum.
    var seed: UInt32 { secondCRC(identity) }

    init(_ file: [UInt8], magic: [UInt8]) throws(SecondRefusal) {
        guard file.count >= 512, Array(file[..<8]) == magic else { throw .broken("no segment header") }
        guard secondCRC(file[..<508]) == UInt32(file.number(508, 4)) else { throw .broken("segment header") }
        guard file.number(8, 2) == 1 else { throw .newer("major version") }
        guard file.number(56, 4) == 0 else { throw .newer("features") }
        guard file.number(12, 4) == 512 else { throw .broken("header length") }
        if file.number(10, 2) == 0, !file[88..<508].allSatisfy({ $0 == 0 }) { throw .broken("reserved bytes") }
        identity = Array(file[16..<32])
        (number, ordinal) = (file.number(32, 8), file.number(40, 8))
        (previousLength, previousChain) = (file.number(64, 8), UInt32(file.number(72, 4)))
        durable = file.number(80, 8)
        isCheckpoint = magic == Self.checkpointMagic
    }

    func check(_ name: SecondName) throws(SecondRefusal) {
        guard (name.ordinal, name.first) == (ordinal, number) else { throw .broken("misnamed") }
    }

    /// Where the previous file ends according to this one, if its header can be read.
    static func previousLength(in file: [UInt8]) -> UInt64? {
        try? SecondSegmentHeader(file, magic: segmentMagic).previousLength
    }
}

struct SecondHead {
    let identity: [UInt8]
    let floor, newest, durable: UInt64
    let isClosed: Bool

    init?(_ file: [UInt8]) {
        let slots = (0..<2).compactMap { slot -> (generation: UInt64, bytes: [UInt8])? in
            guard file.count >= (slot + 1) * 4096 else { return nil }
            let bytes = Array(file[slot * 4096..<(slot + 1) * 4096])
            guard Array(bytes[..<8]) == [0x89, 0x48, 0x45, 0x44, 0x0D, 0x0A, 0x1A, 0x0A],
                secondCRC(bytes[..<4092]) == UInt32(bytes.number(4092, 4)), bytes.number(64, 8) == 0,
                bytes[76] <= 1, bytes[77..<4092].allSatisfy({ $0 == 0 })
            else { return nil }
            return (bytes.number(8, 8), bytes)
        }
        guard let bytes = slots.max(by: { $0.generation < $1.generation })?.bytes else { return nil }
        identity = Array(bytes[16..<32])
        (floor, newest, durable) = (bytes.number(32, 8), bytes.number(40, 8), bytes.number(48, 8))
        isClosed = bytes.number(76, 4) == 1
    }
}

/// A frame whose header has its magic and its checksum.
struct SecondFrame {
    let offset, stored, raw, count: Int
    let first: UInt64
    let lag: UInt32
    let kind, flags: UInt8
    let sum, chain, payloadSum: UInt32

    init?(_ bytes: [UInt8], at offset: Int, seed: UInt32) {
        guard offset >= 0, offset + 40 <= bytes.count, bytes[offset] == 0xD7, bytes[offset + 1] == 0x46,
            bytes[offset + 2] == 0x52, bytes[offset + 3] == 0x4D,
            secondCRC(bytes[offset + 8..<offset + 40], seed) == UInt32(bytes.number(offset + 4, 4))
        else { return nil }
        self.offset = offset
        sum = UInt32(bytes.number(offset + 4, 4))
        (stored, raw) = (Int(bytes.number(offset + 8, 4)), Int(bytes.number(offset + 12, 4)))
        (first, lag) = (bytes.number(offset + 16, 8), UInt32(bytes.number(offset + 24, 4)))
        count = Int(bytes.number(offset + 28, 2))
        (kind, flags) = (bytes[offset + 30], bytes[offset + 31])
        (payloadSum, chain) = (UInt32(bytes.number(offset + 32, 4)), UInt32(bytes.number(offset + 36, 4)))
    }

    var length: Int { (40 + stored + 7) / 8 * 8 + 8 }
    var codec: UInt8 { flags & 7 }
    var continues: Bool { flags & 8 != 0 }
    var goesOn: Bool { flags & 16 != 0 }
    var isMasked: Bool { flags & 32 != 0 }

    var hasFittingLength: Bool { stored <= 1_052_704 }

    /// Whether the frame has a kind and codec that this version knows, and its fields are valid for its kind.
    func checkKind() throws(SecondRefusal) {
        if flags & 0x40 != 0 { throw .newer("encrypted") }
        guard [1, 3, 5, 6, 7, 9, 10].contains(kind) else {
            guard kind >= 128, count == 0 else { throw .newer("kind \(kind)") }
            guard !continues && !goesOn else { throw .broken("transaction flags") }
            return
        }
        guard codec < 2 else { throw .newer("codec \(codec)") }
        guard codec != 0 || stored == raw else { throw .broken("lengths") }
        guard kind == 1 ? count > 0 : count == 0 else { throw .broken("record count") }
        guard kind == 1 || kind == 10 || !continues && !goesOn else { throw .broken("transaction flags") }
        guard kind != 10 || goesOn else { throw .broken("a fragment that does not continue") }
        guard kind != 9 || codec == 0 && !isMasked else { throw .broken("a hole that is not plain") }
    }

    /// Checks what follows the header. The file is known to have the whole frame.
    func checkBody(in bytes: [UInt8]) throws(SecondRefusal) {
        let end = offset + length
        guard secondCRC(bytes[offset + 40..<offset + 40 + stored]) == payloadSum,
            bytes[(offset + 40 + stored)..<(end - 8)].allSatisfy({ $0 == 0 }),
            Array(bytes[end - 8..<end - 4]) == [0x45, 0x4E, 0x44, 0xD7], bytes.number(end - 4, 4) == UInt64(length)
        else { throw .broken("payload") }
    }

    /// The payload, unmasked and decompressed.
    func payload(in bytes: [UInt8]) throws(SecondRefusal) -> [UInt8] {
        if kind >= 128 { return [] }
        var stored = Array(bytes[offset + 40..<offset + 40 + stored])
        if isMasked { for index in stored.indices { stored[index] ^= 0xA5 } }
        if codec == 0 { return stored }
        return try secondDecompress(stored, to: raw)
    }
}
