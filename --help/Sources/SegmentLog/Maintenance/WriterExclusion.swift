// Keeps writers away from a log while it is read several times and must be the same each time.

/// Holds the lock of a log without writing into the log.
package final class WriterExclusion {
    private let lock: (any FileLock)?

    /// Takes the lock; throws an error if a writer has it. If the lock file can't be opened for writing, as on a
    /// read-only medium, nothing is held: the caller has to notice changes by itself.
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
