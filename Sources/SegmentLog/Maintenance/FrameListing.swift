// The frames of a log, in order, with damage at its place.

/// A frame and its content beyond the header.
package struct FrameEntry: Hashable, Sendable {
    package var summary: FrameSummary
    /// Nil if it can't be read.
    package var content: FrameContent?

    package init(summary: FrameSummary) { self.summary = summary }
}

/// What a frame says beyond its header.
package enum FrameContent: Hashable, Sendable {
    /// Records that were written at this time.
    case records(WallTime)
    /// Records that are known to be lost.
    case hole(SequenceRange)
    /// Space without records.
    case filler
    case session(SessionPayload)
    case index(places: Int, note: LogNote?)
    /// The end of a segment, after this record.
    case seal(SequenceNumber)
    /// A part of this record.
    case fragment(SequenceNumber)
}

/// Selects frames.
package struct FrameSelection: Hashable, Sendable {
    /// Only this segment.
    package var segment: UInt64?
    /// Where to begin.
    package var position = LogPosition.start
    /// Only from these records on; a range also has the end.
    package var records: RecordAddress?

    package init(segment: UInt64? = nil) {
        self.segment = segment
    }
}

extension LogInspection {
    /// Visits the selected frames and the damage between them.
    package func frames(_ selection: FrameSelection, _ visit: (Found<FrameEntry>) throws -> Void) throws {
        let catalog = try catalog()
        let start = try FrameStart(selection, catalog, self)
        let indices = catalog.segments.indices.filter { index in
            let ordinal = catalog.segments[index].ordinal
            return start.mayHold(index, in: catalog) && (selection.segment ?? ordinal) == ordinal
        }
        guard let first = indices.first, let last = indices.last else {
            if let segment = selection.segment { throw LogInspection.noSegment(segment, catalog) }
            return
        }
        var walk = LogWalk(self, catalog)
        let reader = FrameReader()
        try walk.run(first..<last + 1) { found, segment in
            let entry = reader.entry(found, in: segment)
            if start.holds(entry.summary) { try visit(.item(entry)) }
        } damage: { damage in
            if start.holds(damage) { try visit(.damage(damage)) }
        }
    }

    static func noSegment(_ wanted: UInt64, _ catalog: LogCatalog) -> LogError {
        let hint: String? =
            if let first = catalog.segments.first, let last = catalog.segments.last {
                "The log has segments \(first.ordinal) to \(last.ordinal)."
            } else {
                nil
            }
        return LogError(.invalidArgument, "there is no segment \(wanted)", hint: hint)
    }

    /// Returns the last record of a log, also if records before it are damaged.
    package func lastRecord(_ catalog: LogCatalog) throws(LogError) -> SequenceNumber {
        guard let segment = catalog.segments.last else { return .none }
        guard let header = segment.header else { return segment.first.previous }
        let tail = try tail(of: segment, header)
        var last = tail.scan.tail.next.previous
        guard let damage = tail.damage, damage.remedy == .salvage else { return last }
        var walk = try DamageWalk(segment, of: catalog, in: storage, through: segment.size, before: nil)
        while let step = try walk.next() {
            if case .frame(let found) = step { last = max(last, found.header.nextSequence.previous) }
        }
        return last
    }

    /// Returns the last record that something in the files proves to be durable.
    package func lastDurableRecord() throws(LogError) -> SequenceNumber {
        let catalog = try catalog()
        guard let segment = catalog.segments.last else { return .none }
        guard let header = segment.header else { return segment.first.previous }
        return try tail(of: segment, header).scan.durableThrough
    }

    /// Returns where the frames of a segment end; zeros ahead or damage may follow.
    package func end(of segment: LogCatalog.Segment) throws(LogError) -> UInt64 {
        guard segment.end == nil, let header = segment.header else { return segment.reach }
        return try tail(of: segment, header).scan.tail.offset
    }

    /// Returns the record for an address that counts back from the end.
    package func record(fromEnd back: UInt64, _ catalog: LogCatalog) throws(LogError) -> SequenceNumber {
        let last = try lastRecord(catalog).rawValue
        return SequenceNumber(rawValue: max(1, last &+ 1 &- min(back, last)))
    }
}

/// Where a list of frames begins, and perhaps ends.
private struct FrameStart {
    let position: LogPosition
    var records: SequenceRange?
    var isRange = false

    init(_ selection: FrameSelection, _ catalog: LogCatalog, _ inspection: LogInspection) throws(LogError) {
        position = selection.position
        switch selection.records {
        case nil: break
        case .number(let number)?: records = SequenceRange(first: number, last: SequenceNumber(rawValue: .max))
        case .fromEnd(let back)?:
            records = SequenceRange(
                first: try inspection.record(fromEnd: back, catalog), last: SequenceNumber(rawValue: .max))
        case .range(let range)?:
            records = range
            isRange = true
        }
    }

    func mayHold(_ index: Int, in catalog: LogCatalog) -> Bool {
        let segment = catalog.segments[index]
        guard segment.ordinal >= position.segment else { return false }
        guard let records else { return true }
        let next = catalog.segments.successor(of: index)?.first ?? SequenceNumber(rawValue: .max)
        return next > records.first && (!isRange || segment.first <= records.last)
    }

    func holds(_ frame: FrameSummary) -> Bool {
        let place = frame.position
        if place.segment == position.segment && place.offset + frame.length.rawValue <= position.offset { return false }
        guard let records else { return true }
        // A frame without records has the number of the next one.
        let last = frame.records.isEmpty ? frame.records.first : frame.records.last
        if isRange && frame.records.isEmpty && frame.kind != .fragment && frame.kind != .hole { return false }
        return last >= records.first && (!isRange || frame.records.first <= records.last)
    }

    func holds(_ damage: LogDamage) -> Bool {
        guard let place = damage.position else { return false }
        if place.segment == position.segment && place.offset + damage.length.rawValue < position.offset { return false }
        guard let records, let lost = damage.records else { return true }
        return lost.last >= records.first && (!isRange || lost.first <= records.last)
    }
}

/// Reads the contents of frames.
private struct FrameReader {
    private let decoder = PayloadDecoder()

    func entry(_ found: DamageWalk.Frame, in segment: LogCatalog.Segment) -> FrameEntry {
        let header = found.header
        var entry = FrameEntry(
            summary: FrameSummary(header, at: LogPosition(segment: segment.ordinal, offset: found.offset)))
        if header.knownKind == .data {
            entry.content = decoder.time(of: header, stored: found.stored).map(FrameContent.records)
        } else if let payload = decoder.payload(of: header, stored: found.stored) {
            entry.content = FrameReader.content(header, payload)
        }
        return entry
    }

    private static func content(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer) -> FrameContent? {
        switch header.knownKind {
        case .session: return SessionPayload(payload).map(FrameContent.session)
        case .hole:
            guard let hole = HolePayload(of: header, payload), hole.recordCount > 0 else { return .filler }
            return .hole(SequenceRange(first: header.firstSequence, count: hole.recordCount))
        case .index: return IndexPayload(payload).map { .index(places: $0.entries.count, note: $0.note) }
        case .seal: return SealPayload(payload).map { .seal($0.lastSequence) }
        case .fragment: return .fragment(header.firstSequence)
        default: return nil
        }
    }
}
