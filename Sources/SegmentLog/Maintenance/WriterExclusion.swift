// Keeps writers away from a log while it is read as it must not change. Readers that follow a log need no such thing.

/// Holds the lock of a log without writing into the log.
package final class WriterExclusion {
    private let lock: (any FileLock)?

    /// Takes the lock; throws an error if a writer has it. Nobody writes to a directory that is missing or that does
    /// not allow it, so then there is nothing to hold.
    package init(_ storage: any LogStorage) throws(LogError) {
        let lock: (any FileLock)?
        do throws(StorageError) {
            lock = try storage.lock(FileName.lock)
        } catch {
            switch error.kind {
            case .notFound, .notADirectory, .permission, .readOnly:
                self.lock = nil
                return
            default: throw LogError(error)
            }
        }
        guard let lock else { throw LogError.locked(storage) }
        lock.note(LockHolder.note)
        self.lock = lock
    }

    deinit { lock?.release() }
}
