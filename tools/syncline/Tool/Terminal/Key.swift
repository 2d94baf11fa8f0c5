// Keys, read from the bytes that a terminal sends. The code is pure: bytes in, keys out.

import SynclineGround

enum Key: Hashable, Sendable {
    case character(Character)
    case enter, tab, backspace, delete, left, right, up, down, home, end, wordLeft, wordRight
    /// Control with a letter.
    case control(Character)
    case unknown
}

/// Collects bytes until they make a key.
struct KeyDecoder {
    private var pending: [UInt8] = []

    /// The key that a byte completes; nil if more bytes must follow.
    mutating func take(_ byte: UInt8) -> Key? {
        pending.append(byte)
        let key = pending[0] == 0x1b ? escape() : plain()
        if key != nil { pending.removeAll() }
        return key
    }

    private func plain() -> Key? {
        switch pending[0] {
        case 0x0a, 0x0d: return .enter
        case 0x09: return .tab
        case 0x08, 0x7f: return .backspace
        case 0x01...0x1a: return .control(Character(Unicode.Scalar(pending[0] + 0x60)))
        case 0..<0x20: return .unknown
        case 0x20..<0x80: return .character(Character(Unicode.Scalar(pending[0])))
        default:
            let length = pending[0] >= 0xf0 ? 4 : pending[0] >= 0xe0 ? 3 : pending[0] >= 0xc0 ? 2 : 1
            if pending.count < length { return nil }
            guard let text = pending.withBytes({ String(validUTF8: $0) }), let character = text.first else {
                return .unknown
            }
            return .character(character)
        }
    }

    private static let sequences: [String: Key] = [
        "[A": .up, "[B": .down, "[C": .right, "[D": .left, "[H": .home, "[F": .end, "OA": .up, "OB": .down,
        "OC": .right, "OD": .left, "OH": .home, "OF": .end, "[1~": .home, "[4~": .end, "[7~": .home, "[8~": .end,
        "[3~": .delete, "[1;5C": .wordRight, "[1;5D": .wordLeft, "[1;3C": .wordRight, "[1;3D": .wordLeft,
        "b": .wordLeft, "f": .wordRight,
    ]

    private func escape() -> Key? {
        guard pending.count > 1 else { return nil }
        let text = String(decoding: pending.dropFirst(), as: UTF8.self)
        if let key = KeyDecoder.sequences[text] { return key }
        guard let last = pending.last, pending[1] == UInt8(ascii: "[") || pending[1] == UInt8(ascii: "O") else {
            return .unknown
        }
        // A sequence ends with a letter or a tilde.
        let isEnd = pending.count > 2 && (0x40...0x7e).contains(last)
        return isEnd || pending.count > 8 ? .unknown : nil
    }
}
