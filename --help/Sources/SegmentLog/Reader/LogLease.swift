// A reader's lease on history: while it is held, collection keeps the records from its position on. It is a small
// file with a lock, which ends with the process, so a dead reader holds nothing.

import SynclineGround

/// Keeps records from being collected while they are read.
public final class LogLease: Sendable {
    private let storage: any LogStorage
    private let name: String
    private let lock: any FileLock

    static let length = 20

    fileprivate init(storage: any LogStorage, name: String, lock: any FileLock) {
        self.storage = storage
        self.name = name
        self.lock = lock
    }

    deinit {
        lock.release()
    }

    /// Releases the lease.
    public func release() {
        try? storage.remove(name)
        lock.release()
    }

    fileprivate func write(_ sequence: SequenceNumber) throws(StorageError) {
        let buffer = ByteBuffer(capacity: LogLease.length)
        Format.leaseMagic.withUnsafeBytes { buffer.append($0) }
        buffer.append(sequence.rawValue)
        buffer.append(crc32c(buffer.bytes))
        let file = try storage.openForWriting(name, create: true)
        defer { file.close() }
        try file.writeFully(buffer.bytes, at: 0)
    }

    /// Returns the lowest record leased by a live reader, and removes stale leases. A lease that can't be read keeps
    /// everything.
    package static func lowest(in storage: any LogStorage) throws(LogError) -> SequenceNumber? {
        try callStorage { () throws(StorageError) in
            guard try storage.names(in: "").contains(FileName.leases) else { return nil }
            var lowest: SequenceNumber?
            for entry in try storage.names(in: FileName.leases) {
                let name = "\(FileName.leases)/\(entry)"
                if let lock = try storage.lock(name) {
                    try storage.remove(name)
                    lock.release()
                } else {
                    lowest = min(lowest ?? SequenceNumber(rawValue: .max), try read(name, storage) ?? .first)
                }
            }
return Breakage.leasesIgnored.isActive ? nil : lowest
        }
    }

    private static func read(_ name: String, _ storage: any LogStorage) throws(StorageError) -> SequenceNumber? {
        let file = try storage.openForReading(name)
        defer { file.close() }
        let buffer = try file.bytes(length)
        let bytes = buffer.bytes
        guard bytes.count == length, bytes.prefix(8).elementsEqual(Format.leaseMagic),
            crc32c(bytes.slice(0, 16)) == bytes.number(UInt32.self, at: 16)
        else { return nil }
        return SequenceNumber(rawValue: bytes.number(at: 8))
    }
}

extension LogReader {
    /// Takes a lease on the records from `sequence` on. Needs write access to the log's directory.
    public func lease(from sequence: SequenceNumber, clock: any LogClock = SystemClock()) throws(LogError) -> LogLease {
        let lease = try LogLease.take(in: storage, from: sequence, clock)
        // Collection raises the floor before it checks leases a second time, so at least one of the two sees the
        // other.
if let floor = try LogCatalog.readHead(storage).head?.floor, floor > sequence, !Breakage.leaseIgnoresFloor.isActive {
            lease.release()
            throw LogCursor.collected(sequence, floor)
        }
        return lease
    }
}

extension LogLease {
    /// Takes a lease on all records without reading the log. A collection that has already begun may still remove
    /// some.
    package static func ofEverything(
        in storage: any LogStorage, clock: any LogClock = SystemClock()
    ) throws(LogError) -> LogLease {
        try take(in: storage, from: .first, clock)
    }

    fileprivate static func take(
        in storage: any LogStorage, from sequence: SequenceNumber, _ clock: any LogClock
    ) throws(LogError) -> LogLease {
        for _ in 0..<8 {
            let name = "\(FileName.leases)/\(clock.newIdentity()).lease"
            do throws(StorageError) {
                try storage.createDirectory(FileName.leases)
                guard let lock = try storage.lock(name) else { continue }
                let lease = LogLease(storage: storage, name: name, lock: lock)
                try lease.write(sequence)
                // A collection may have removed the file as stale just before it was locked. If it can be locked
                // again, the lock held is on a removed file.
                guard let second = try storage.lock(name) else { return lease }
                second.release()
                lease.release()
            } catch {
                throw LogError(error)
            }
        }
        throw LogError(.ioError, "a lease could not be taken", file: FileName.leases, hint: "Try again.")
    }
}
