// Values as safe, readable text: control characters escaped, numbers with separators, times in UTC.

import SegmentLog
import SynclineCore
import SynclineGround

/// Returns text on one line, with control characters escaped.
package func escaped(_ text: String) -> String {
    if !text.unicodeScalars.contains(where: \.isUnsafeToShow) { return text }
    var result = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\n": result += "\\n"
        case "\r": result += "\\r"
        case "\t": result += "\\t"
        case _ where scalar.isUnsafeToShow: result += "\\u{" + String(scalar.value, radix: 16) + "}"
        default: result.unicodeScalars.append(scalar)
        }
    }
    return result
}

/// Returns bytes as text on one line; bytes that are not UTF-8 are written as `\xff`.
package func escaped(bytes: some Collection<UInt8>) -> String {
    if let text = Array(bytes).withUnsafeBytes({ String(validUTF8: $0) }) { return escaped(text) }
    var result = ""
    for byte in bytes {
        if byte >= 0x20 && byte < 0x7f {
            result.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
            result += "\\x" + Hexadecimal.text(byte, digits: 2)
        }
    }
    return result
}

/// Returns a number rounded to a fixed number of decimals.
package func decimal(_ value: Double, places: Int) -> String {
    guard value.isFinite, abs(value) < 1e15 else { return "0" }
    var scale = 1
    for _ in 0..<places { scale *= 10 }
    let scaled = Int64((abs(value) * Double(scale)).rounded())
    let whole = scaled / Int64(scale)
    let sign = value < 0 && scaled > 0 ? "-" : ""
    guard places > 0 else { return "\(sign)\(whole)" }
    let fraction = String(scaled % Int64(scale))
    return "\(sign)\(whole)." + String(repeating: "0", count: places - fraction.count) + fraction
}

/// Returns a number in groups of three digits: `5,209,663`.
package func grouped(_ value: UInt64) -> String {
    let digits = Array(String(value))
    var text = ""
    for (index, digit) in digits.enumerated() {
        if index > 0 && (digits.count - index) % 3 == 0 { text += "," }
        text.append(digit)
    }
    return text
}

/// Returns a count with its noun: `1 segment`, `2,000 segments`.
package func counted(_ count: UInt64, _ noun: String, _ plural: String? = nil) -> String {
    "\(grouped(count)) \(count == 1 ? noun : plural ?? noun + "s")"
}

/// Returns a size with a readable unit: `312 B`, `1.2 MiB`.
package func humanBytes(_ count: UInt64) -> String {
    if count < 1024 { return "\(count) B" }
    var value = Double(count)
    for unit in ["KiB", "MiB", "GiB"] {
        value /= 1024
        if value < 999.95 { return decimal(value, places: value < 99.95 ? 1 : 0) + " " + unit }
    }
    return decimal(value / 1024, places: 1) + " TiB"
}

extension WallTime {
    /// The time in ISO 8601: `2023-11-14T22:13:20.000Z`.
    package var text: String { Timestamp(.init(milliseconds: rawValue), decimals: 3).description }

    /// The time for people, in UTC: `2023-11-14 22:13:20.000`.
    package var humanText: String { String(text.map { $0 == "T" ? " " : $0 }.dropLast()) }
}
