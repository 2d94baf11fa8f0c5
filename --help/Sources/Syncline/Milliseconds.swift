// Times and durations as an app has them, and in milliseconds, as the store records them.

package import Foundation

extension Date {
    /// A number of milliseconds after 1970 began.
    package init(milliseconds: Int64) {
        self.init(timeIntervalSince1970: Double(milliseconds) / 1000)
    }

    /// Milliseconds since 1970; the nearest number that there is.
    package var milliseconds: Int64 {
        let value = (timeIntervalSince1970 * 1000).rounded()
        return Int64(exactly: value) ?? (value < 0 ? .min : .max)
    }
}

extension Duration {
    /// A thousand years in seconds.
    private static let longest: Int64 = 1000 * 366 * 86_400

    /// Whole milliseconds, at most a thousand years, so that the sum with a time is a number, too.
    package var milliseconds: Int64 {
        let (seconds, attoseconds) = components
        let bounded = max(-Duration.longest, min(seconds, Duration.longest))
        return bounded * 1000 + attoseconds / 1_000_000_000_000_000
    }
}
