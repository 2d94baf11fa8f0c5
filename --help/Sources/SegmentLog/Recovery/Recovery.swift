// Opens a log for its writer: decides from the scan what the log holds, quarantines and truncates a torn tail,
// writes again what may never have reached the disk, and returns the position to append at. Refuses a log with
// damaged acknowledged data.

package struct Recovery {
    /// The state that a writer starts from.
    package struct Outcome {
        package var header: SegmentHeader
        package var file: any WritableFile
        package var tail: SegmentTail
        package var isSealed: Bool
        package var zeroedTo: UInt64
        package var head: HeadFile
        package var session: SessionPayload
    }

    package let storage: any LogStorage
    package let configuration: LogConfiguration
    package let clock: any LogClock

    package init(_ storage: any LogStorage, _ configuration: LogConfiguration, _ clock: any LogClock) {
        self.storage = storage
        self.configuration = configuration
        self.clock = clock
    }

    package func run() throws(LogError) -> Outcome {
        let catalog = try LogCatalog(storage)
        if let damage = catalog.damage.first(where: { !$0.isRepairable }) { throw damage.error }
        guard let last = catalog.segments.last, let header = last.header else {
            throw LogError(.storeCorrupt, "it has no last segment", file: FileName.head)
        }
        if header.readCompatibleFeatures != 0 {
            throw LogError(
                .storeNewer, "it uses features this version can only read (bits \(header.readCompatibleFeatures))",
                file: last.name, hint: "Open it for reading, or write with a newer version.")
        }
        let file = try callStorage { () throws(StorageError) in try storage.openForWriting(last.name, create: false) }
        let window = FileWindow(file, name: last.name)
        let scan = try TailScan(window, header, head: catalog.head)
        if case .corrupt = scan.verdict, let damage = scan.damage(in: last, endIsKnown: catalog.endIsKnown) {
            throw damage.error
        }
let epoch = Breakage.epochNotRaised.isActive ? scan.epoch : scan.epoch &+ 1
        let head = try openHead(catalog, scan, epoch)
        return try callStorage { () throws(StorageError) in
            // Making HEAD may already have removed one.
for name in catalog.temporaries where !Breakage.leftoversKept.isActive { try storage.removeIfThere(name) }
            // The next segment may get the name of one of them.
if !Breakage.copyNotMoved.isActive { try Quarantine(storage, limit: .max).take(catalog.copies.map(\.name)) }
            // A segment that HEAD does not know was begun by a call that failed: its name may not be durable.
            let wasClean = catalog.head.map { $0.isClean && $0.newestOrdinal == last.ordinal } ?? false
            let session = try mend(file, last, scan, window, epoch, wasClean: wasClean)
            return Outcome(
                header: header, file: file, tail: scan.tail,
isSealed: scan.isSealed && !Breakage.sealForgotten.isActive,
                zeroedTo: scan.verdict == .clean ? try file.size() : scan.tail.offset, head: head, session: session)
        }
    }

    /// Raises the epoch and clears the clean flag, durably, before anything else is changed.
    private func openHead(_ catalog: LogCatalog, _ scan: TailScan, _ epoch: UInt32) throws(LogError) -> HeadFile {
        let rebuilt = Head(
            identity: catalog.identity, floor: catalog.segments.first?.first ?? .first,
            newestOrdinal: catalog.segments.last?.ordinal ?? 0, durableThrough: scan.durableThrough, epoch: epoch,
            isClean: false)
        var head = catalog.head ?? rebuilt
        head.newestOrdinal = rebuilt.newestOrdinal
        head.durableThrough = max(head.durableThrough, scan.durableThrough)
        head.epoch = epoch
if !Breakage.cleanFlagNotCleared.isActive { head.isClean = false }
        return try HeadFile(storage, head: head, replacingDamaged: catalog.headIsDamaged)
    }

    /// Truncates a torn tail, and writes again what may be in memory only: after a failed sync the system shows
    /// bytes that the disk does not have, and syncing them again would do nothing.
    private func mend(
        _ file: any WritableFile, _ segment: LogCatalog.Segment, _ scan: TailScan, _ window: FileWindow,
        _ epoch: UInt32, wasClean: Bool
    ) throws(StorageError) -> SessionPayload {
        var session = SessionPayload(epoch: epoch, time: clock.now())
        let position = LogPosition(segment: segment.ordinal, offset: scan.tail.offset)
        if scan.verdict == .torn {
            session.cut = position
            session.cutLength = try Quarantine(storage, limit: configuration.quarantineLimit)
                .keep(file, from: position, epoch: epoch)
if Breakage.cutTailNotErased.isActive { return session }
            try file.resize(to: scan.tail.offset)
        }
if !Breakage.tailNotAdopted.isActive { try rewrite(file, from: scan.unprovenFrom, to: scan.tail.offset) }
        // The writer may have died between writing the seal and truncating the file after it.
        let size = try file.size()
        let mustCut = scan.isSealed && size > scan.tail.offset
        if mustCut { try file.resize(to: scan.tail.offset) }
        if mustCut || scan.verdict == .torn || scan.unprovenFrom < scan.tail.offset || !wasClean {
if !Breakage.adoptedNotSynced.isActive { try file.sync(.durable) }
            try storage.syncDirectory("")
        }
        return session
    }

    private func rewrite(_ file: any WritableFile, from start: UInt64, to end: UInt64) throws(StorageError) {
        var reached = start
        try file.forEachPiece(from: start, to: end) { bytes, offset throws(StorageError) in
            try file.writeFully(bytes, at: offset)
            reached = offset + UInt64(bytes.count)
        }
        guard reached == end else {
            throw StorageError(
                .inputOutput, operation: "read", name: "", number: 5, reason: "the segment became shorter")
        }
    }
}

extension TailScan {
    /// Returns the damage that the scan found at the end of a segment, or nil if it ends cleanly.
    /// - Parameter endIsKnown: Whether HEAD says how many records were durable.
    package func damage(in segment: LogCatalog.Segment, endIsKnown: Bool) -> LogDamage? {
        let length = segment.size - min(segment.size, tail.offset)
        switch verdict {
        case .clean:
            return nil
        case .torn:
            return segment.damage(
                at: tail.offset, length: length,
                reason: (endIsKnown ? "torn write, never acknowledged" : "torn write, or records that are missing")
                    + ": \(fault.reason)", remedy: .cutTail)
        case .corrupt(let reason):
            return segment.damage(
                at: tail.offset, length: length,
                records: SequenceRange(first: tail.next, last: max(tail.next, durableThrough)),
                reason: reason, remedy: fault.isNewer ? .upgrade : .salvage)
        }
    }
}
