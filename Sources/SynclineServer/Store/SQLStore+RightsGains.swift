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

/// Which spans have such rows. Each is asked for once.
struct GainedSpans {
    fileprivate var haveRows: [BucketSpan: Bool] = [:]
}

extension RuledRead {
    /// The gains of a window among some places, in order.
    func gains(
        _ places: ArraySlice<(key: Int64, value: [BucketSpan])>, _ window: RightsWindow, _ gained: inout GainedSpans
    ) throws(StoreFailure) -> [RightsGain] {
        let new = places.flatMap(\.value).filter { gained.haveRows[$0] == nil }
        if !new.isEmpty {
            for span in new { gained.haveRows[span] = false }
            for span in try counts(new, changed: false, window, limit: 1).spans { gained.haveRows[span] = true }
        }
        return places.compactMap { place, spans in
            let spans = spans.filter { gained.haveRows[$0] == true }
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
        _ spans: [BucketSpan], _ window: RightsWindow, _ gained: inout GainedSpans, _ withDepartures: Bool
    ) throws(StoreFailure) -> RightsGain? {
        let places = gainPlaces(spans, window).prefix(RuledRead.spansAtATime)
        guard let first = try gains(places, window, &gained).first, first.spans.count <= RuledRead.spansAtATime else {
            return nil
        }
        var before = window
        (before.until, before.limit) = (first.place, 1)
        let older = spans.filter { span in
            span.interval.end == nil && window.axis.value(of: span.interval.begin) < first.place
        }
        if try has(older, { statements.changed($0, before) }) { return nil }
        if !withDepartures { return first }
        let ended = spans.contains { $0.interval.end.map { before.has(window.axis.value(of: $0)) } ?? false }
        if ended { return nil }
        let haveLeft = try has(Array(Set(spans.map(\.inBucket)))) { RightsSQL.left($0, before, dialect) }
        return haveLeft ? nil : first
    }

    /// Whether a statement about spans returns something; also true if it would have too many of them.
    private func has(
        _ spans: [BucketSpan], _ statement: (ArraySlice<BucketSpan>) -> SQLStatement
    ) throws(StoreFailure) -> Bool {
        if spans.isEmpty || spans.count > RuledRead.spansAtATime { return !spans.isEmpty }
        return try connection.first(statement(spans[...]), count: 1) != nil
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
        var scan = RowScan()
        return try read(&scan, rest: { window.limit - $0.own }) {
            statements.scanned(after: after, nil, limit: $0)
        } last: {
            after = $0.value(1).text
        } row: { values in
            guard let since = seen.since(values), axis.value(of: since) == place else { return (false, true) }
            let row = statements.row(values).row
            if axis.place(of: row, values) > place { return (false, true) }
            return (true, body(place, row.id, RowRight(heldSince: since), row))
        }
    }
}
