// External text in a line of the log: nothing in it may end the line, move a terminal's cursor or change its text
// direction.

import SynclineGround

enum LogText {
    /// The text with `\u001b` for invisible characters, as in JSON, so that JSON stays valid.
    static func escaped(_ text: String) -> String {
        guard text.unicodeScalars.contains(where: \.isUnsafeToShow) else { return text }
        var escaped = ""
        for scalar in text.unicodeScalars {
            guard scalar.isUnsafeToShow else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            escaped += "\\u" + Hexadecimal.text(scalar.value, digits: 4)
        }
        return escaped
    }
}
