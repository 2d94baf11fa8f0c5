// Reads all that is intact of a log, in the order of its records, whatever its files are named. Changes nothing.

/// The intact parts of a log.
package struct SalvageReading: Sendable {
    /// The identity of the log: the one that most of its segments have.
    package private(set) var identity: LogIdentity
    /// The intact records, in ranges without a gap.
    package private(set) var whole: [SequenceRange] = []
    /// The first record the log should have.
    package var first: SequenceNumber {
        let first = whole.first?.first
        return min(floor ?? first ?? .first, first ?? floor ?? .first)
    }
    /// The last record that was acknowledged or is intact.
    package var last: SequenceNumber { max(attested, whole.last?.last ?? .none) }
    /// Whether HEAD says how many records were durable. If not, records may be missing after the last one.
    package private(set) var endIsKnown = false
    /// Segments of another log.
    package private(set) var foreign: [String] = []
    private var floor: SequenceNumber?
    private var attested = SequenceNumber.none

    /// The records from `first` through `last` that are not intact.
    package var lost: [SequenceRange] {
        var lost: [SequenceRange] = []
        var next = first
        for range in whole + [SequenceRange(first: last.next, last: last)] {
            if range.first > next { lost.append(SequenceRange(first: next, last: range.first.previous)) }
            next = max(next, range.last.next)
        }
        return lost
    }

    /// Calls `body` with each intact transaction: its first record, its time and its records. A transaction stored
    /// in two files is passed once.
    package init(
        _ storage: any LogStorage,
        _ body: (SequenceNumber, WallTime, RecordBatch) throws(LogError) -> Void = { _, _, _ in }
    ) throws(LogError) {
        var catalog = try LogCatalog(storage)
        if let newer = catalog.damage.first(where: { $0.remedy == .upgrade }) { throw newer.error }
        identity = try SalvageReading.identity(of: catalog, storage)
        catalog.identity = identity
        if let head = catalog.head, head.identity == identity {
            floor = head.floor
            attested = head.durableThrough
            endIsKnown = catalog.endIsKnown
        } else {
            catalog.head = nil
        }
        let quarantined = try catalog.quarantinedCopies(in: storage)
        foreign = catalog.segments.filter { $0.header.map { $0.identity != identity } ?? false }.map(\.name)
        catalog.segments = SalvageReading.inOrder(
            (catalog.segments + catalog.copies + quarantined).filter { !foreign.contains($0.name) })
        var rest = catalog.segments[...]
        while let segment = rest.first {
            let copies = rest.prefix { $0.ordinal == segment.ordinal && $0.first == segment.first }
            rest = rest.dropFirst(copies.count)
            let next = rest.first?.header
            try read(copies, of: storage, catalog, next?.ordinal == segment.ordinal + 1 ? next : nil, body)
        }
    }

    /// Reads a segment that may be there several times: what one of the files lacks, another may have.
    private mutating func read(
        _ copies: ArraySlice<LogCatalog.Segment>, of storage: any LogStorage, _ catalog: LogCatalog,
        _ successor: SegmentHeader?, _ body: (SequenceNumber, WallTime, RecordBatch) throws(LogError) -> Void
    ) throws(LogError) {
        var found: [(segment: LogCatalog.Segment, range: SequenceRange)] = []
        for var segment in copies {
            segment.end = successor?.previousLength
            if copies.count == 1 { return try read(segment, of: storage, catalog, successor, body) }
            var alone = self
            alone.whole = []
            try alone.read(segment, of: storage, catalog, successor) { _, _, _ in }
            attested = max(attested, alone.attested)
            found += alone.whole.map { (segment, $0) }
        }
        while true {
            // The one that continues soonest, and of several the longest.
            let next = whole.last?.last.next ?? .first
            found.removeAll { $0.range.last < next }
            let order = found.indices.sorted { left, right in
                let (first, second) = (found[left].range, found[right].range)
                return (max(first.first, next), second.last) < (max(second.first, next), first.last)
            }
            guard let best = order.first.map({ found.remove(at: $0) }) else { return }
            try read(best.segment, of: storage, catalog, successor, through: best.range.last, body)
        }
    }

    /// Returns the identity that most files have. HEAD decides a tie, or else the first segment.
    private static func identity(of catalog: LogCatalog, _ storage: any LogStorage) throws(LogError) -> LogIdentity {
        let head = catalog.head.map { [$0.identity] } ?? []
        let said = catalog.segments.compactMap { $0.header?.identity }
        var best = (identity: catalog.identity, votes: 0)
        for identity in head + said {
            var votes = (head + said).filter { $0 == identity }.count
            for through in catalog.checkpoints
            where try Checkpoint.openIfSound(storage, through: through, identity: identity) != nil {
                votes += 1
            }
            if votes > best.votes { best = (identity, votes) }
        }
        return best.identity
    }

    /// Returns the segments in the order of their headers' numbers.
    private static func inOrder(_ segments: [LogCatalog.Segment]) -> [LogCatalog.Segment] {
        var segments = segments
        for (index, segment) in segments.enumerated() {
            guard let header = segment.header else { continue }
            (segments[index].ordinal, segments[index].first) = (header.ordinal, header.sequence)
        }
        segments.sort { ($0.first, $0.ordinal, $0.name) < ($1.first, $1.ordinal, $1.name) }
        return segments
    }

    /// Collects the frames of a transaction.
    private final class Transaction {
        var batch = RecordBatch()
        var first = SequenceNumber.none
        var assembler = RecordAssembler()
        /// Whether all of its frames so far could be read. If not, none of its records is kept.
        var isWhole = true

        func reset() {
            batch.removeAll()
            assembler.reset()
            isWhole = true
        }

        /// Takes the next frame; returns the time if it is a data frame that holds records.
        func take(_ header: FrameHeader, _ payload: UnsafeRawBufferPointer?) -> WallTime? {
            do throws(RecordFault) {
                guard let records = try assembler.take(header, payload) else { return nil }
                if batch.isEmpty { first = header.firstSequence }
                var wire = RecordWire(records.wire)
                while let record = wire.next() { batch.append(record) }
                return records.time
            } catch {
                isWhole = false
                return nil
            }
        }
    }

    private mutating func read(
        _ segment: LogCatalog.Segment, of storage: any LogStorage, _ catalog: LogCatalog, _ successor: SegmentHeader?,
        through last: SequenceNumber = SequenceNumber(rawValue: .max),
        _ body: (SequenceNumber, WallTime, RecordBatch) throws(LogError) -> Void
    ) throws(LogError) {
        let decoder = PayloadDecoder()
        let transaction = Transaction()
        var walk = try DamageWalk(segment, of: catalog, in: storage, through: segment.reach, before: successor)
        while let step = try walk.next() {
            guard case .frame(let found) = step else {
                transaction.reset()
                continue
            }
            attested = max(attested, found.header.durableThrough)
            let payload = decoder.payload(of: found.header, stored: found.stored)
            switch found.header.knownKind {
            case .data, .fragment: try take(found.header, payload, transaction, through: last, body)
            default: break
            }
        }
    }

    private mutating func take(
        _ header: FrameHeader, _ payload: UnsafeRawBufferPointer?, _ transaction: Transaction,
        through last: SequenceNumber, _ body: (SequenceNumber, WallTime, RecordBatch) throws(LogError) -> Void
    ) throws(LogError) {
        let time = transaction.take(header, payload)
        guard header.flags.isDisjoint(with: .continuesInNext) else { return }
        defer { transaction.reset() }
        guard let time, transaction.isWhole else { return }
        let range = SequenceRange(first: transaction.first, count: UInt64(transaction.batch.count))
        guard !range.isEmpty, range.first > whole.last?.last ?? .none, range.last <= last else { return }
        try body(range.first, time, transaction.batch)
        if let last = whole.last, last.last.next == range.first {
            whole[whole.count - 1].last = range.last
        } else {
            whole.append(range)
        }
    }
}
