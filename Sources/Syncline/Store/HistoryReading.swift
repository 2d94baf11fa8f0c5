// Reads history while a writer may be removing some of it. A lease on the existing history keeps a compaction from
// removing it. If files were removed before the lease was taken, the read starts again.

package import SegmentLog
import SynclineCore

package enum HistoryReading {
    /// A read starts again only if files were created or removed during it. With a lease, only a compaction that had
    /// already begun can still remove files; a read-only reader has no lease.
    private static let attempts = 64

    /// Runs `body`, which reads the log and may run more than once. Reads of only the newest state need no lease.
    package static func run<Value, Failure: Error>(
        _ storage: any LogStorage, claiming: Bool = true, _ body: () throws(Failure) -> Value
    ) throws(Failure) -> Value {
        let claim = claiming ? claim(storage) : nil
        defer { claim?.release() }
        for _ in 1..<attempts {
            let before = files(storage)
            do throws(Failure) {
                return try body()
            } catch {
                guard isOfMissingFile(error), files(storage) != before else { throw error }
            }
        }
        return try body()
    }

    /// Takes a lease that keeps the existing log until it is released; returns nil if the reader may not write.
    package static func claim(_ storage: any LogStorage) -> LogLease? {
        // Do not write into a directory that holds no log.
        guard files(storage).contains(where: { FileName.parseSegment($0) != nil }) else { return nil }
        return try? LogLease.ofEverything(in: storage)
    }

    private static func files(_ storage: any LogStorage) -> Set<String> {
        Set((try? storage.names(in: "")) ?? [])
    }

    /// Returns whether an error may be caused by a file that was removed after the read began.
    private static func isOfMissingFile(_ error: any Error) -> Bool {
        let codes: [SyncError.Code] = [.ioError, .collected]
        if let error = error as? LogError { return codes.contains(SyncError(error).code) }
        return (error as? SyncError).map { codes.contains($0.code) } ?? false
    }
}
