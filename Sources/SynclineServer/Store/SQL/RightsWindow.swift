// The part of a caller's order of rows that a page needs, and the times in which the caller had the right to a bucket.

import SynclineGround
import SynclineTables

/// The places after which rows are wanted, and at most how many.
struct RightsWindow {
    /// The order of the places.
    enum Axis {
        case number, time

        func value(of stamp: Stamp) -> Int64 { self == .number ? stamp.change : stamp.time }
    }

    var axis: Axis
    var since: Int64
    var sinceID: String?
    var until: Int64 = .max
    var limit: Int

    /// Whether a place is in it.
    func has(_ place: Int64) -> Bool {
        place <= until && (place > since || place == since && sinceID != nil)
    }

    /// The condition that a column has a place of the window.
    func condition(_ column: String, _ id: String, _ value: (Int64) -> SQLValue) -> SQLText {
        var condition: SQLText = "\(column) > \(value(since))"
        if let sinceID { condition = "(\(column), \(id)) > (\(value(since)), \(.text(sinceID)))" }
        return until == .max ? condition : "\(condition) AND \(column) <= \(value(until))"
    }
}

/// A time in which a caller had the right to a bucket.
struct BucketSpan: Hashable {
    var bucket: RuleBucket
    /// The bucket's number among the stays.
    var number: Int64
    var name: ExactString
    var interval: RightInterval

    /// The same of all times.
    var inBucket: BucketSpan {
        var span = self
        span.interval = .always
        return span
    }
}
