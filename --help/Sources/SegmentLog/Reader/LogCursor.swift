// Moves forward through a log, frame by frame. At the end it returns false and can be asked again; this is how a
// live log is followed. An incomplete write at the end means "not yet"; damage before it is an error with its
// position.

/// A position in a log that moves forward.
public struct LogCursor: ~Copyable {
    enum Start {
        case beginning
        case record(SequenceNumber)
        case time(WallTime)
    }

    private let reader: LogReader
    private var segments: [LogCatalog.Segment]
    private var current: Int
    private var walker: FrameWalker
    private let decoder = PayloadDecoder()
    private var assembler = RecordAssembler()
    /// Records before this one, or of an earlier time, are skipped.
    private var firstWanted: SequenceNumber
    private var firstTime: WallTime?
    /// The newest record known to be durable.
    private var proven: SequenceNumber
    /// The position after the last frame with records. What follows it may be taken back, such as a seal written
    /// before a full disk rejected a record.
    private var solid: (offset: UInt64, expected: FrameExpectation)

    // The current frame. Its memory belongs to the window, the decoder or the assembler, which do not change before
    // the next call of `nextFrame`.
    private var wire = UnsafeRawBufferPointer(start: nil, count: 0)
    private var frame: FrameHeader?

    /// The time at which the current records were written.
    public private(set) var time = WallTime(rawValue: 0)
    /// The lost records that the cursor last stepped over, if any.
    public private(set) var lastHole: SequenceRange?

    /// How often the end is read again before invalid bytes there count as damage: a reader may see a write of
    /// another process half done.
    private static let maximumAttempts = 64

    // MARK: Opening

    private init(
        _ reader: LogReader, _ segments: [LogCatalog.Segment], current: Int, _ walker: FrameWalker,
        proven: SequenceNumber, firstWanted: SequenceNumber, firstTime: WallTime?
    ) {
        self.reader = reader
        self.segments = segments
        self.current = current
        self.walker = walker
        self.proven = proven
        solid = (walker.offset, walker.expected)
        self.firstWanted = firstWanted
        self.firstTime = firstTime
    }

    static func open(_ reader: LogReader, startingAt start: Start) throws(LogError) -> LogCursor {
        let catalog = try LogCatalog(reader.storage)
        let segments = catalog.segments
        guard let first = segments.first else {
            throw catalog.damage.first?.error ?? LogError(.storeCorrupt, "it has no segments")
        }
        try checkBeginning(catalog, first, start)
        var current = 0
        var firstWanted = SequenceNumber.first
        var firstTime: WallTime?
        switch start {
        case .beginning: break
        case .record(let sequence):
            if sequence < first.first { throw collected(sequence, first.first) }
            firstWanted = sequence
            current = segments.lastIndex { $0.first <= sequence } ?? 0
        case .time(let time):
            firstTime = time
            current = try segment(for: time, segments, reader)
        }
        var cursor = LogCursor(
            reader, segments, current: current, try walker(over: segments[current], reader),
            proven: catalog.head?.durableThrough ?? .none, firstWanted: firstWanted, firstTime: firstTime)
        try cursor.enterSegment(seeking: start)
        return cursor
    }

    /// Throws if requested records are missing before the first segment although they were not collected.
    private static func checkBeginning(
        _ catalog: LogCatalog, _ first: LogCatalog.Segment, _ start: Start
    ) throws(LogError) {
        guard let floor = catalog.head?.floor, floor < first.first else { return }
        if case .record(let sequence) = start, sequence < floor || sequence >= first.first { return }
        throw first.missing(from: floor).error
    }

    /// Returns the error for a record that was collected.
    static func collected(_ wanted: SequenceNumber, _ first: SequenceNumber) -> LogError {
        LogError(
            .collected, "record \(wanted) was collected: the log begins with \(first)",
            hint: "Start from a checkpoint, or from \(first).")
    }

    private static func segment(
        for time: WallTime, _ segments: [LogCatalog.Segment], _ reader: LogReader
    ) throws(LogError) -> Int {
        for (index, segment) in segments.enumerated().dropLast() {
            let walker = try walker(over: segment, reader)
            defer { walker.window.file.close() }
            guard let end = segment.end, let footer = try SegmentIndex(walker.window, seed: walker.seed, end: end)
            else { return index }
            if footer.seal.recordCount > 0 && footer.seal.lastTime >= time { return index }
        }
        return segments.count - 1
    }

    private static func walker(over segment: LogCatalog.Segment, _ reader: LogReader) throws(LogError) -> FrameWalker {
        let file: any ReadableFile
        do throws(StorageError) {
            file = try reader.storage.openForReading(segment.name)
        } catch {
            if error.kind == .notFound { throw collected(segment.first, segment.first) }
            throw LogError(error)
        }
        guard let header = segment.header else {
            file.close()
            throw segment.damage(reason: "its header is damaged").error
        }
        guard header.identity == reader.identity, header.ordinal == segment.ordinal, header.sequence == segment.first
        else {
            file.close()
            throw segment.damage(reason: "it belongs to another log, or was renamed or copied").error
        }
        let window = FileWindow(file, name: segment.name, limit: segment.end ?? .max)
        return FrameWalker(
            window, seed: header.identity.seed, from: SegmentTail(after: header).offset,
            expecting: SegmentTail(after: header).expectation)
    }

    /// Enters a segment and jumps as close to the start as its index allows.
    private mutating func enterSegment(seeking start: Start = .beginning) throws(LogError) {
        assembler.reset()
        defer { solid = (walker.offset, walker.expected) }
        let segment = segments[current]
        proven = max(proven, segment.header?.durableThrough ?? .none)
        guard let end = segment.end else { return }
        if let next = segments[current + 1].header { proven = max(proven, next.sequence.previous) }
        let footer = try SegmentIndex(walker.window, seed: walker.seed, end: end)
        let entry: IndexEntry? =
            switch start {
            case .beginning: nil
            case .record(let sequence): footer?.start(for: sequence)
            case .time(let time): footer?.start(for: time)
            }
        guard let entry, try isFrame(entry) else { return }
        walker.move(to: entry.offset, expecting: FrameExpectation(chain: nil, sequence: entry.sequence))
    }

    /// Returns whether there is a frame where the index says: healing may have replaced it.
    private func isFrame(_ entry: IndexEntry) throws(LogError) -> Bool {
        var probe = walker
        probe.move(to: entry.offset, expecting: FrameExpectation(chain: nil, sequence: entry.sequence))
        if case .frame = try probe.next() { return true }
        return false
    }

    // MARK: Moving

    /// Moves to the next frame with records from the start on; returns false if there is none yet.
    public mutating func nextFrame() throws(LogError) -> Bool {
        frame = nil
        var attempts = 0
        var hasGoneBack = false
        while true {
            var ahead = walker
            guard let step = try nextVisible(&ahead) else { return false }
            switch step {
            case .frame(let header, let offset):
                walker = ahead
                if header.knownKind == .data || header.knownKind == .fragment {
                    solid = (walker.offset, walker.expected)
                    (attempts, hasGoneBack) = (0, false)
                }
                guard try take(header, at: offset) else { continue }
                ReadingWatch.tell(walker.offset, in: current, of: segments)
                return true
            case .fault(let fault):
                if try moveToNextSegment() {
                    hasGoneBack = false
                    continue
                }
                if walker.offset != solid.offset, !hasGoneBack {
                    hasGoneBack = true
                    walker.move(to: solid.offset, expecting: solid.expected)
                    walker.window.invalidate()
                    continue
                }
                attempts += 1
                let isWaiting = try isWaiting(at: fault, attempts)
                walker.window.invalidate()
                if isWaiting { return false }
            }
        }
    }

    /// Steps `ahead` over the next frame. Returns nil if it may not be shown yet, and the fault that hides the end
    /// of the transaction it begins, if there is one.
    private mutating func nextVisible(_ ahead: inout FrameWalker) throws(LogError) -> FrameWalker.Step? {
        let step = try ahead.next()
        guard case .frame(let header, _) = step, segments[current].end == nil,
            header.knownKind == .data || header.knownKind == .fragment
        else { return step }
        switch reader.visibility {
        case .written:
            guard header.flags.contains(.continuesInNext), header.flags.isDisjoint(with: .continuesFromPrevious) else {
                return step
            }
            var rest = ahead
            while true {
                switch try rest.next() {
                case .frame(let next, _): if !next.flags.contains(.continuesInNext) { return step }
case .fault(let fault): return Breakage.readerShowsUnfinished.isActive ? step : .fault(fault)
                }
            }
        case .durable:
            return try isDurable(header, next: ahead) ? step : nil
        }
    }

    private mutating func isDurable(_ header: FrameHeader, next ahead: FrameWalker) throws(LogError) -> Bool {
        let last =
            header.recordCount > 0
            ? header.firstSequence.advanced(by: UInt64(header.recordCount) - 1) : header.firstSequence
if last <= proven || Breakage.readerShowsUnproven.isActive { return true }
        var rest = ahead
        while case .frame(let next, _) = try rest.next() {
            proven = max(proven, next.durableThrough)
            if last <= proven { return true }
        }
        proven = max(proven, try LogCatalog.readHead(reader.storage).head?.durableThrough ?? .none)
        if last > proven { walker.window.invalidate() }
        return last <= proven
    }

    /// Makes a frame the current one; returns whether it has records from the start on.
    private mutating func take(_ header: FrameHeader, at offset: UInt64) throws(LogError) -> Bool {
        switch header.knownKind {
        case .data, .fragment:
            break
        case .hole:
            if let hole = HolePayload(of: header, try payload(header, at: offset)), hole.recordCount > 0 {
                lastHole = SequenceRange(first: header.firstSequence, count: hole.recordCount)
            }
            return false
        default:
            return false
        }
if header.knownKind == .data && header.nextSequence <= (Breakage.readerSkipsLast.isActive ? firstWanted.next : firstWanted) {
            assembler.reset()
            return false
        }
        let payload = decoder.payload(of: header, stored: try walker.stored(header, at: offset))
        do throws(RecordFault) {
            guard let records = try assembler.take(header, payload) else { return false }
            (time, wire) = (records.time, records.wire)
        } catch {
            throw corrupt(header, at: offset, error)
        }
        if let firstTime, time < firstTime { return false }
        frame = header
        return true
    }

    private func payload(_ header: FrameHeader, at offset: UInt64) throws(LogError) -> UnsafeRawBufferPointer {
        guard let bytes = decoder.payload(of: header, stored: try walker.stored(header, at: offset)) else {
            throw corrupt(header, at: offset, .undecodable)
        }
        return bytes
    }

    private func corrupt(_ header: FrameHeader, at offset: UInt64, _ fault: RecordFault) -> LogError {
        segments[current].damage(
            at: offset, length: UInt64(header.frameLength), records: header.records, reason: fault.reason
        ).error
    }

    // MARK: The end

    /// Moves to the next segment if the current one ends here.
    private mutating func moveToNextSegment() throws(LogError) -> Bool {
        if segments[current].end == nil {
            // The writer may have begun another segment; its name alone shows that.
            guard try LogCatalog.isSuperseded(segments[current], in: reader.storage) else { return false }
            let catalog = try LogCatalog(reader.storage)
            guard let now = catalog.segments.firstIndex(where: { $0.ordinal == segments[current].ordinal }) else {
                try continueReading(in: catalog)
                return true
            }
            guard now + 1 < catalog.segments.count else { return false }
            // Only the successor's header says where this segment ends. A successor without one, left by a crash, is
            // removed by the next opening.
            guard let end = catalog.segments[now].end else {
                if let damage = catalog.damage.first(where: { !$0.isRepairable }) { throw damage.error }
                return false
            }
            segments = catalog.segments
            current = now
            walker.window.limit = end
            walker.window.invalidate()
            if let next = segments[now + 1].header { proven = max(proven, next.sequence.previous) }
            return true
        }
        // The cursor may be beyond the end: unsynced records that it showed there were moved to the next segment.
        guard let end = segments[current].end, walker.offset >= end else { return false }
        if walker.offset > end, let next = walker.expected.sequence { firstWanted = max(firstWanted, next) }
        do throws(LogError) {
            try enter(segments, at: current + 1)
        } catch {
            guard error.code == .collected else { throw error }
            try continueReading(in: try LogCatalog(reader.storage))
        }
        return true
    }

    /// The segment was collected. A cursor that has read all of it continues after it.
    private mutating func continueReading(in catalog: LogCatalog) throws(LogError) {
        let next = walker.expected.sequence ?? segments[current].first
        guard let index = catalog.segments.firstIndex(where: { $0.first == next }) else {
            throw LogCursor.collected(next, catalog.segments.first?.first ?? .none)
        }
        try enter(catalog.segments, at: index)
    }

    private mutating func enter(_ segments: [LogCatalog.Segment], at index: Int) throws(LogError) {
        let next = try LogCursor.walker(over: segments[index], reader)
        walker.window.file.close()
        (self.segments, current, walker) = (segments, index, next)
        try enterSegment()
    }

    /// Returns whether the end of the segment is only incomplete. Throws if it is damaged.
    private func isWaiting(at fault: FrameFault, _ attempts: Int) throws(LogError) -> Bool {
        let segment = segments[current]
        let size = try callStorage { () throws(StorageError) in try walker.window.file.size() }
        let verdict: TailVerdict
        if segment.end != nil {
            verdict = .corrupt(fault.reason)
        } else if let header = segment.header {
            let head = try LogCatalog.readHead(reader.storage).head
            let window = FileWindow(walker.window.file, name: segment.name)
            let onlyZeros = try FrameWalker(window, seed: walker.seed, from: 0, expecting: walker.expected)
                .onlyZeros(from: walker.offset)
            if onlyZeros && (head?.durableThrough ?? .none) < (walker.expected.sequence ?? .first) { return true }
            let scan = try TailScan(window, header, head: head)
            // The writer may have continued in the meantime.
            guard scan.tail.offset <= walker.offset else {
                if attempts < LogCursor.maximumAttempts { return false }
                throw LogError(
                    .takenBack, "records that were shown before they were synced were taken back", file: segment.name,
                    position: LogPosition(segment: segment.ordinal, offset: walker.offset), hint: "Read the log again.")
            }
            verdict = scan.verdict
        } else {
            verdict = .corrupt(fault.reason)
        }
        guard case .corrupt(let reason) = verdict else { return true }
        // Nothing is written where a successor says that the segment ends.
        if segment.end == nil && attempts < LogCursor.maximumAttempts { return false }
        let expected = walker.expected.sequence ?? segment.first
        throw segment.damage(
            at: walker.offset, length: max(size, walker.offset) - walker.offset,
            records: SequenceRange(first: expected, last: expected), reason: reason,
            remedy: fault.isNewer ? .upgrade : .salvage
        ).error
    }

    // MARK: Records

    /// The number of records in the current frame, including those before the start.
    public var recordCount: Int { Int(frame?.recordCount ?? 0) }
    /// The first record of the current frame.
    public var firstSequence: SequenceNumber { frame?.firstSequence ?? .none }
    /// The cursor's position: after the current frame.
    public var position: LogPosition { LogPosition(segment: segments[current].ordinal, offset: walker.offset) }

    /// Calls `body` with each record of the current frame, in order. The bytes are valid only during the call.
    public func forEachRecord<Failure>(
        _ body: (SequenceNumber, RawSpan) throws(Failure) -> Void
    ) throws(Failure) {
        guard let frame else { return }
        var number = frame.firstSequence
        var records = RecordWire(wire)
        for _ in 0..<frame.recordCount {
            guard let record = records.next() else { return }
            if number >= firstWanted { try body(number, record.bytes) }
            number = number.next
        }
    }
}
