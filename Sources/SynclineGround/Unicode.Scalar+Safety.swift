// The characters that are escaped wherever text of others is shown to a person: on a terminal and in logs.

extension Unicode.Scalar {
    /// Whether it could act as a terminal command or mislead a reader: control characters, line and paragraph
    /// separators, and characters that change the writing direction.
    package var isUnsafeToShow: Bool {
        switch value {
        case 0..<0x20, 0x7f..<0xa0, 0x61c, 0x200e, 0x200f, 0x2028...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}
