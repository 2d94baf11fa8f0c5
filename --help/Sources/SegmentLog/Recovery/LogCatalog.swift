// Lists the files of a log and checks that they fit together, by names, headers and segment ends alone: a few small
// reads for each segment, whatever its size. No list of the files is stored that could disagree with them.

import SynclineGround

/// The files of a log.
package struct LogCatalog: Sendable {
    package struct Segment: Hashable, Sendable {
        package var name: String
        package var ordinal: UInt64
        package var first: SequenceNumber
        /// The header; nil if it is damaged.
        package var header: SegmentHeader?
        package var size: UInt64
        /// Where the segment ends according to its successor; nil for the last one.
        package var end: UInt64?

        /// Where its bytes end: where its successor says, or where its file ends if that is shorter.
        package var reach: UInt64 { min(end ?? size, size) }

        /// Whether a header says the same as its name.
        func isNamed(by header: SegmentHeader) -> Bool { header.ordinal == ordinal && header.sequence == first }

        /// Returns damage in it, at an offset of its file.
        package func damage(
            at offset: UInt64 = 0, length: UInt64 = 0, records: SequenceRange? = nil, reason: String,
            remedy: LogDamage.Remedy = .salvage
        ) -> LogDamage {
            LogDamage(
                file: name, position: LogPosition(segment: ordinal, offset: offset), length: .bytes(length),
                records: records, reason: reason, remedy: remedy)
        }

        /// Returns the damage that the records from `floor` on are missing before it.
        func missing(from floor: SequenceNumber) -> LogDamage {
            damage(
                records: SequenceRange(first: floor, last: first.previous),
                reason: "the segments before it are missing")
        }
    }

    package var identity: LogIdentity
    package var head: Head?
    /// Whether HEAD exists but neither slot can be read.
    package var headIsDamaged = false
    /// Whether HEAD says how many records were durable. If not, records may be missing at the end of the log.
    package var endIsKnown: Bool
    package var segments: [Segment] = []
    /// Copies of segments under other names. They are no part of the log.
    package var copies: [Segment] = []
    /// The checkpoints, oldest first, each by the last record it covers.
    package var checkpoints: [SequenceNumber] = []
    package var temporaries: [String] = []
    package var damage: [LogDamage] = []

    /// The first record the log should have.
    package var floor: SequenceNumber {
        let first = segments.first?.first
        return min(head?.floor ?? first ?? .first, first ?? .first)
    }

    /// Reads the catalog. Throws only if there is no log, it is too new, or the system rejects a call; damage is
    /// listed.
    package init(_ storage: any LogStorage) throws(LogError) {
        // A writer may roll or collect in the meantime. HEAD changes when it does, and then everything is read
        // again.
        for attempt in 0... {
            let catalog: LogCatalog
            do throws(LogError) {
                catalog = try LogCatalog(lookingAt: storage)
            } catch {
if !Breakage.catalogNotRetried.isActive, attempt < 8, error.isNotFound { continue }
                throw error
            }
            let headNow = try LogCatalog.readHead(storage)
            if catalog.damage.isEmpty || attempt == 8 || headNow.head?.generation == catalog.head?.generation {
                self = catalog
                return
            }
        }
        preconditionFailure("the loop above ends at its ninth turn")
    }

    private init(lookingAt storage: any LogStorage) throws(LogError) {
        let reading = try LogCatalog.readHead(storage)
        let names = try LogCatalog.names(in: storage)
        head = reading.head
        headIsDamaged = reading.isDamaged
        endIsKnown = reading.isCertain
        identity = LogIdentity(high: 0, low: 0)
        temporaries = names.filter { $0.hasSuffix(FileName.temporarySuffix) }.sorted()
        checkpoints = names.compactMap(FileName.parseCheckpoint).sorted()
        for name in names.sorted() {
            guard let (ordinal, first) = FileName.parseSegment(name) else { continue }
            segments.append(try LogCatalog.readSegment(storage, name, ordinal, first, &damage))
        }
        leaveOutCopies()
        if headIsDamaged {
            damage.append(
                LogDamage(
                    file: FileName.head, length: .bytes(UInt64(2 * Format.headSlotLength)),
                    reason: "neither slot can be read, so records may be missing at the end", remedy: .rebuild))
        }
        if let known = head?.identity ?? segments.lazy.compactMap({ $0.header?.identity }).first {
            identity = known
        } else {
            try recoverIdentity(storage)
        }
        try rebuildHeaders(storage)
        try checkOrder(storage)
        try checkEnds(storage)
        try checkAgainstHead(storage)
    }

    /// Takes out the segments whose headers say that they are another one, which is there under its name.
    private mutating func leaveOutCopies() {
        let originals = segments.filter { $0.header.map($0.isNamed) ?? false }.compactMap(\.header)
        copies = segments.filter { segment in
            guard let header = segment.header, !segment.isNamed(by: header) else { return false }
            return originals.contains {
                ($0.identity, $0.ordinal, $0.sequence) == (header.identity, header.ordinal, header.sequence)
            }
        }
if !Breakage.copyNotLeftOut.isActive { segments.removeAll(where: copies.contains) }
        damage += copies.map { copy in
            LogDamage(
                file: copy.name, length: .bytes(copy.size),
                reason: "it is a copy of segment \(copy.header?.ordinal ?? 0)", remedy: .rebuild)
        }
    }

    /// Gives a segment without a readable header the one that its name, its sealed predecessor and its first frame
    /// show, so that it can be read. It stays damaged.
    private mutating func rebuildHeaders(_ storage: any LogStorage) throws(LogError) {
        for (index, segment) in segments.enumerated() where segment.header == nil {
            var rebuilt = SegmentHeader(
                role: .segment, identity: identity, sequence: segment.first, ordinal: segment.ordinal,
                created: WallTime(rawValue: 0), epoch: 0, durableThrough: .none)
            if segment.ordinal > 1 {
                guard index > 0, let before = segments[index - 1].header, before.ordinal == segment.ordinal - 1,
                    let end = try LogCatalog.expectation(
                        after: segments[index - 1].size, of: segments[index - 1].name, before, storage),
                    end.sequence == segment.first, let chain = end.chain
                else { continue }
                rebuilt.previousLength = segments[index - 1].size
                rebuilt.previousChain = chain
                rebuilt.epoch = before.epoch
                rebuilt.durableThrough = segment.first.previous
            }
            let window = FileWindow(try storage.reading(segment.name), name: segment.name)
            defer { window.file.close() }
            var walker = FrameWalker(
                window, seed: identity.seed, from: UInt64(Format.segmentHeaderLength),
                expecting: SegmentTail(after: rebuilt).expectation)
if !Breakage.headerNotRebuilt.isActive, case .frame = try walker.next() { segments[index].header = rebuilt }
        }
    }

    /// Finds the identity if neither HEAD nor any segment states it.
    private mutating func recoverIdentity(_ storage: any LogStorage) throws(LogError) {
        guard let first = segments.first else {
            throw LogError(.noStore, "\(storage.location) contains no log", hint: LogError.absenceHint)
        }
        if let newer = damage.first(where: { $0.remedy == .upgrade }) { throw newer.error }
        guard let found = try LostIdentity.find(storage, segments, checkpoints) else {
            throw LogError(
                .storeCorrupt, "HEAD and the segment headers are lost, and no record can be recognised",
                file: first.name,
                hint: "Nothing can be rescued: use a backup, or create the store again and pull from the server.")
        }
        identity = found
        damage.removeAll { $0.file == FileName.head }
        (headIsDamaged, endIsKnown) = (true, false)
        damage.append(
            LogDamage(
                file: FileName.head,
                reason: "it is lost, and so are all segment headers: records may be missing at the end",
                remedy: .salvage))
    }

    /// Returns whether a segment that was the last now has a successor, or was removed.
    package static func isSuperseded(_ segment: Segment, in storage: any LogStorage) throws(LogError) -> Bool {
        let names = try names(in: storage)
        return !names.contains(segment.name)
            || names.contains { FileName.parseSegment($0)?.ordinal == segment.ordinal + 1 }
    }

    private static func names(in storage: any LogStorage) throws(LogError) -> [String] {
        do throws(StorageError) { return try storage.names(in: "") } catch { throw storage.absence(error) }
    }

    package static func readHead(_ storage: any LogStorage) throws(LogError) -> HeadReading {
        do throws(StorageError) {
            let file = try storage.openForReading(FileName.head)
            defer { file.close() }
            let buffer = try file.bytes(2 * Format.headSlotLength)
            return HeadReading(buffer.bytes)
        } catch {
            if error.kind == .notFound || error.kind == .notADirectory { return HeadReading() }
            throw LogError(error)
        }
    }

    private static func readSegment(
        _ storage: any LogStorage, _ name: String, _ ordinal: UInt64, _ first: SequenceNumber,
        _ damage: inout [LogDamage]
    ) throws(LogError) -> Segment {
        try callStorage { () throws(StorageError) in
            let file = try storage.openForReading(name)
            defer { file.close() }
            let size = try file.size()
            let buffer = try file.bytes(Format.segmentHeaderLength)
            var segment = Segment(name: name, ordinal: ordinal, first: first, header: nil, size: size)
            do throws(SegmentHeader.Refusal) {
                segment.header = try SegmentHeader(buffer.bytes, role: .segment)
            } catch {
                damage.append(
                    segment.damage(
                        length: UInt64(Format.segmentHeaderLength), reason: error.sentence,
                        remedy: error.isNewer ? .upgrade : .salvage))
            }
            return segment
        }
    }

    /// Copies of its segments that were moved into quarantine.
    func quarantinedCopies(in storage: any LogStorage) throws(LogError) -> [Segment] {
        var copies: [Segment] = []
        for name in (try? storage.names(in: FileName.quarantine)) ?? [] where FileName.parseSegment(name) != nil {
            var damage: [LogDamage] = []
            let path = "\(FileName.quarantine)/\(name)"
            let copy = try LogCatalog.readSegment(storage, path, 0, .none, &damage)
            guard let header = copy.header, segments.contains(where: { $0.isNamed(by: header) }) else { continue }
            copies.append(copy)
        }
        return copies
    }

    /// Checks identities, numbers and names against headers, and each header against the one before.
    private mutating func checkOrder(_ storage: any LogStorage) throws(LogError) {
        for (index, segment) in segments.enumerated() {
            if let header = segment.header {
                if header.identity != identity {
                    report(segment, "it belongs to another log (\(header.identity))")
                }
                if !segment.isNamed(by: header) {
                    report(
                        segment,
                        "its header says it is segment \(header.ordinal) from \(header.sequence): it was renamed or copied"
                    )
                }
            }
guard index > 0, !Breakage.gapsNotChecked.isActive else { continue }
            let before = segments[index - 1]
            if segment.ordinal <= before.ordinal {
                report(segment, "two files claim to be segment \(segment.ordinal)")
            } else if segment.ordinal > before.ordinal + 1 {
                let end = try LogCatalog.sequence(after: before, storage)
                let missing = before.ordinal + 1...segment.ordinal - 1
                damage.append(
                    LogDamage(
                        file: segment.name, position: LogPosition(segment: missing.lowerBound, offset: 0),
                        records: end.map { SequenceRange(first: $0, last: segment.first.previous) },
                        reason: "\(LogCatalog.words(missing)) missing before it", remedy: .salvage))
            }
        }
    }

    /// Checks that each segment ends where its successor says, with the chain value its successor repeats.
    private mutating func checkEnds(_ storage: any LogStorage) throws(LogError) {
        for index in segments.indices.dropLast() {
            let successor = segments[index + 1]
            guard let next = successor.header, next.identity == identity,
                successor.ordinal == segments[index].ordinal + 1
            else { continue }
            segments[index].end = next.previousLength
            let segment = segments[index]
if Breakage.endsNotChecked.isActive { continue }
            if segment.size < next.previousLength {
                damage.append(
                    segment.damage(
                        at: segment.size, length: next.previousLength - segment.size,
                        reason: "it is cut: its successor says it had \(next.previousLength) bytes"))
            } else if let header = segment.header {
                let end = try LogCatalog.expectation(after: next.previousLength, of: segment.name, header, storage)
                if end?.chain != next.previousChain {
                    damage.append(
                        segment.damage(at: next.previousLength, reason: "its end does not match its successor"))
                } else if let expected = end?.sequence, expected != next.sequence {
                    report(successor, "its first record is not \(expected), the next after its predecessor")
                }
            }
        }
    }

    /// Returns what must follow the frame that ends at `end`, found by its trailer; nil if no frame ends there.
    private static func expectation(
        after end: UInt64, of name: String, _ header: SegmentHeader, _ storage: any LogStorage
    ) throws(LogError) -> FrameExpectation? {
        if end == UInt64(Format.segmentHeaderLength) { return SegmentTail(after: header).expectation }
        let window = FileWindow(try storage.reading(name), name: name, limit: end, capacity: 4096)
        defer { window.file.close() }
        guard end >= UInt64(Format.segmentHeaderLength + Format.frameOverhead) else { return nil }
        let trailer = try window.bytes(at: end - 8, 8)
        guard trailer.count == 8, trailer.number(UInt32.self, at: 0) == Format.trailerMagic else { return nil }
        let length: UInt32 = trailer.number(at: 4)
        guard length >= Format.frameOverhead, UInt64(length) <= end - UInt64(Format.segmentHeaderLength) else {
            return nil
        }
        let bytes = try window.bytes(at: end - UInt64(length), Format.frameHeaderLength)
        guard bytes.count == Format.frameHeaderLength, let frame = try? FrameHeader(bytes, seed: header.identity.seed)
        else { return nil }
        if frame.knownKind == .hole {
            let body = try window.bytes(at: end - UInt64(length), Int(length))
            guard body.count == Int(length), Int(frame.storedLength) <= body.count - Format.frameOverhead else {
                return nil
            }
            guard let hole = HolePayload(of: frame, body.slice(Format.frameHeaderLength, Int(frame.storedLength)))
            else { return nil }
            return FrameCheck.expectation(after: frame, hole: hole)
        }
        return FrameCheck.expectation(after: frame)
    }

    /// Returns the record after a sealed segment, which ends where its file does; nil if that is not known.
    private static func sequence(
        after segment: Segment, _ storage: any LogStorage
    ) throws(LogError) -> SequenceNumber? {
        guard let header = segment.header else { return nil }
        return try expectation(after: segment.size, of: segment.name, header, storage)?.sequence
    }

    /// Names can't show a missing first or last file; HEAD can.
    private mutating func checkAgainstHead(_ storage: any LogStorage) throws(LogError) {
guard let head, !Breakage.headNotConsulted.isActive else { return }
        if let last = segments.last, last.ordinal < head.newestOrdinal {
            damage.append(
                LogDamage(
                    file: last.name, position: LogPosition(segment: last.ordinal + 1, offset: 0),
                    records: try LogCatalog.sequence(after: last, storage).flatMap {
                        head.durableThrough < $0 ? nil : SequenceRange(first: $0, last: head.durableThrough)
                    },
                    reason: "\(LogCatalog.words(last.ordinal + 1...head.newestOrdinal)) missing after it",
                    remedy: .salvage))
        }
        if let first = segments.first, first.first > head.floor {
            damage.append(first.missing(from: head.floor))
        }
        if segments.isEmpty {
            damage.append(
                LogDamage(
                    file: FileName.head, records: SequenceRange(first: head.floor, last: head.durableThrough),
                    reason: "every segment is missing", remedy: .salvage))
        }
    }

    private static func words(_ ordinals: ClosedRange<UInt64>) -> String {
        ordinals.lowerBound == ordinals.upperBound
            ? "segment \(ordinals.lowerBound) is" : "segments \(ordinals.lowerBound) to \(ordinals.upperBound) are"
    }

    private mutating func report(_ segment: Segment, _ reason: String) {
        damage.append(segment.damage(length: segment.size, reason: reason))
    }
}

extension [LogCatalog.Segment] {
    /// Returns the segment after the one at an index; nil if that is the last.
    package func successor(of index: Int) -> LogCatalog.Segment? { dropFirst(index + 1).first }
}

extension LogStorage {
    /// Returns the opened directory itself, so that everything read belongs to one log.
    package func holding() throws(LogError) -> any LogStorage {
        do throws(StorageError) { return try held() } catch { throw absence(error) }
    }

    /// Maps a failure to open or list the directory to the log's error.
    fileprivate func absence(_ error: StorageError) -> LogError {
        switch error.kind {
        case .notFound: LogError(.noStore, "\(location) does not exist", hint: LogError.absenceHint)
        case .notADirectory: LogError(.noStore, "\(location) is not a directory", hint: "A log is a directory.")
        default: LogError(error)
        }
    }

    /// Opens a file for reading and maps errors to the log's.
    package func reading(_ name: String) throws(LogError) -> any ReadableFile {
        try callStorage { () throws(StorageError) in try openForReading(name) }
    }
}
