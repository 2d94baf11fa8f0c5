// The segments of a log, with damage at its place.

extension LogReport.Segment {
    /// The compression ratio.
    package var ratio: Double? { compressionRatio(raw: rawLength, stored: length) }
}

extension LogReport {
    /// The segments in order, each followed by its damage. Damage without a position comes first; damage about
    /// missing segments comes where they should be.
    package var segmentsAndDamage: [Found<LogReport.Segment>] {
        var found: [Found<LogReport.Segment>] = []
        var waiting = damage.filter { !$0.file.hasSuffix(FileName.checkpointSuffix) }
            .sorted { ($0.position ?? .start) < ($1.position ?? .start) }[...]
        func tell(through position: LogPosition) {
            while let next = waiting.first, (next.position ?? .start) <= position {
                found.append(.damage(next))
                waiting.removeFirst()
            }
        }
        for segment in segments {
            tell(through: LogPosition(segment: segment.ordinal - 1, offset: .max))
            found.append(.item(segment))
            tell(through: LogPosition(segment: segment.ordinal, offset: .max))
        }
        return found + waiting.map(Found.damage)
    }
}
