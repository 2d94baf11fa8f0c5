// External text in a line of the log: nothing in it may end the line, move a terminal's cursor or change its text
// direction.

import SynclineGround

enum LogText {
    /// The text with `\u001b` for invisible characters, as in JSON, so that JSON stays valid.
    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: isHidden) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            guard isHidden(scalar) else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            escaped += "\\u" + Hexadecimal.text(scalar.value, digits: 4)
        }
        return escaped
    }

    private static func isHidden(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7f..<0xa0, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
