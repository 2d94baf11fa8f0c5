// What happens when the disk says no. A write that failed is cut back and may be tried again only where that is safe; a
// sync that failed is never repeated on its file, because the system may have forgotten what it could not write.

extension Appender {
    /// Takes back what the group wrote, so that nothing of it stays. On a full disk the writer goes on; after any other
    /// failure it takes nothing more.
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
            // Unless the cut is durable, the bytes cut off may come back in a crash, under or between what is written next.
            try sync()
        } catch {
            failure = error
            return error
        }
        mustRaiseEpoch = true
        // A disk that is full may refuse this word, too. Then the next commit begins with it.
        try? raiseEpoch()
        return LogError(error)
    }

    /// Begins a new epoch if numbers that were cut off are to be given out again: of two records of one number the epoch
    /// tells which one was kept.
    func raiseEpoch() throws(LogError) {
        guard mustRaiseEpoch else { return }
        try head.write { $0.epoch &+= 1 }
        session = SessionPayload(epoch: head.current.epoch, time: clock.now())
        mustRaiseEpoch = false
    }

    /// The sync of the segment failed. What was not durable is still in memory: it is written to a new segment, whose
    /// header says where the old one ends. If that fails too, the writer takes nothing more.
    func moveToNewSegment(after error: StorageError) throws(LogError) {
        file.close()
        guard keepsUnsynced, written == unsynced.count else { throw latch(after: error) }
        let frames = unsynced.writable
        do throws(StorageError) {
            try makeSegment(
                behind: synced, frames: frames,
                dictionary: encoder.dictionary?.dictionary ?? [])
            statistics.dataSyncs += 1
            statistics.rolls += 1
        } catch {
            throw latch(after: error)
        }
        noteSegmentInHead()
    }

    /// Refuses everything from here on. Whether what was on its way is kept shows at the next opening, also if it was a full
    /// disk that refused it: that is not `disk-full`, which says that nothing was kept.
    @discardableResult
    func latch(after error: StorageError) -> LogError {
        let isFull = error.kind == .diskFull
        let failure = LogError(
            .storageFailed, "\(error.operation) failed: \(error.reason); the writer stopped",
            file: error.name,
            position: LogPosition(segment: header.ordinal, offset: synced.offset),
            records: SequenceRange(first: synced.next, last: tail.next.previous),
            hint:
                "What was acknowledged is safe. \(isFull ? "Free some space" : "Check the device"), then open the log again.",
            systemError: error.number)
        self.failure = failure
        return failure
    }
}
