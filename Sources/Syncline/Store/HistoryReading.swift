// Reads the history beside a writer that may let go of some of it meanwhile. A claim on everything that is there keeps a
// compaction from removing it. What was removed while the claim was taken is not missed: the reading begins again.

package import SegmentLog
import SynclineCore

package enum HistoryReading {
    /// A reading begins again only if files came or went meanwhile. With a claim those are what one compaction still removes
    /// that had begun before; a reader that may not write has no claim.
    private static let attempts = 64

    /// Runs `body`, which reads the log and may run more than once. What reads the newest state only needs no claim.
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

    /// Keeps what is there of a log until it is released; nil where the reader may not write.
    package static func claim(_ storage: any LogStorage) -> LogLease? {
        // Nothing is made in a directory that holds no log.
        guard files(storage).contains(where: { FileName.parseSegment($0) != nil }) else { return nil }
        return try? LogLease.ofEverything(in: storage)
    }

    private static func files(_ storage: any LogStorage) -> Set<String> {
        Set((try? storage.names(in: "")) ?? [])
    }

    /// Whether an error may come of a file that was there when the reading began.
    private static func isOfMissingFile(_ error: any Error) -> Bool {
        let codes: [SyncError.Code] = [.ioError, .init(rawValue: LogError.Code.collected.rawValue)]
        if let error = error as? LogError { return codes.contains(SyncError(error).code) }
        return (error as? SyncError).map { codes.contains($0.code) } ?? false
    }
}
