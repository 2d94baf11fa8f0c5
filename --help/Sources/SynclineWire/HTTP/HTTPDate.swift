// Dates in headers: `Sun, 06 Nov 1994 08:49:37 GMT`, and the two older forms that a server may still send, `Sunday,
// 06-Nov-94 08:49:37 GMT` and `Sun Nov  6 08:49:37 1994`.

package import SynclineCore
import SynclineGround

package enum HTTPDate {
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]
    private static let days = ["Thu", "Fri", "Sat", "Sun", "Mon", "Tue", "Wed"]

    package static func text(of instant: Timestamp.Instant) -> String {
        let day = floorDivide(instant.seconds, by: 86_400).quotient
        return Timestamp(instant, decimals: 0).withText { text in
            // 2026-05-19T21:30:00Z. A year of more than four digits can't be written in this form.
            guard text.count == 20 else { return String(decoding: text, as: UTF8.self) }
            let month = Int(CivilDate(daysSince1970: day).month)
            return String(unsafeUninitializedCapacity: 29) { bytes in
                var count = 0
                func add(_ part: some Sequence<UInt8>) {
                    for byte in part {
                        bytes[count] = byte
                        count += 1
                    }
                }
                add(days[Int(floorDivide(day, by: 7).remainder)].utf8)
                add(", ".utf8)
                add(text[8...9])
                add(CollectionOfOne(0x20))
                add(months[month - 1].utf8)
                add(CollectionOfOne(0x20))
                add(text[0...3])
                add(CollectionOfOne(0x20))
                add(text[11...18])
                add(" GMT".utf8)
                return count
            }
        }
    }

    /// Parses one of the three forms; nil for anything else. The name of the day is not checked.
    package static func instant(_ text: String) -> Timestamp.Instant? {
        let words = text.split { " ,-".contains($0) }.map(String.init)
        switch words.count {
        case 6 where words[5] == "GMT" && text.contains(","):
            return instant(day: words[1], month: words[2], year: words[3], time: words[4])
        case 5 where !text.contains(","):
            return instant(day: words[2], month: words[1], year: words[4], time: words[3])
        default: return nil
        }
    }

    private static func instant(day: String, month: String, year: String, time: String) -> Timestamp.Instant? {
        guard let place = months.firstIndex(of: month), day.count <= 2 else { return nil }
        var fullYear = year
        // Two digits are a year from 1970 to 2069.
        if year.utf8.count == 2 { fullYear = (year < "70" ? "20" : "19") + year }
        let month = place < 9 ? "0\(place + 1)" : "\(place + 1)"
        let date = "\(fullYear)-\(month)-\(day.count == 1 ? "0" : "")\(day)T\(time)"
        // A leap second counts as the second before it.
        let text = date.hasSuffix(":60") ? date.dropLast(2) + "59" : date[...]
        guard let timestamp = Timestamp(text + "Z"), timestamp.decimals == 0 else { return nil }
        return timestamp.instant
    }
}
