// Base64 for bytes that are not a string.

private let digits = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".unicodeScalars)

/// Returns bytes in base64 with padding.
package func base64(_ bytes: some Collection<UInt8>) -> String {
    var text = String.UnicodeScalarView()
    var rest = 0
    var bits = 0
    for byte in bytes {
        rest = (rest << 8 | Int(byte)) & 0xffff
        bits += 8
        while bits >= 6 {
            bits -= 6
            text.append(digits[rest >> bits & 0x3f])
        }
    }
    if bits > 0 { text.append(digits[rest << (6 - bits) & 0x3f]) }
    while text.count % 4 != 0 { text.append("=") }
    return String(text)
}
