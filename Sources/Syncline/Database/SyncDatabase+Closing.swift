// Closes a store whose changes the program has already acknowledged.

import SegmentLog
package import SynclineCore

extension SyncDatabase {
    /// Closes the store. If the disk refuses only to note that it was closed, and every change is durable, returns the
    /// error instead of throwing it: making a change again would make it twice.
    package func closeAfterChanges() async throws(SyncError) -> SyncError? {
        let log = try? writer.log
        do throws(SyncError) {
            try await close()
            return nil
        } catch {
            guard [.diskFull, .ioError].contains(error.code), let log, log.durableThrough == log.lastSequence else {
                throw error
            }
            return error
        }
    }
}
