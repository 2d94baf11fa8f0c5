// Checks that a checkpoint holds the state it claims to hold. Its checksums prove that the bytes are unchanged, and
// its digest can be compared with a fold, but neither proves that the entries in its runs match the digest. So this
// reads all entries and computes the digest again.

import SegmentLog
import SynclineCore

extension CheckpointFile {
    /// The state a checkpoint describes, and whether its entries match it.
    struct Reading {
        var through: UInt64
        var file: String
        var digest: Digest
        var totals: ChangeCounts
        var isTrue: Bool
    }

    /// Reads each checkpoint completely and returns the intact ones, newest first.
    static func readings(_ storage: any LogStorage) throws(SyncError) -> [Reading] {
        let identity = try storage.openLog().identity
        var readings: [Reading] = []
        for through in try storage.checkpoints() {
            guard let projector = try openIfSound(storage, through, identity, removesDamaged: false) else { continue }
            readings.append(
                Reading(
                    through: through.rawValue, file: FileName.checkpoint(through: through),
                    digest: projector.store.digest,
                    totals: projector.totals, isTrue: try isTrue(projector)))
        }
        return readings
    }

    /// Throws unless the entries of a checkpoint match its recorded digest.
    static func check(_ storage: any LogStorage, _ through: UInt64, _ identity: LogIdentity) throws(SyncError) {
        let projector = try open(storage, SequenceNumber(rawValue: through), identity, removesDamaged: false)
        if try !isTrue(projector) { throw SyncError.untrue }
    }

    /// Returns the last events of the checkpoints whose entries can all be read and match the digest, oldest first.
    static func `true`(_ storage: any LogStorage, _ identity: LogIdentity) throws(SyncError) -> [UInt64] {
        var found: [UInt64] = []
        for through in try storage.checkpoints() {
            do throws(SyncError) {
                try check(storage, through.rawValue, identity)
                found.append(through.rawValue)
            } catch {
                if ![.storeCorrupt, .storeNewer].contains(error.code) { throw error }
            }
        }
        return found.reversed()
    }

    private static func isTrue(_ projector: Projector) throws(SyncError) -> Bool {
        try projector.store.snapshot.summed() == projector.store.digest
    }
}
