// Whether a checkpoint holds what it notes. Its checksums say that the bytes are as they were written, and its digest can be
// compared with a fold; neither says that the entries in its runs are the ones the digest was made of. So they are read, all
// of them, and summed again.

import SegmentLog
import SynclineCore

extension CheckpointFile {
    /// What a checkpoint notes of the state, and whether its entries are that state's.
    struct Reading {
        var through: UInt64
        var file: String
        var digest: Digest
        var totals: Totals
        var isTrue: Bool
    }

    /// The checkpoints that are whole, newest first. Reads each of them whole.
    static func readings(_ storage: any LogStorage) throws(SyncError) -> [Reading] {
        let identity = try inAppWords { () throws(LogError) in
            try LogReader.open(storage, showing: .written).identity
        }
        var readings: [Reading] = []
        for through in try inAppWords({ () throws(LogError) in try Checkpoint.list(storage) }) {
            guard let projector = try openIfSound(storage, through, identity, removesDamaged: false) else { continue }
            readings.append(
                Reading(
                    through: through.rawValue, file: FileName.checkpoint(through: through),
                    digest: projector.store.digest,
                    totals: projector.totals, isTrue: try isTrue(projector)))
        }
        return readings
    }

    /// Throws unless the entries of a checkpoint are those whose digest it notes.
    static func check(_ storage: any LogStorage, _ through: UInt64, _ identity: LogIdentity) throws(SyncError) {
        let projector = try open(storage, SequenceNumber(rawValue: through), identity, removesDamaged: false)
        if try !isTrue(projector) { throw SyncError(StateError.untrue) }
    }

    /// The events of the checkpoints of which every entry can be read and is true, oldest first.
    static func `true`(_ storage: any LogStorage, _ identity: LogIdentity) throws(SyncError) -> [UInt64] {
        var found: [UInt64] = []
        for through in try inAppWords({ () throws(LogError) in try Checkpoint.list(storage) }) {
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
        try inAppWords { () throws(StateError) in
            try projector.store.snapshot.summed() == projector.store.digest
        }
    }
}
