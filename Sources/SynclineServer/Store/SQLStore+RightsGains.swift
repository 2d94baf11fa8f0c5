// The rows that a caller has gained at one place, by new rights. They are told in the order of their ids as they arrive,
// if nothing else is told before the last of them.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

/// The place of rights that began, with rows that did not change since.
struct RightsGain {
    let place: Int64
    let spans: [BucketSpan]
}

/// What is next of a caller's spans: asked for once, as long as nothing but gains is told.
struct NextOfSpans: Sendable {
    /// Which spans have rows that did not change since the caller gained the right.
    fileprivate var haveGains: [BucketSpan: Bool] = [:]
    /// The places at which something else is next.
    fileprivate var changes: [BucketSpan: Int64] = [:]
    var left: Int64?
    /// Whether these places are those of the current window.
    var isKnown = false

    /// Whether it is known that no row left in the window.
    var haveNoneLeft: Bool { isKnown && left == nil }

    mutating func take(
        _ row: any SQLRow, _ spans: ArraySlice<BucketSpan>, _ window: RightsWindow, _ withDepartures: Bool
    ) {
        func place(_ column: Int, isTime: Bool) -> Int64? {
            if case .null = row.value(column) { return nil }
            return isTime ? row.instant(column).milliseconds : row.value(column).integer
        }
        let span = spans[Int(row.value(0).integer)]
        haveGains[span] = row.value(1).integer != 0
        changes[span] = place(2, isTime: window.axis == .time)
        if withDepartures, let place = place(3, isTime: false) { left = min(left ?? place, place) }
    }
}

extension RuledRead {
    /// The gains of a window among some places, in order.
    func gains(
        _ places: ArraySlice<(key: Int64, value: [BucketSpan])>, _ window: RightsWindow, _ next: inout NextOfSpans
    ) throws(StoreFailure) -> [RightsGain] {
        let new = places.flatMap(\.value).filter { next.haveGains[$0] == nil }
        if !new.isEmpty { try ask(new, window, &next, withDepartures: false) }
        return places.compactMap { place, spans in
            let spans = spans.filter { next.haveGains[$0] == true }
            return spans.isEmpty ? nil : RightsGain(place: place, spans: spans)
        }
    }

    /// The places of a window where rights began, in order.
    func gainPlaces(_ spans: [BucketSpan], _ window: RightsWindow) -> [(key: Int64, value: [BucketSpan])] {
        let open = spans.filter { $0.interval.end == nil }
        return Dictionary(grouping: open) { window.axis.value(of: $0.interval.begin) }
            .filter { window.has($0.key) }.sorted { $0.key < $1.key }
    }

    /// The first gain of a window, if nothing else is at its place or before it.
    func firstGain(
        _ spans: [BucketSpan], _ window: RightsWindow, _ next: inout NextOfSpans, _ withDepartures: Bool
    ) throws(StoreFailure) -> RightsGain? {
        let places = gainPlaces(spans, window)
        if places.isEmpty || spans.count > 4 * RuledRead.spansAtATime { return nil }
        if !next.isKnown { next = try ahead.answer(self, spans, window, withDepartures) ?? next }
        if !next.isKnown {
            (next.changes, next.left, next.isKnown) = ([:], nil, true)
            try ask(spans, window, &next, withDepartures: withDepartures)
        }
        guard let first = try gains(places[...], window, &next).first, first.spans.count <= RuledRead.spansAtATime,
            next.left.map({ $0 > first.place }) ?? true
        else { return nil }
        let axis = window.axis
        let isFirst = spans.allSatisfy { span in
            if let end = span.interval.end {
                let place = axis.value(of: end)
                return !withDepartures || !window.has(place) || place > first.place
            }
            return axis.value(of: span.interval.begin) >= first.place
                || next.changes[span].map { $0 > first.place } ?? true
        }
        return isFirst ? first : nil
    }

    private func ask(
        _ spans: [BucketSpan], _ window: RightsWindow, _ next: inout NextOfSpans, withDepartures: Bool
    ) throws(StoreFailure) {
        for (part, statement) in questions(spans, window, withDepartures) {
            try connection.forEachRow(of: statement) { next.take($0, part, window, withDepartures) }
        }
    }

    /// The statements that ask what is next of spans, each for some of them.
    func questions(
        _ spans: [BucketSpan], _ window: RightsWindow, _ withDepartures: Bool
    ) -> [(spans: ArraySlice<BucketSpan>, statement: SQLStatement)] {
        RuledRead.parts(spans).flatMap { part in
            Dictionary(grouping: zip(part.indices, part).map { (index: $0, span: $1) }, by: \.span.bucket).values
                .map { (part, statements.next($0, window, withDepartures: withDepartures)) }
        }
    }

    /// Tells what was gained at a place, and moves the window past it. Returns whether more is wanted.
    /// - Parameter told: The number of rows that were told before.
    func tell(
        _ gain: RightsGain, _ known: KnownRights, _ window: inout RightsWindow, after told: Int, _ body: TellingRights
    ) throws(StoreFailure) -> Bool {
        var part = window
        part.limit = max(RowScan.some, window.limit - told)
        var after = gain.place == window.since ? window.sinceID : nil
        // Rows of several buckets are neighbours in the order of all ids, if they are most of them.
        if gain.spans.count > 1 {
            let end = try scan(gain.place, known, &after, part, body)
            (window.since, window.sinceID) = (gain.place, nil)
            if end != .others { return end == .complete }
        }
        var (count, isWanted, merge) = (0, true, RightsMerge([], bound: nil))
        let isFew = try areFew(gain.spans, part)
        try connection.run(statements.gained(gain.spans[...], after: after, isFew: isFew, part)) { values in
            count += 1
            if caller.terms.count == 1 {
                // Each row is in one bucket.
                let row = statements.row(values)
                let id = row.id
                after = id
                isWanted = body(gain.place, id, RowRight(heldSince: begin(values, gain.spans)), consume row)
                return isWanted
            }
            let row = candidate(values, gain.spans, known, window.axis, at: gain.place)
            after = row.id
            isWanted = merge.tell(row, body)
            return isWanted
        }
        (window.since, window.sinceID) = (gain.place, count == part.limit ? after : nil)
        return isWanted
    }

    /// Tells what was gained at a place in the order of all ids after one, as long as most rows were gained there.
    private func scan(
        _ place: Int64, _ known: KnownRights, _ after: inout String?, _ window: RightsWindow, _ body: TellingRights
    ) throws(StoreFailure) -> RowScan.End {
        let (axis, seen) = (window.axis, SeenBuckets(known, statements.schema))
        var scan = beginScan()
        return try read(&scan, rest: { window.limit - $0.own }) {
            statements.scanned(after: after, nil, limit: $0)
        } last: {
            after = $0.value(1).text
        } row: { values in
            guard let since = seen.since(values), axis.value(of: since) == place else { return (false, true) }
            let row = statements.row(values)
            if axis.place(of: row, values) > place { return (false, true) }
            let id = row.id
            return (true, body(place, id, RowRight(heldSince: since), consume row))
        }
    }
}
