// Moments in words, as people write them: `yesterday`, `11:00`, `2 hours ago`. In UTC, as all times are shown. Pure.

import SynclineGround

/// A moment in words.
package struct TimeWords: Hashable, Sendable {
    /// In milliseconds since 1970; of a day, its midnight.
    package var time: Int64
    /// Whether it names a whole day.
    package var isDay = false

    private static let day: Int64 = 86_400_000
    private static let units: [(names: [String], length: Int64)] = [
        (["s", "sec", "secs", "second", "seconds"], 1000), (["m", "min", "mins", "minute", "minutes"], 60_000),
        (["h", "hour", "hours"], 3_600_000), (["d", "day", "days"], day), (["w", "week", "weeks"], 7 * day),
    ]

    /// Parses words; nil if they are not a moment.
    /// - Parameter now: The time they are counted from.
    package init?(_ text: String, now: Int64) {
        let words = text.split(separator: " ", omittingEmptySubsequences: true).map { $0.lowercased() }
        let today = floorDivide(now, by: TimeWords.day).quotient * TimeWords.day
        switch (words.first, words.count) {
        case ("now", 1): time = now
        case ("today", 1), ("yesterday", 1):
            (time, isDay) = (words[0] == "today" ? today : today - TimeWords.day, true)
        case ("today", 2), ("yesterday", 2):
            guard let clock = TimeWords.clock(words[1]) else { return nil }
            time = (words[0] == "today" ? today : today - TimeWords.day) + clock
        case (let word?, 1):
            if let day = TimeWords.date(word) {
                (time, isDay) = (day, true)
            } else if let clock = TimeWords.clock(word) {
                // The last time that a clock showed it.
                time = today + clock <= now ? today + clock : today + clock - TimeWords.day
            } else {
                return nil
            }
        case (let word?, 2):
            if words[1] == "ago" {
                guard let length = TimeWords.joined(word) else { return nil }
                time = now - length
            } else {
                guard let day = TimeWords.date(word), let clock = TimeWords.clock(words[1]) else { return nil }
                time = day + clock
            }
        case (let word?, 3):
            guard words[2] == "ago", let length = TimeWords.length(word, words[1]) else { return nil }
            time = now - length
        default: return nil
        }
    }

    /// `2`, `hours`. No log is older than ten thousand weeks.
    private static func length(_ count: String, _ unit: String) -> Int64? {
        guard let count = ["a", "an"].contains(count) ? 1 : number(count, 6),
            let length = units.first(where: { $0.names.contains(unit) })?.length
        else { return nil }
        return count * length
    }

    /// `2h`.
    private static func joined(_ text: String) -> Int64? {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        return digits.isEmpty ? nil : length(String(digits), String(text.dropFirst(digits.count)))
    }

    /// `11:00`, `11:00:30` or `11:00:30.250`, in milliseconds.
    private static func clock(_ text: String) -> Int64? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 2 || parts.count == 3, let hour = number(parts[0], 2), hour < 24,
            parts[1].utf8.count == 2, let minute = number(parts[1], 2), minute < 60
        else { return nil }
        var time = (hour * 60 + minute) * 60_000
        guard parts.count == 3 else { return time }
        let seconds = parts[2].split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard seconds.count <= 2, seconds[0].utf8.count == 2, let second = number(seconds[0], 2), second < 60 else {
            return nil
        }
        time += second * 1000
        guard seconds.count == 2 else { return time }
        guard seconds[1].utf8.count == 3, let thousandths = number(seconds[1], 3) else { return nil }
        return time + thousandths
    }

    /// `2026-05-19`, in milliseconds.
    private static func date(_ text: String) -> Int64? {
        let parts = text.split(separator: "-", omittingEmptySubsequences: false).map(String.init)
        guard parts.map(\.utf8.count) == [4, 2, 2], let year = number(parts[0], 4), let month = number(parts[1], 2),
            let day = number(parts[2], 2)
        else { return nil }
        return CivilDate(year: year, month: month, day: day).seconds().map { $0 * 1000 }
    }

    /// Digits only.
    private static func number(_ text: String, _ digits: Int) -> Int64? {
        guard (1...digits).contains(text.utf8.count), text.utf8.allSatisfy({ (0x30...0x39).contains($0) }) else {
            return nil
        }
        return Int64(text)
    }
}
