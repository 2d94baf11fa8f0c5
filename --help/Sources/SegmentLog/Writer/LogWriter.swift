// The only writer of a log. Any number of threads and tasks may append; appends that arrive together share a sync.
// One lock is held across I/O on purpose: it represents ownership of the file. Readers never take it.

import Dispatch
import SynclineGround

/// Appends records to a log and makes them durable.
public final class LogWriter: Sendable {
    private let appender: Mutex<Appender>
    private let commits = Mutex(CommitQueue())
    private let durable: Atomic<UInt64>
    private let lastAppended: Atomic<UInt64>
    private let idle: IdleSync
    private let queue = DispatchQueue(label: "SegmentLog.LogWriter")

    /// The log's location: the directory that was opened, wherever its path leads later.
    public let storage: any LogStorage
    /// The log's identity.
    public let identity: LogIdentity

    /// Whether opening created the log.
    package let isNew: Bool

    private init(
        _ appender: sending Appender, storage: any LogStorage, configuration: LogConfiguration, isNew: Bool
    ) {
        self.storage = storage
        self.isNew = isNew
        identity = appender.header.identity
        durable = Atomic(appender.durableThrough.rawValue)
        lastAppended = Atomic(appender.tail.next.previous.rawValue)
        idle = IdleSync(isOn: configuration.syncsWhenIdle)
        self.appender = Mutex(appender)
    }

    deinit {
        // As after a crash: nothing is synced or attested here, because no caller could be told of a failure.
        appender.withLock { appender in
            appender.file.close()
            appender.head.close()
            appender.lock.release()
        }
    }

    /// Opens the log in a directory of the file system.
    public static func open(
        at path: String, creating creation: LogCreation = .ifMissing, configuration: LogConfiguration = .init()
    ) throws(LogError) -> LogWriter {
        try open(POSIXStorage(directory: path), creating: creation, configuration: configuration)
    }

    /// Opens the log in a storage: takes its lock, recovers its end, and prepares to append. Throws without changing
    /// the log if another writer has it open, if acknowledged data is damaged, or if a newer version wrote it. If
    /// the directory or its lock is moved, removed or replaced later, the writer refuses to write from then on.
    public static func open(
        _ storage: any LogStorage, creating creation: LogCreation = .ifMissing,
        configuration: LogConfiguration = .init(), clock: any LogClock = SystemClock()
    ) throws(LogError) -> LogWriter {
        try open(storage, creating: creation, configuration: configuration, clock: clock) { _ in RecordBatch() }
    }

    /// Opens the log like `open`, but a new log contains these records from the start.
    package static func open(
        _ storage: any LogStorage, creating creation: LogCreation, configuration: LogConfiguration,
        clock: any LogClock = SystemClock(), beginningWith records: (any LogStorage) -> RecordBatch
    ) throws(LogError) -> LogWriter {
        try configuration.validate()
        var creator = LogCreator(storage: storage, clock: clock)
        try creator.prepare(creation)
        let storage = creator.storage
        let lock = try creator.takeLock()
        do throws(LogError) {
            if try LogErasure.isBegun(storage) {
                return try finishErasure(storage, creation, lock, configuration, clock, records)
            }
            let isNew = try creator.isNeeded(creation)
            if isNew { try creator.makeFirstSegment(holding: records(storage)) }
            let recovered = try Recovery(storage, configuration, clock).run()
            return LogWriter(
                try Appender(
                    recovered, storage: storage, configuration: configuration, clock: clock, lock: lock),
                storage: storage, configuration: configuration, isNew: isNew)
        } catch {
            lock.release()
            throw error
        }
    }

    /// Creates a log whose first record has a number above 1, like a log whose beginning was collected.
    package static func create(
        _ storage: any LogStorage, first: SequenceNumber, configuration: LogConfiguration = .init(),
        clock: any LogClock = SystemClock()
    ) throws(LogError) -> LogWriter {
        var creator = LogCreator(storage: storage, clock: clock)
        try creator.prepare(.always)
        try creator.makeFirstSegment(first: first)
        return try open(creator.storage, creating: .never, configuration: configuration, clock: clock)
    }

    /// Removes the rest of a log whose removal was begun, then starts a new one, because its lock is removed, too.
    private static func finishErasure(
        _ storage: any LogStorage, _ creation: LogCreation, _ lock: any FileLock,
        _ configuration: LogConfiguration, _ clock: any LogClock,
        _ records: (any LogStorage) -> RecordBatch
    ) throws(LogError) -> LogWriter {
        try LogErasure.finish(storage)
        lock.release()
        return try open(
            storage, creating: creation, configuration: configuration, clock: clock, beginningWith: records)
    }

    // MARK: Appending

    /// Appends a batch and blocks the calling thread until it is stored with the given durability.
    @discardableResult
    public func append(_ batch: RecordBatch, durability: Durability = .durable) throws(LogError) -> SequenceRange {
        try batch.checkLimits()
        let commit = Appender.Commit(batch: batch, durability: durability)
        // If no other append is running, there is no need to queue.
        let alone = appender.withLockIfAvailable { appender in
            commits.withLock { $0.isEmpty } ? perform(appender, commit) : nil
        }
        if case let result?? = alone { return try result.get() }
        let (group, place, leads) = commits.withLock { $0.add(commit) }
        if leads { lead(group) }
        return try group.result(at: place).get()
    }

    /// Appends a batch and suspends until it is stored with the given durability. Ignores cancellation: a batch that
    /// was begun is stored or refused, never in doubt.
    @discardableResult
    public func commit(_ batch: RecordBatch, durability: Durability = .durable) async throws(LogError) -> SequenceRange
    {
        try batch.checkLimits()
        let commit = Appender.Commit(batch: batch, durability: durability)
        let result = await withCheckedContinuation { continuation in
            let (group, _, leads) = commits.withLock { $0.add(commit, continuation) }
            if leads { queue.async { self.lead(group) } }
        }
        return try result.get()
    }

    /// Stores a group as soon as the one before it is stored. Until then others may join it.
    private func lead(_ group: CommitGroup) {
        let results = appender.withLock { appender in
            let results = appender.append(commits.withLock { $0.close(group) })
            publishProgress(appender)
            scheduleIdleSync(appender)
            return results
        }
        group.finish(results)
    }

    private func perform(_ appender: Appender, _ commit: Appender.Commit) -> Result<SequenceRange, LogError> {
        let result = appender.append(commit)
        publishProgress(appender)
        scheduleIdleSync(appender)
        return result
    }

    private func publishProgress(_ appender: Appender) {
        durable.store(appender.durableThrough.rawValue, ordering: .releasing)
        lastAppended.store(appender.tail.next.previous.rawValue, ordering: .releasing)
    }

    // MARK: State

    /// The last record that survives a power failure.
    public var durableThrough: SequenceNumber {
        SequenceNumber(rawValue: durable.load(ordering: .acquiring))
    }

    /// The last record appended, durable or not.
    public var lastSequence: SequenceNumber {
        SequenceNumber(rawValue: lastAppended.load(ordering: .acquiring))
    }

    /// Counts of what this writer did since it was opened.
    public var statistics: WriterStatistics {
        appender.withLock { $0.statistics }
    }

    /// Makes everything appended so far durable.
    public func flush() throws(LogError) {
        try use { appender throws(LogError) in try appender.sync() }
    }

    /// Makes everything durable and records that in HEAD, so that damage to the newest records can't be mistaken for
    /// a torn write. The writer does this by itself when it has been idle for a second.
    public func attest() throws(LogError) {
        try use { appender throws(LogError) in try appender.attest(clean: false) }
    }

    /// Sets the note for the next sealed segment, such as a digest of the user's state.
    public func setNote(_ note: LogNote) throws(LogError) {
        guard note.bytes.count <= Format.noteLimit else {
            throw LogError(.invalidArgument, "a note of \(note.bytes.count) bytes is larger than \(Format.noteLimit)")
        }
        // Whether the log may be written is checked when the note is written.
        let failure: LogError? = appender.withLock { appender in
            if appender.failure == nil { appender.note = note }
            return appender.failure
        }
        if let failure { throw failure }
    }

    /// Seals the current segment and begins the next. Does nothing if the segment holds no record.
    public func roll() throws(LogError) {
        try use { appender throws(LogError) in
            if appender.isSealed { return try appender.beginSegment() }
            if appender.tail.recordCount > 0 { try appender.roll() }
        }
    }

    /// The first record that must exist.
    package var floor: SequenceNumber {
        get throws(LogError) { try use { appender throws(LogError) in appender.head.current.floor } }
    }

    /// Closes the log. If the disk refuses only to note that it was closed, and every record is durable, returns the error
    /// instead of throwing it.
    package func closeAfterAppends() throws(LogError) -> LogError? {
        do throws(LogError) {
            try close()
            return nil
        } catch {
            guard error.code == .storageFailed, durableThrough == lastSequence else { throw error }
            return error
        }
    }

    /// Makes everything durable, marks the log as closed cleanly and closes it. The writer accepts nothing more.
    public func close() throws(LogError) {
        let failure: LogError? = appender.withLock { appender in
            // This also runs after the writer lost the right to write.
            defer { appender.letGo() }
            do throws(LogError) {
                try appender.checkUsable()
                try appender.attest(clean: true)
                publishProgress(appender)
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Runs `body` with the appender, for this module's extensions.
    func use<Value: Sendable>(
        _ body: (Appender) throws(LogError) -> Value
    ) throws(LogError) -> Value {
        let result: Result<Value, LogError> = appender.withLock { appender in
            do throws(LogError) {
                try appender.checkUsable()
                let value = try body(appender)
                publishProgress(appender)
                return .success(value)
            } catch {
                return .failure(error)
            }
        }
        return try result.get()
    }

    // MARK: Idle sync

    private func scheduleIdleSync(_ appender: Appender) {
        guard idle.start() else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(IdleSync.interval)) { [weak self] in self?.idleTick() }
    }

    private func idleTick() {
        let continues = appender.withLock { appender in
            defer { publishProgress(appender) }
            return idle.tick(appender)
        }
        guard continues else { return }
        queue.asyncAfter(deadline: .now() + .milliseconds(IdleSync.interval)) { [weak self] in self?.idleTick() }
    }
}

extension Appender {
    /// Closes the files and releases the lock; every later call throws.
    func letGo() {
        file.close()
        head.close()
        lock.release()
        if failure == nil {
            failure = LogError(.closed, "the log was closed", hint: "Open it again to append.")
        }
    }
}
