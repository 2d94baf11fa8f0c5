// Handles disk errors. A failed write is truncated and retried only if that is safe. A failed sync is never repeated
// on its file, because the system may have dropped what it could not write.

extension Appender {
    /// Takes back everything the group wrote. On a full disk the writer continues; after any other failure it
    /// accepts nothing more.
    func cutBack(to start: SegmentTail, unsynced count: Int, after error: StorageError) -> LogError {
        let wasStreamed = !keepsUnsynced
        tail = start
        unsynced.truncate(to: wasStreamed ? 0 : count)
        written = min(written, unsynced.count)
        keepsUnsynced = true
        do throws(StorageError) {
            try file.resize(to: start.offset)
            zeroedTo = start.offset
            isCutUnsynced = true
        } catch let second {
            return latch(after: second)
        }
        guard error.kind == .diskFull else { return latch(after: error) }
        do throws(LogError) {
            // Unless the truncation is durable, the removed bytes may return after a crash, under or between what is
            // written next.
            try sync()
        } catch {
            failure = error
            return error
        }
        mustRaiseEpoch = true
        // A full disk may reject this, too. Then the next commit begins with it.
        try? raiseEpoch()
        return LogError(error)
    }

    /// Begins a new epoch if truncated numbers will be used again: the epoch shows which of two records with one
    /// number was kept.
    func raiseEpoch() throws(LogError) {
        guard mustRaiseEpoch else { return }
        try head.write { $0.epoch &+= 1 }
        session = SessionPayload(epoch: head.current.epoch, time: clock.now())
        mustRaiseEpoch = false
    }

    /// Handles a failed sync of the segment. What was not durable is still in memory; it is written to a new
    /// segment, whose header says where the old one ends. If that fails too, the writer accepts nothing more.
    func moveToNewSegment(after error: StorageError) throws(LogError) {
        file.close()
        guard keepsUnsynced, written == unsynced.count else { throw latch(after: error) }
        let frames = unsynced.writable
        do throws(StorageError) {
            try makeSegment(after: synced, frames: frames)
            statistics.dataSyncs += 1
            statistics.rolls += 1
        } catch {
            throw latch(after: error)
        }
        noteSegmentInHead()
    }

    /// Refuses all further writes. Only the next opening shows whether pending data was stored, even if the cause
    /// was a full disk; so this is not `disk-full`, which means that nothing was stored.
    @discardableResult
    func latch(after error: StorageError) -> LogError {
        let isFull = error.kind == .diskFull
        let failure = LogError(
            .storageFailed, "\(error.sentence); the writer stopped", file: error.name,
            position: LogPosition(segment: header.ordinal, offset: synced.offset),
            records: SequenceRange(first: synced.next, last: tail.next.previous),
            hint:
                "What was acknowledged is safe. \(isFull ? "Free some space" : "Check the device"), then open the log again.",
            systemError: error.number)
        self.failure = failure
        return failure
    }
}
