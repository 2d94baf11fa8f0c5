// The names of a log's files. Names sort in the order of the log; headers repeat what names say.

import SynclineGround

package enum FileName {
    package static let lock = "LOCK"
    package static let head = "HEAD"
    package static let quarantine = "quarantine"
    package static let leases = "leases"
    /// The folder for changes of processes that follow the log's user.
    package static let tributaries = "tributaries"
    static let folders = [quarantine, leases, tributaries]
    /// Marks a log that is being removed.
    package static let erasure = "ERASE"
    package static let temporarySuffix = ".tmp"
    package static let segmentSuffix = ".seg"
    package static let checkpointSuffix = ".checkpoint"

    /// `00000007-000000000000a3f2.seg`: the ordinal, then the first record.
    package static func segment(ordinal: UInt64, first: SequenceNumber) -> String {
        Hexadecimal.text(ordinal, digits: 8) + "-" + Hexadecimal.text(first.rawValue, digits: 16) + segmentSuffix
    }

    package static func parseSegment(_ name: String) -> (ordinal: UInt64, first: SequenceNumber)? {
        guard name.hasSuffix(segmentSuffix) else { return nil }
        let parts = name.dropLast(segmentSuffix.count).split(separator: "-", omittingEmptySubsequences: false)
        guard parts.count == 2, let ordinal = UInt64(parts[0], radix: 16), let first = UInt64(parts[1], radix: 16),
            segment(ordinal: ordinal, first: SequenceNumber(rawValue: first)) == name
        else { return nil }
        return (ordinal, SequenceNumber(rawValue: first))
    }

    /// `000000000000a3f1.checkpoint`: the last record it covers.
    package static func checkpoint(through: SequenceNumber) -> String {
        Hexadecimal.text(through.rawValue, digits: 16) + checkpointSuffix
    }

    package static func parseCheckpoint(_ name: String) -> SequenceNumber? {
        guard name.hasSuffix(checkpointSuffix),
            let through = UInt64(name.dropLast(checkpointSuffix.count), radix: 16),
            checkpoint(through: SequenceNumber(rawValue: through)) == name
        else { return nil }
        return SequenceNumber(rawValue: through)
    }

    package static func quarantined(_ position: LogPosition, epoch: UInt32) -> String {
        "\(quarantine)/s\(position.segment)-\(position.offset)-e\(epoch).tail"
    }

    /// Returns whether a directory that contains this name may be a log.
    package static func belongsToLog(_ name: String) -> Bool {
        ([lock, head, erasure] + folders).contains(name) || name.hasSuffix(temporarySuffix)
            || parseSegment(name) != nil || parseCheckpoint(name) != nil
    }
}
