// The part of a caller's order of rows that a page needs, and the times in which the caller had the right to a bucket.

import SynclineGround
import SynclineTables
import SynclineWire

/// The places after which rows are wanted, and at most how many.
struct RightsWindow: Hashable {
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

extension RightsWindow {
    init(_ plan: ListPlan) {
        let (page, isEndless) = plan.skip.addingReportingOverflow(plan.limit + 1)
        self.init(
            axis: .time, since: plan.filter?.earliestTime.map { $0 - 1 } ?? .min,
            limit: plan.endsEarly && !isEndless ? min(page, 1000) : 1000)
        if plan.endsEarly, let after = plan.after, let time = after.time, time >= since {
            (since, sinceID) = (time, after.id)
        }
    }

    init(_ plan: ChangePlan) {
        self.init(
            axis: .number, since: plan.since, sinceID: plan.sinceID, until: plan.until ?? .max,
            limit: plan.counts ? 1000 : min(plan.limit, 1000) + 1)
    }
}

extension ListPlan {
    /// Whether a list of what is new to a caller ends with its page: only one in the order of times does.
    var endsEarly: Bool { isByTime && !counts && after.map { $0.time != nil } ?? true }
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
