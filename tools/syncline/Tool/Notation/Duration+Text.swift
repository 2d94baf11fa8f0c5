// Spans of time in words, in the largest unit that fits.

/// Returns a number of milliseconds: `0.120 s`, `5 minutes`, `3 days`.
package func duration(_ milliseconds: Int64) -> String {
    let length = max(0, milliseconds)
    if length < 60_000 { return decimal(Double(length) / 1000, places: 3) + " s" }
    for (size, noun) in [(86_400_000, "day"), (3_600_000, "hour")] as [(Int64, String)] where length >= size {
        return counted(UInt64(length / size), noun)
    }
    return counted(UInt64(length / 60_000), "minute")
}

/// Returns how long ago a moment was, in milliseconds since 1970: `5 minutes ago`. A clock may have been set back.
package func ago(_ time: Int64, now: Int64) -> String {
    let (age, isOverflow) = now.subtractingReportingOverflow(time)
    if isOverflow || age < 0 { return "in the future" }
    return age < 1000
        ? "just now" : age < 60_000 ? "\(counted(UInt64(age / 1000), "second")) ago" : duration(age) + " ago"
}
