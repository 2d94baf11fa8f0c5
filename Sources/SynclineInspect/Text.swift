// Values as safe, readable text: control characters escaped, numbers with separators, times in UTC.

package import SegmentLog

extension Unicode.Scalar {
    /// Whether it could act as a terminal command or mislead a reader: control characters, line and paragraph
    /// separators, and characters that change the writing direction.
    package var isUnsafeToShow: Bool {
        switch value {
        case 0..<0x20, 0x7f..<0xa0, 0x2028, 0x2029, 0x202a...0x202e, 0x2066...0x2069: true
        default: false
        }
    }
}

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
    if let text = String(validating: bytes, as: UTF8.self) { return escaped(text) }
    var result = ""
    for byte in bytes {
        if byte >= 0x20 && byte < 0x7f {
            result.unicodeScalars.append(Unicode.Scalar(byte))
        } else {
            result += "\\x" + paddedHexadecimal(UInt32(byte), digits: 2)
        }
    }
    return result
}

func paddedHexadecimal(_ value: UInt32, digits: Int) -> String {
    let text = String(value, radix: 16)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
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
    package var text: String { parts.date + "T" + parts.time + "Z" }

    /// The time for people, in UTC: `2023-11-14 22:13:20.000`.
    package var humanText: String { parts.date + " " + parts.time }

    private var parts: (date: String, time: String) {
        let day: Int64 = 86_400_000
        var days = rawValue / day
        var rest = rawValue % day
        if rest < 0 {
            rest += day
            days -= 1
        }
        let date = civilDate(days)
        let time = (rest / 3_600_000, rest / 60_000 % 60, rest / 1000 % 60, rest % 1000)
        return (
            "\(padded(date.year, 4))-\(padded(date.month, 2))-\(padded(date.day, 2))",
            "\(padded(time.0, 2)):\(padded(time.1, 2)):\(padded(time.2, 2)).\(padded(time.3, 3))"
        )
    }
}

/// Returns the Gregorian date this many days after 1970-01-01, by eras of 400 years and years that begin in March.
private func civilDate(_ days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    let shifted = days + 719_468
    let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
    let dayOfEra = shifted - era * 146_097
    let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
    let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
    let shiftedMonth = (5 * dayOfYear + 2) / 153
    let month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
    let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
    return (year, month, dayOfYear - (153 * shiftedMonth + 2) / 5 + 1)
}

private func padded(_ value: Int64, _ digits: Int) -> String {
    let text = String(value)
    return String(repeating: "0", count: max(0, digits - text.count)) + text
}
