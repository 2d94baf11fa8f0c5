// Creates a log in a directory. Refuses a directory that holds something else, repeats a creation that a crash
// interrupted, and does not mistake a log that lost its files for a missing one.

struct LogCreator {
    /// The directory itself, once it was prepared.
    private(set) var storage: any LogStorage
    let clock: any LogClock

    private enum Finding {
        case nothing
        /// Only what an unfinished creation leaves.
        case beginnings
        case log
        /// The rest of a log whose removal was begun.
        case erasure
        case somethingElse(String)
    }

    private func look() throws(LogError) -> Finding {
        let names: [String]
        do throws(StorageError) {
            names = try storage.names(in: "")
        } catch {
            if error.kind == .notFound { return .nothing }
            if error.kind == .notADirectory { return .somethingElse("it is a file") }
            throw LogError(error)
        }
        if names.contains(FileName.erasure) { return .erasure }
        if names.contains(where: {
            $0 == FileName.head || $0.hasSuffix(FileName.segmentSuffix) || FileName.parseCheckpoint($0) != nil
        }) {
            return .log
        }
        if let other = names.sorted().first(where: { !FileName.belongsToLog($0) }) {
            return .somethingElse("it holds \(other)")
        }
        return .beginnings
    }

    /// Refuses what can't become a log before changing anything; creates the directory if allowed, and holds it.
    mutating func prepare(_ creation: LogCreation) throws(LogError) {
        if let posix = storage as? POSIXStorage, let kind = posix.networkFileSystem() {
            throw LogError(
                .ioError,
                "\(storage.location) is on a network file system (\(kind)), where locks and syncs are not reliable",
                hint: "Keep the log on a local disk.")
        }
        let finding = try look()
        switch (finding, creation) {
        case (.log, .always):
            guard try isUnfinished() else { throw exists }
        case (.log, _), (.erasure, _), (.beginnings, .ifMissing), (.beginnings, .always):
            break
        case (.nothing, .never), (.beginnings, .never):
            throw LogError(.noStore, "\(storage.location) contains no log", hint: LogError.absenceHint)
        case (.somethingElse(let what), _):
            throw strange(what)
        case (.nothing, _):
            try callStorage { () throws(StorageError) in try storage.createDirectory("") }
        }
        storage = try storage.holding()
    }

    func takeLock() throws(LogError) -> any FileLock {
        for _ in 0..<8 {
            let taken = try callStorage { () throws(StorageError) in try storage.lock(FileName.lock) }
            guard let lock = taken else { throw LogError.locked(storage) }
            // Between opening and locking, the file may have been removed and another created in its place; its lock
            // would allow a second writer.
            if try callStorage({ () throws(StorageError) in try lock.isInPlace() }) {
                lock.note(LockHolder.note)
                return lock
            }
            lock.release()
        }
        throw LogError.replaced(storage)
    }

    /// Checks again, now that no other process can create one.
    func isNeeded(_ creation: LogCreation) throws(LogError) -> Bool {
        switch try look() {
        case .log:
            guard creation == .always else { return false }
            guard try isUnfinished() else { throw exists }
            try forgetHead()
            return true
        case .somethingElse(let what):
            throw strange(what)
        case .nothing, .beginnings, .erasure:
            return true
        }
    }

    private var exists: LogError {
        LogError(
            .storeExists, "\(storage.location) already holds a log", hint: "Open it, or choose another directory.")
    }

    /// Returns whether the log's creation was not finished: the first segment is as it was created, and no record
    /// says that the log was ever closed. Every writer begins with a session frame, so nothing was appended.
    private func isUnfinished() throws(LogError) -> Bool {
        let names = try callStorage { () throws(StorageError) in try storage.names(in: "") }
        let files = names.filter { $0.hasSuffix(FileName.segmentSuffix) || FileName.parseCheckpoint($0) != nil }
        let reading = try LogCatalog.readHead(storage)
        guard let name = files.first, files.count == 1, FileName.parseSegment(name)?.ordinal == 1, !reading.isDamaged,
            reading.head?.isClean != true
        else { return false }
        let window = FileWindow(try storage.reading(name), name: name)
        defer { window.file.close() }
        let start = try window.bytes(at: 0, Format.segmentHeaderLength)
        guard let header = try? SegmentHeader(start, role: .segment) else { return false }
        var walker = FrameWalker(
            window, seed: header.identity.seed, from: UInt64(Format.segmentHeaderLength),
            expecting: FrameExpectation(chain: header.previousChain, sequence: header.sequence))
        while case .frame(let frame, _) = try walker.next() {
            guard frame.knownKind == .data else { return false }
        }
        // Anything that follows, complete or torn, was written later.
        let size = try callStorage { () throws(StorageError) in try window.file.size() }
        guard walker.offset == size, let next = walker.expected.sequence else { return false }
        return reading.head.map { $0.durableThrough < next } ?? true
    }

    /// HEAD describes the log that is created again; without it that log is as unfinished as before.
    private func forgetHead() throws(LogError) {
        try callStorage { () throws(StorageError) in
            guard try storage.names(in: "").contains(FileName.head) else { return }
            try storage.remove(FileName.head)
            try storage.syncDirectory("")
        }
    }

    private func strange(_ what: String) -> LogError {
        LogError(
            .noStore, "\(storage.location) is not a log: \(what)",
            hint: "Give an empty or new directory, or the path of a log.")
    }

    /// Writes the first segment with the log's initial records, completely and durably; HEAD follows when the log is
    /// opened.
    func makeFirstSegment(
        identity: LogIdentity? = nil, first: SequenceNumber = .first, holding records: RecordBatch = RecordBatch()
    ) throws(LogError) {
        let now = clock.now()
        let header = SegmentHeader(
            role: .segment, identity: identity ?? clock.newIdentity(), sequence: first, ordinal: 1,
            created: now, epoch: 0, durableThrough: first.previous)
        let content = ByteBuffer(capacity: Format.segmentHeaderLength + records.wire.count + 64)
        header.append(to: content)
        if !records.isEmpty { try append(records, to: header, now, into: content) }
        try callStorage { () throws(StorageError) in
            let name = FileName.segment(ordinal: 1, first: first)
            try storage.publish(content.bytes, as: name).close()
        }
    }

    /// Appends records in one frame. Their file is renamed as a whole, so they exist together or not at all.
    private func append(
        _ records: RecordBatch, to header: SegmentHeader, _ time: WallTime, into content: ByteBuffer
    ) throws(LogError) {
        guard records.wire.count + 8 <= Format.frameTarget, records.count <= Format.frameRecordLimit else {
            throw LogError(.invalidArgument, "a log can't begin with \(records.wire.count) bytes")
        }
        let payload = ByteBuffer(capacity: records.wire.count + 8)
        payload.append(time.rawValue)
        records.wire.withUnsafeBytes { payload.append($0) }
        var frame = FrameHeader(kind: .data, firstSequence: header.sequence)
        frame.recordCount = UInt16(records.count)
        frame.chain = header.previousChain
        var encoder = FrameEncoder(seed: header.identity.seed, acceleration: 1)
        _ = encoder.encode(frame, payload: payload.bytes, into: content)
    }
}
