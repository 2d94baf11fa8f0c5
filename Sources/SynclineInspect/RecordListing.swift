// The records of a log, in order, going on behind damage: whole transactions only, each damaged stretch at its place.

package import SegmentLog

/// A record as the log has it.
package struct RecordEntry: Hashable, Sendable {
    package var sequence: SequenceNumber
    package var time: WallTime
    package var bytes: [UInt8]

    package init(sequence: SequenceNumber, time: WallTime, bytes: [UInt8]) {
        self.sequence = sequence
        self.time = time
        self.bytes = bytes
    }
}

/// What stands at a place among the records.
package enum RecordFound: Hashable, Sendable {
    case record(RecordEntry)
    /// Records that an earlier repair or salvage could not keep.
    case hole(SequenceRange)
    case damage(LogDamage)
}

extension LogInspection {
    /// Visits the records from an address on; returns where the next would stand.
    package func records(
        from address: Address?, _ visit: (RecordFound) throws -> Void
    ) throws -> SequenceNumber {
        let catalog = try catalog()
        let wanted = try range(address, catalog)
        let segments = catalog.segments
        let start = segments.lastIndex { $0.first <= wanted.first } ?? 0
        var walk = LogWalk(self, catalog)
        let transaction = RecordTransaction(wanted)
        guard start < segments.count else { return wanted.first }
        try walk.run(start..<segments.count) { found, segment in
            try transaction.take(found, in: segment, visit)
        } damage: { damage in
            transaction.reset()
            if let lost = damage.records, lost.last < wanted.first || lost.first > wanted.last { return }
            try visit(.damage(damage))
        }
        return max(transaction.next, wanted.first)
    }

    private func range(_ address: Address?, _ catalog: LogCatalog) throws(LogError) -> SequenceRange {
        let end = SequenceNumber(rawValue: .max)
        let floor = catalog.segments.first?.first ?? .first
        switch address {
        case nil:
            return SequenceRange(first: floor, last: end)
        case .record(let number):
            try check(number, floor)
            return SequenceRange(first: number, last: end)
        case .fromEnd(let back):
            return SequenceRange(first: max(floor, try record(fromEnd: back, catalog)), last: end)
        case .records(let range):
            try check(range.first, floor)
            return range
        case .segment, .position:
            throw LogError(
                .invalidArgument, "records are addressed by number, not by place",
                hint: "`syncline inspect frames` shows which records stand at a place.")
        }
    }

    private func check(_ number: SequenceNumber, _ floor: SequenceNumber) throws(LogError) {
        if number < floor {
            throw LogError(
                .collected, "record \(number) was collected: the log begins with \(floor)",
                hint: "Start from \(floor).")
        }
    }
}

/// Collects a transaction while its frames arrive and hands it out when it is whole.
private final class RecordTransaction {
    private let wanted: SequenceRange
    private var records: [RecordEntry] = []
    private var fragments: [UInt8] = []
    private var decoder = PayloadDecoder()
    private var segment: UInt64 = 0
    private(set) var next = SequenceNumber.first

    init(_ wanted: SequenceRange) {
        self.wanted = wanted
    }

    func reset() {
        records.removeAll()
        fragments.removeAll()
    }

    func take(
        _ found: DamageWalk.Visit, in segment: LogCatalog.Segment, _ visit: (RecordFound) throws -> Void
    ) throws {
        if self.segment != segment.ordinal {
            self.segment = segment.ordinal
            decoder.dictionary = []
            reset()
        }
        let header = found.header
        // What was wanted has been shown, or is still to come.
        let last = header.firstSequence.advanced(by: UInt64(header.recordCount))
        if header.knownKind == .data && (last <= wanted.first || header.firstSequence > wanted.last) {
            next = max(next, last)
            return reset()
        }
        guard let payload = decoder.payload(of: header, stored: found.stored) else {
            reset()
            return try visit(.damage(undecodable(found, segment)))
        }
        switch header.knownKind {
        case .dictionary: decoder.dictionary = [UInt8](payload)
        case .fragment: fragments += payload
        case .hole:
            if let hole = HolePayload(of: header, payload), hole.recordCount > 0 {
                let lost = SequenceRange(first: header.firstSequence, count: hole.recordCount)
                next = max(next, lost.last.next)
                if lost.last >= wanted.first && lost.first <= wanted.last { try visit(.hole(lost)) }
            }
        case .data: try take(header, payload, visit)
        default: break
        }
    }

    private func take(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer, _ visit: (RecordFound) throws -> Void
    ) throws {
        guard payload.count >= 8 else { return reset() }
        let time = WallTime(rawValue: payload.number(at: 0))
        fragments += UnsafeRawBufferPointer(rebasing: payload.dropFirst(8))
        fragments.withUnsafeBytes { bytes in
            var wire = RecordWire(bytes)
            var number = header.firstSequence
            while let record = wire.next() {
                if wanted.contains(number) {
                    records.append(RecordEntry(sequence: number, time: time, bytes: [UInt8](record)))
                }
                number = number.next
            }
        }
        fragments.removeAll(keepingCapacity: true)
        guard header.flags.isDisjoint(with: .continuesInNext) else { return }
        next = max(next, header.firstSequence.advanced(by: UInt64(header.recordCount)))
        for record in records { try visit(.record(record)) }
        records.removeAll(keepingCapacity: true)
    }

    private func undecodable(_ found: DamageWalk.Visit, _ segment: LogCatalog.Segment) -> LogDamage {
        let lost = SequenceRange(first: found.header.firstSequence, count: UInt64(found.header.recordCount))
        return LogDamage(
            file: segment.name, position: LogPosition(segment: segment.ordinal, offset: found.offset),
            length: .bytes(UInt64(found.header.frameLength)), records: lost.isEmpty ? nil : lost,
            reason: "the payload does not decompress", remedy: .salvage)
    }
}
