// The log under test, with its defaults. All use of its interface is in this file. A record is the id and the value
// side by side.

import SegmentLog
import Synchronization

final class SegmentLogEngine: Engine {
    fileprivate let writer: LogWriter
    fileprivate let level: SegmentLog.Durability
    private let storage: POSIXStorage

    init(_ directory: String, _ durability: Durability) throws {
        storage = POSIXStorage(directory: directory)
        writer = try LogWriter.open(storage, creating: .ifMissing, configuration: LogConfiguration())
        level = durability == .durable ? .durable : .buffered
    }

    /// What a writer does first after a crash.
    static func recover(_ directory: String) throws {
        let storage = POSIXStorage(directory: directory)
        _ = try LogWriter.open(storage, creating: .never, configuration: LogConfiguration())
    }

    func makeSession() -> any Session { SegmentLogSession(self) }
    func makeTaskSession() -> (any TaskSession)? { SegmentLogTaskSession(self) }

    func readFirst() throws -> Int { try SegmentLogRecords(storage).readFirst() }
    func scan() throws -> ScanTotals { try SegmentLogRecords(storage).scan() }

    var ownCounts: OwnCounts {
        let statistics = writer.statistics
        return OwnCounts(dataSyncs: statistics.dataSyncs, bytesWritten: statistics.bytesWritten)
    }

    func close() throws { try writer.close() }
}

/// The log opened to be read, without a writer.
final class SegmentLogRecords: RecordReader {
    private let reader: LogReader

    convenience init(_ directory: String) throws { try self.init(POSIXStorage(directory: directory)) }

    fileprivate init(_ storage: POSIXStorage) throws { reader = try LogReader.open(storage) }

    func readFirst() throws -> Int {
        var cursor = try reader.cursor()
        var size = 0
        while size == 0, try cursor.nextFrame() {
            cursor.forEachRecord { _, bytes in if size == 0 { size = bytes.byteCount } }
        }
        return size
    }

    func scan() throws -> ScanTotals {
        var cursor = try reader.cursor()
        var totals = ScanTotals()
        while try cursor.nextFrame() {
            cursor.forEachRecord { _, bytes in bytes.withUnsafeBytes { totals.add($0) } }
        }
        return totals
    }
}

private final class SegmentLogSession: Session {
    private let engine: SegmentLogEngine
    private var batch = RecordBatch()

    init(_ engine: SegmentLogEngine) { self.engine = engine }

    func put(_ records: RecordSet, _ range: Range<Int>) throws {
        batch.removeAll()
        for index in range { batch.append(records.record(index)) }
        _ = try engine.writer.append(batch, durability: engine.level)
    }
}

private final class SegmentLogTaskSession: TaskSession {
    private let engine: SegmentLogEngine

    init(_ engine: SegmentLogEngine) { self.engine = engine }

    func put(_ records: RecordSet, _ range: Range<Int>) async throws {
        var batch = RecordBatch()
        for index in range { batch.append(records.record(index)) }
        _ = try await engine.writer.commit(batch, durability: engine.level)
    }
}

/// Follows a log that another process writes.
final class SegmentLogFollower: Follower {
    private var cursor: LogCursor

    init(_ directory: String) throws {
        cursor = try LogReader.open(POSIXStorage(directory: directory)).cursor()
    }

    func poll(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Int {
        var count = 0
        while try cursor.nextFrame() {
            cursor.forEachRecord { _, bytes in
                bytes.withUnsafeBytes(body)
                count += 1
            }
        }
        return count
    }
}
