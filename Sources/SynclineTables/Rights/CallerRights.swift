// Computes what a caller may see: along the paths of a table's rule, what every step has in common.

package import SynclineGround
package import SynclineWire

/// Where edges and stays are kept.
package protocol RightsSource {
    /// The times in which a step led from one name to another.
    func edges(_ step: RuleEdge, from: String, to: String) throws(StoreFailure) -> [RightEdge]
    /// The same from one name to all others.
    func edges(_ step: RuleEdge, from: String) throws(StoreFailure) -> [RightEdge]
    /// The same from all names to one.
    func edges(_ step: RuleEdge, to: String) throws(StoreFailure) -> [RightEdge]
    /// The buckets in which a row was.
    func stays(_ table: String, id: String) throws(StoreFailure) -> [RowStay]
}

/// An alternative of a table's rule, and when the rule applied.
package struct RuleTerm: Hashable, Sendable {
    package var alternative: RuleAlternative
    package var interval: RightInterval

    package init(_ alternative: RuleAlternative, _ interval: RightInterval = .always) {
        (self.alternative, self.interval) = (alternative, interval)
    }
}

/// A bucket of a term, and when the caller had a right to it.
package struct BucketRight: Hashable, Sendable {
    package var bucket: RuleBucket
    package var name: String
    package var intervals: RightIntervals
}

package struct CallerRights: Hashable, Sendable {
    package let subject: String
    package let terms: [RuleTerm]

    package init(_ subject: String, _ terms: [RuleTerm]) { (self.subject, self.terms) = (subject, terms) }

    /// The right to a row with some stays.
    package func right(to stays: [RowStay], _ source: some RightsSource) throws(StoreFailure) -> RowRight {
        var right = RowRight()
        for stay in stays {
            for term in terms where term.alternative.bucket == stay.bucket {
                right.add(stay, try times(term.alternative, stay.name, source).intersection(term.interval))
            }
        }
        return right
    }

    /// The times in which an alternative leads from the caller to a bucket.
    private func times(
        _ alternative: RuleAlternative, _ name: String, _ source: some RightsSource
    ) throws(StoreFailure) -> RightIntervals {
        if alternative.bucket.column == nil { return .always }
        return try times(alternative.path[...], to: name, source)
    }

    private func times(
        _ path: ArraySlice<RuleEdge>, to name: String, _ source: some RightsSource
    ) throws(StoreFailure) -> RightIntervals {
        guard let last = path.last else { return name.hasSameBytes(as: subject) ? .always : RightIntervals() }
        if path.count == 1 {
            return RightIntervals(merging: try source.edges(last, from: subject, to: name).map(\.interval))
        }
        var found: [RightInterval] = []
        for edge in try source.edges(last, to: name) {
            found += try times(path.dropLast(), to: edge.ends.from, source).intersection(edge.interval).list
        }
        return RightIntervals(merging: found)
    }

    /// All buckets to which the caller has or had a right, one term after the other.
    package func buckets(_ source: some RightsSource) throws(StoreFailure) -> [BucketRight] {
        var found: [BucketRight] = []
        for term in terms {
            let alternative = term.alternative
            let start = alternative.bucket.column == nil ? RuleBucket.everybody : subject
            var names: [ExactString: RightIntervals] = [ExactString(start): .always]
            for step in alternative.path {
                var next: [ExactString: [RightInterval]] = [:]
                for (name, times) in names {
                    for edge in try source.edges(step, from: name.text) {
                        next[ExactString(edge.ends.to), default: []] += times.intersection(edge.interval).list
                    }
                }
                names = next.mapValues(RightIntervals.init(merging:))
            }
            for (name, times) in names {
                let times = times.intersection(term.interval)
                if times.isEmpty { continue }
                found.append(BucketRight(bucket: alternative.bucket, name: name.text, intervals: times))
            }
        }
        return found
    }

    /// When the caller's right to a row began; nil if he has none.
    package func since(_ row: TableRow, _ source: some RightsSource) throws(StoreFailure) -> Stamp? {
        var since: Stamp?
        for term in terms where term.interval.end == nil {
            let alternative = term.alternative
            guard let name = alternative.bucket.name(of: row) else { continue }
            let last = try times(alternative, name, source).intersection(term.interval).list.last
            guard let last, last.end == nil, since.map({ last.begin.change < $0.change }) ?? true else { continue }
            since = last.begin
        }
        return since
    }

    package enum Standing: Hashable, Sendable { case never, held, lost }

    /// Whether a rule covers a row for a caller with some roles, now or earlier.
    func standing(
        under rule: RowRule, _ row: TableRow, _ roles: Set<String>, _ source: some RightsSource
    ) throws(StoreFailure) -> Standing {
        var standing = Standing.never
        for alternative in rule.alternatives where alternative.role.map(roles.contains) ?? true {
            guard let name = alternative.bucket.name(of: row),
                let last = try times(alternative, name, source).list.last
            else { continue }
            if last.end == nil { return .held }
            standing = .lost
        }
        return standing
    }
}

/// All rights of a caller at a moment: what he may see of rows follows from their stays alone.
package struct KnownRights: Sendable {
    package let buckets: [BucketRight]
    private let times: [RuleBucket: [ExactString: [RightIntervals]]]
    /// When the rights that last began.
    package let open: [(bucket: RuleBucket, names: [ExactString: Stamp])]
    /// The latest time at which one of them began.
    package let latest: Int64

    package init(_ buckets: [BucketRight]) {
        self.buckets = buckets
        latest = buckets.compactMap { $0.intervals.list.last?.begin.time }.max() ?? .min
        var times: [RuleBucket: [ExactString: [RightIntervals]]] = [:]
        for right in buckets {
            times[right.bucket, default: [:]][ExactString(right.name), default: []].append(right.intervals)
        }
        self.times = times
        open = times.map { bucket, names in
            (bucket, names.compactMapValues { all in all.compactMap(\.since).min { $0.change < $1.change } })
        }
    }

    /// The right to a row with some stays.
    package func right(to stays: [RowStay]) -> RowRight {
        var right = RowRight()
        for stay in stays {
            for times in times[stay.bucket]?[ExactString(stay.name)] ?? [] { right.add(stay, times) }
        }
        return right
    }

    /// When the caller's right to a row began; nil if he has none.
    package func since(_ row: TableRow) -> Stamp? {
        var first: Stamp?
        for (bucket, names) in open {
            guard let name = bucket.name(of: row), let begin = names[ExactString(name)] else { continue }
            if first.map({ begin.change < $0.change }) ?? true { first = begin }
        }
        return first
    }
}
