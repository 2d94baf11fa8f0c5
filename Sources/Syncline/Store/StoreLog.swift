// The log as the store uses it: every call throws `SyncError`. The log's errors are translated here and nowhere else.

package import SegmentLog
package import SynclineCore

extension SyncError {
    package init(_ error: LogError) {
        let code: Code =
            switch error.code {
            case .storageFailed where error.isDiskFull: .diskFull
            case .storageFailed, .takenBack: .ioError
            case .invalidArgument: .invalidItem
            default: Code(rawValue: error.code.rawValue)
            }
        var place = error.position.map(\.description)
        if place == nil { place = error.file }
        self.init(code, error.message, hint: error.hint, address: place)
    }

    package init(_ error: StorageError) { self.init(LogError(error)) }

    /// The error for a path where the store that was opened is no longer.
    static func otherStore(_ storage: any LogStorage, hint: String) -> SyncError {
        SyncError(.storeReplaced, "the store at \(storage.location) was removed or replaced", hint: hint)
    }
}

private func translated<Result: ~Copyable>(_ body: () throws(LogError) -> Result) throws(SyncError) -> Result {
    do throws(LogError) { return try body() } catch { throw SyncError(error) }
}

// MARK: Files

extension LogStorage {
    /// Opens the log for reading: all records that are written, durable or not.
    func openLog() throws(SyncError) -> LogReader {
        try translated { () throws(LogError) in try LogReader.open(self, showing: .written) }
    }

    /// The end of the history before a moment; `last` if there is none after it.
    func lastEvent(before moment: WallTime, else last: UInt64) throws(SyncError) -> UInt64 {
        try translated { () throws(LogError) in
            var cursor = try LogReader.open(self, showing: .written).cursor(since: moment)
            return try cursor.nextFrame() ? cursor.firstSequence.rawValue - 1 : last
        }
    }

    /// The lowest event that a reader has claimed.
    func lowestClaim() throws(SyncError) -> SequenceNumber? {
        try translated { () throws(LogError) in try LogLease.lowest(in: self) }
    }

    func segments() throws(SyncError) -> [LogCatalog.Segment] {
        try translated { () throws(LogError) in try LogCatalog(self).segments }
    }

    /// The checkpoints, newest first.
    func checkpoints() throws(SyncError) -> [SequenceNumber] {
        try translated { () throws(LogError) in try Checkpoint.list(self) }
    }

    /// Opens a checkpoint; one that is missing is malformed.
    func checkpoint(_ through: SequenceNumber, _ identity: LogIdentity) throws(SyncError) -> Checkpoint {
        do throws(LogError) { return try Checkpoint.open(self, through: through, identity: identity) } catch {
            throw error.isNotFound ? .malformed(FileName.checkpoint(through: through)) : SyncError(error)
        }
    }

    /// Opens a checkpoint, unless it is damaged or missing.
    func soundCheckpoint(_ through: SequenceNumber, _ identity: LogIdentity) throws(SyncError) -> Checkpoint? {
        try translated { () throws(LogError) in
            try Checkpoint.openIfSound(self, through: through, identity: identity)
        }
    }

    /// Reads a file, or returns nil if it is missing.
    func read(file name: String) throws(SyncError) -> [UInt8]? {
        try translated { () throws(LogError) in try WholeFile(name, in: self).read() }
    }

    /// Replaces a file, durably.
    func replace(file name: String, with bytes: [UInt8]) throws(SyncError) {
        try translated { () throws(LogError) in try WholeFile(name, in: self).replace(with: bytes) }
    }

    /// Makes a folder, durably.
    func makeFolder(_ name: String) throws(SyncError) {
        try files { () throws(StorageError) in try makeDirectory(name) }
    }

    private func makeDirectory(_ name: String) throws(StorageError) {
        try createDirectory(name)
        try syncDirectory("")
    }

    /// Gives a complete file or folder its name, durably.
    func put(_ draft: String, inPlace name: String) throws(SyncError) {
        try translated { () throws(LogError) in try putInPlace(draft, as: name) }
    }

    /// Writes a file, durably, into a folder that is made first. Returns false if the storage is gone.
    func put(file name: String, _ bytes: [UInt8], intoNew folder: String?) throws(SyncError) -> Bool {
        do throws(LogError) {
            if let folder { try callStorage { () throws(StorageError) in try makeDirectory(folder) } }
            try WholeFile(name, in: self).replace(with: bytes)
            return true
        } catch {
            if error.isNotFound { return false }
            throw SyncError(error)
        }
    }

    /// Runs calls of the file system.
    func files<Result>(_ body: () throws(StorageError) -> Result) throws(SyncError) -> Result {
        do throws(StorageError) { return try body() } catch { throw SyncError(error) }
    }

    /// Runs calls of the file system; returns nil if a file or a folder is missing.
    @discardableResult
    func ifThere<Result>(_ body: () throws(StorageError) -> Result) throws(SyncError) -> Result? {
        do throws(StorageError) { return try body() } catch {
            if error.kind == .notFound || error.kind == .notADirectory { return nil }
            throw SyncError(error)
        }
    }

    /// Reads everything that can be read of a damaged log.
    func salvage() throws(SyncError) -> SalvageReading {
        try translated { () throws(LogError) in try SalvageReading(self) }
    }

    /// Calls `body` with each complete transaction of a damaged log, with the number of its first record and its time.
    func salvage(
        _ body: (SequenceNumber, WallTime, RecordBatch) throws(SyncError) -> Void
    ) throws(SyncError) {
        var failure: SyncError?
        try translated { () throws(LogError) in
            _ = try SalvageReading(self) { first, time, batch throws(LogError) in
                if failure != nil { return }
                do throws(SyncError) { try body(first, time, batch) } catch { failure = error }
            }
        }
        if let failure { throw failure }
    }

    // MARK: Erasing

    func beginErasure() throws(SyncError) -> LogErasure {
        try translated { () throws(LogError) in try LogErasure(self) }
    }

    func isBeingErased() throws(SyncError) -> Bool {
        try translated { () throws(LogError) in try LogErasure.isBegun(self) }
    }
}

extension LogErasure {
    func mark(_ files: [String]) throws(SyncError) {
        try translated { () throws(LogError) in try begin(with: files) }
    }

    func takeBack() throws(SyncError) { try translated { () throws(LogError) in try cancel() } }
    func complete() throws(SyncError) { try translated { () throws(LogError) in try finish() } }
}

// MARK: Reading

extension LogReader {
    /// Returns a cursor at the first event that was not removed.
    func frames() throws(SyncError) -> LogCursor { try translated { () throws(LogError) in try cursor() } }

    func frames(from first: UInt64) throws(SyncError) -> LogCursor {
        try translated { () throws(LogError) in try cursor(from: SequenceNumber(rawValue: first)) }
    }
}

extension LogCursor {
    /// Goes to the next frame; returns false at the end.
    mutating func advance() throws(SyncError) -> Bool {
        do throws(LogError) { return try nextFrame() } catch { throw SyncError(error) }
    }
}

// MARK: Writing

extension LogStorage {
    /// Opens the log for writing.
    func openWriter(
        creating creation: LogCreation, _ configuration: LogConfiguration,
        beginningWith records: (any LogStorage) -> RecordBatch = { _ in RecordBatch() }
    ) throws(SyncError) -> LogWriter {
        try translated { () throws(LogError) in
            try LogWriter.open(self, creating: creation, configuration: configuration, beginningWith: records)
        }
    }

    /// Creates a log whose first event follows another one.
    func createLog(
        after event: UInt64, _ configuration: LogConfiguration = .init(), clock: any LogClock
    ) throws(SyncError) -> LogWriter {
        try translated { () throws(LogError) in
            try LogWriter.create(
                self, first: SequenceNumber(rawValue: event + 1), configuration: configuration, clock: clock)
        }
    }
}

extension LogWriter {
    func add(_ batch: RecordBatch, _ durability: Durability = .buffered) throws(SyncError) {
        try translated { () throws(LogError) in _ = try append(batch, durability: durability) }
    }

    /// Appends records, and a note about the state before them.
    func add(_ batch: RecordBatch, _ durability: Durability, after note: LogNote) throws(SyncError) {
        try translated { () throws(LogError) in
            try setNote(note)
            _ = try append(batch, durability: durability)
        }
    }

    func makeDurable() throws(SyncError) { try translated { () throws(LogError) in try flush() } }
    func end() throws(SyncError) { try translated { () throws(LogError) in try close() } }
    func beginSegment() throws(SyncError) { try translated { () throws(LogError) in try roll() } }

    /// The first event that was not removed.
    var start: SequenceNumber {
        get throws(SyncError) { try translated { () throws(LogError) in try floor } }
    }

    /// Removes the segments whose events all come before `first`, and checkpoints.
    func letGo(before first: UInt64, checkpoints: [UInt64]) throws(SyncError) -> LogCollection {
        try translated { () throws(LogError) in
            let collection = try collect(keepingFrom: SequenceNumber(rawValue: first))
            try remove(checkpoints: checkpoints.map { SequenceNumber(rawValue: $0) })
            return collection
        }
    }

    func beginCheckpoint(_ through: UInt64) throws(SyncError) -> CheckpointWriter {
        try translated { () throws(LogError) in
            try CheckpointWriter.begin(for: self, through: SequenceNumber(rawValue: through))
        }
    }
}

extension CheckpointWriter {
    mutating func add(_ block: UnsafeRawBufferPointer) throws(SyncError) -> UInt64 {
        do throws(LogError) { return try append(block).rawValue } catch { throw SyncError(error) }
    }

    consuming func end(note: [UInt8], keeping files: [UInt64]) throws(SyncError) {
        do throws(LogError) {
            try finish(note: note, keeping: Set(files.map { SequenceNumber(rawValue: $0) }))
        } catch {
            throw SyncError(error)
        }
    }
}
