// The records of a log in order, continuing after damage: only whole transactions, with each damaged stretch at its
// place.

/// A record of the log.
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

/// A record, or the damage in its place.
package enum RecordFound: Hashable, Sendable {
    case record(RecordEntry)
    /// Records that an earlier repair or salvage could not keep.
    case hole(SequenceRange)
    case damage(LogDamage)

    /// Whether records are lost here. Those of an interrupted write never were in the log.
    package var isLoss: Bool {
        switch self {
        case .record: false
        case .hole: true
        case .damage(let damage): damage.remedy != .cutTail
        }
    }
}

/// Where to begin with the records of a log.
package enum RecordAddress: Hashable, Sendable {
    case number(SequenceNumber)
    /// Counted back from the end: 1 is the last record, 2 the one before.
    case fromEnd(UInt64)
    /// Where to begin, and where to end.
    case range(SequenceRange)
}

extension LogInspection {
    /// Visits the records from an address on; returns where the next one would be.
    package func records(
        from address: RecordAddress?, _ visit: (RecordFound) throws -> Void
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

    private func range(_ address: RecordAddress?, _ catalog: LogCatalog) throws(LogError) -> SequenceRange {
        let end = SequenceNumber(rawValue: .max)
        let floor = catalog.floor
        switch address {
        case nil:
            return SequenceRange(first: floor, last: end)
        case .number(let number)?:
            try check(number, floor)
            return SequenceRange(first: number, last: end)
        case .fromEnd(let back)?:
            return SequenceRange(first: max(floor, try record(fromEnd: back, catalog)), last: end)
        case .range(let range)?:
            try check(range.first, floor)
            return range
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

/// Collects the frames of a transaction, and returns it when it is complete, or why it can't be read.
private final class RecordTransaction {
    private let wanted: SequenceRange
    private var records: [RecordEntry] = []
    private var assembler = RecordAssembler()
    private let decoder = PayloadDecoder()
    private var segment: UInt64 = 0
    /// Its first record.
    private var first: SequenceNumber?
    /// The first thing wrong with it.
    private var damage: LogDamage?
    private(set) var next = SequenceNumber.first

    init(_ wanted: SequenceRange) {
        self.wanted = wanted
    }

    func reset() {
        records.removeAll(keepingCapacity: true)
        assembler.reset()
        (first, damage) = (nil, nil)
    }

    func take(
        _ found: DamageWalk.Frame, in segment: LogCatalog.Segment, _ visit: (RecordFound) throws -> Void
    ) throws {
        if self.segment != segment.ordinal {
            self.segment = segment.ordinal
            reset()
        }
        let header = found.header
        switch header.knownKind {
        case .hole: try show(HolePayload(of: header, found.stored), at: header.firstSequence, visit)
        case .fragment: read(found, in: segment)
        case .data:
            first = first ?? header.firstSequence
            let end = header.nextSequence
            next = max(next, end)
            // The requested records have been shown, or are still to come.
            if end <= wanted.first || header.firstSequence > wanted.last {
                assembler.reset()
            } else {
                read(found, in: segment)
            }
            if header.flags.isDisjoint(with: .continuesInNext) { try finish(through: end.previous, visit) }
        default:
            let payload = decoder.payload(of: header, stored: found.stored)
            if payload == nil { try visit(.damage(RecordTransaction.damage(found, segment, .undecodable))) }
        }
    }

    private func show(
        _ hole: HolePayload?, at first: SequenceNumber, _ visit: (RecordFound) throws -> Void
    ) throws {
        guard let hole, hole.recordCount > 0 else { return }
        let lost = SequenceRange(first: first, count: hole.recordCount)
        next = max(next, lost.last.next)
        if lost.last >= wanted.first && lost.first <= wanted.last { try visit(.hole(lost)) }
    }

    private func read(_ found: DamageWalk.Frame, in segment: LogCatalog.Segment) {
        let header = found.header
        first = first ?? header.firstSequence
        do throws(RecordFault) {
            let payload = decoder.payload(of: header, stored: found.stored)
            guard let assembled = try assembler.take(header, payload) else { return }
            var wire = RecordWire(assembled.wire)
            var number = header.firstSequence
            while let record = wire.next() {
                if wanted.contains(number) {
                    records.append(RecordEntry(sequence: number, time: assembled.time, bytes: [UInt8](record)))
                }
                number = number.next
            }
        } catch {
            damage = damage ?? RecordTransaction.damage(found, segment, error)
        }
    }

    private static func damage(
        _ found: DamageWalk.Frame, _ segment: LogCatalog.Segment, _ fault: RecordFault
    ) -> LogDamage {
        segment.damage(at: found.offset, length: UInt64(found.header.frameLength), reason: fault.reason)
    }

    private func finish(through last: SequenceNumber, _ visit: (RecordFound) throws -> Void) throws {
        defer { reset() }
        if var damage {
            damage.records = SequenceRange(first: first ?? last, last: last)
            return try visit(.damage(damage))
        }
        for record in records { try visit(.record(record)) }
    }
}
