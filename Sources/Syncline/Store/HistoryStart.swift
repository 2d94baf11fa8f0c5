// The check that a store whose oldest events were removed still has a state to begin with. Its log alone looks healthy
// without one, and its checkpoints are derived data only as long as another one can take their place.

package import SegmentLog
import SynclineCore

package enum HistoryStart {
    /// Returns the damage of a report as it is for a store: if no checkpoint precedes the first event, what the removed
    /// events said is lost, and a damaged checkpoint may have the rest of it.
    package static func checked(_ report: LogReport, _ storage: any LogStorage) throws(SyncError) -> [LogDamage] {
        guard let first = try storage.segments().first,
            first.first > .first, try !hasCheckpoint(before: first.first, storage, report.identity),
            try holdsEvents(storage)
        else { return report.damage }
        let damage = report.damage.map { damage in
            guard damage.remedy == .rebuild, damage.file.hasSuffix(FileName.checkpointSuffix) else { return damage }
            var damage = damage
            damage.remedy = .salvage
            return damage
        }
        let lost = LogDamage(
            file: first.name, position: LogPosition(segment: first.ordinal, offset: 0),
            records: SequenceRange(first: .first, last: first.first.previous),
            reason: "the events before it were removed, and no checkpoint of them can be read", remedy: .salvage)
        return damage + [lost]
    }

    private static func hasCheckpoint(
        before first: SequenceNumber, _ storage: any LogStorage, _ identity: LogIdentity
    ) throws(SyncError) -> Bool {
        for through in try storage.checkpoints() where through.next >= first {
            do throws(SyncError) {
                try CheckpointFile.check(storage, through.rawValue, identity)
                return true
            } catch {
                if ![.storeCorrupt, .storeNewer].contains(error.code) { throw error }
            }
        }
        return false
    }

    /// Whether the first record that can be read is an event.
    private static func holdsEvents(_ storage: any LogStorage) throws(SyncError) -> Bool {
        var isEvent: Bool?
        try storage.salvage { _, _, records throws(SyncError) in
            records.forEach { record in isEvent = isEvent ?? ((try? Event(record)) != nil) }
        }
        return isEvent ?? false
    }
}
