// The rules for a row's id, checked before anything is stored.

/// Why an id is not valid.
package enum RowIDFault: Error, Hashable, Sendable {
    case empty
    case blank
    /// It has this many UTF-16 units; the maximum is 255.
    case tooLong(Int)
    case forbidden(Unicode.Scalar)
    /// `.` or `..`.
    case dots

    /// The fault, as part of a sentence.
    package var reason: String {
        switch self {
        case .empty: "it is empty"
        case .blank: "it is blank"
        case .tooLong(let units): "it has \(units) UTF-16 units, more than \(RowID.limit)"
        case .forbidden(let scalar): "it contains the character U+\(String(scalar.value, radix: 16, uppercase: true))"
        case .dots: "it is only dots"
        }
    }
}

/// The rules for a row's id.
package enum RowID {
    /// The maximum number of UTF-16 units.
    package static let limit = 255

    /// Throws if a string is not a valid id: 1 … 255 UTF-16 units, not blank, not `.` or `..`, without control
    /// characters and without `"`, `+`, `?`, `\`, `/` and the backtick.
    package static func check(_ id: String) throws(RowIDFault) {
        if isPlain(id) { return }
        if id.isEmpty { throw .empty }
        let units = id.utf16.count
        if units > limit { throw .tooLong(units) }
        if id == "." || id == ".." { throw .dots }
        var isBlank = true
        for scalar in id.unicodeScalars {
            switch scalar.value {
            case 0x00...0x1f, 0x7f...0x9f, 0x22, 0x2b, 0x3f, 0x5c, 0x2f, 0x60: throw .forbidden(scalar)
            default: break
            }
            if !scalar.properties.isWhitespace { isBlank = false }
        }
        if isBlank { throw .blank }
    }

    /// Returns whether it has 3 to 255 characters, all of them letters, digits, dashes or underscores. This check
    /// alone accepts most ids and table names.
    static func isPlain(_ id: String) -> Bool {
        var id = id
        return id.withUTF8 { utf8 in
            guard utf8.count > 2, utf8.count <= limit else { return false }
            // Without branches, because the letters and digits of an id are not predictable.
            var wrong: UInt8 = 0
            for byte in utf8 {
                let isNoLetter: UInt8 = (byte | 0x20) &- 0x61 < 26 ? 0 : 1
                let isNoDigit: UInt8 = byte &- 0x30 <= 9 ? 0 : 1
                wrong |= isNoLetter & isNoDigit & (byte == 0x2d || byte == 0x5f ? 0 : 1)
            }
            return wrong == 0
        }
    }
}
