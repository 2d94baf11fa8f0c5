// Folds a log and compares the result with the digests recorded when segments were sealed and checkpoints were
// written. This detects a changed fold or a tampered file.

package import SegmentLog
package import SynclineCore
import SynclineGround

extension Digest {
    /// The note of a segment's seal: the digest of the state at the end, and the fold version that computed it.
    var sealNote: [UInt8] {
        var writer = ByteWriter()
        writer.append(varint: UInt64(Projector.version))
        writer.append(fixed: high)
        writer.append(fixed: low)
        return writer.bytes
    }

    /// Decodes a note; nil if another version of the fold wrote it, so that it can't be compared.
    init?(sealNote bytes: [UInt8]) {
        let digest = bytes.withBytes { bytes -> Digest? in
            var reader = ByteReader(bytes)
            guard let version = try? reader.varint(), version == UInt64(Projector.version),
                let high = try? reader.fixed(), let low = try? reader.fixed(), reader.isAtEnd
            else { return nil }
            return Digest(high: high, low: low)
        }
        guard let digest else { return nil }
        self = digest
    }
}

package struct StateCheck {
    /// A recorded digest that does not match the log.
    package struct Mismatch: Hashable, Sendable {
        package var event: UInt64
        /// What does not match: a segment's seal, a checkpoint, or the entries of a checkpoint.
        package var source: String
        package var file: String
        /// Whether it is a checkpoint whose entries do not match its own digest.
        package var isOfEntries = false
        /// Whether the state can be rebuilt without it.
        package var isRepairable = true
        /// Why the event can't be folded, if it can't.
        package var refusal: String?

        /// The fault, as part of a sentence.
        package var sentence: String {
            if let refusal { return "the event @\(event) can't be folded: \(refusal)" }
            return isOfEntries
                ? "its entries do not match its digest"
                : "the state at @\(event) does not match the digest in \(source)"
        }
    }

    private struct Note {
        var digest: Digest
        var totals: ChangeCounts?
        var source: String
        var file: String
    }

    private let storage: any LogStorage
    private var noted: [UInt64: [Note]] = [:]
    private let untrue: Set<UInt64>
    /// Checkpoints whose entries do not match their recorded digest.
    package let untrueCheckpoints: [Mismatch]

    /// Reads every checkpoint completely. Run this and the fold in one `HistoryReading`.
    /// - Parameter notes: The notes of the segments' seals, with the files they are in.
    package init(_ storage: any LogStorage, notes: [(note: LogNote, file: String)]) throws(SyncError) {
        self.storage = storage
        for (note, file) in notes {
            guard let digest = Digest(sealNote: note.bytes) else { continue }
            noted[note.through.rawValue, default: []].append(
                Note(digest: digest, source: "a segment's seal", file: file))
        }
        let floor = try storage.openLog().floor
        let readings = try CheckpointFile.readings(storage)
        for reading in readings {
            noted[reading.through, default: []].append(
                Note(digest: reading.digest, totals: reading.totals, source: "a checkpoint", file: reading.file))
        }
        let hasStart = floor == .first || readings.contains { $0.isTrue && $0.through + 1 >= floor.rawValue }
        untrue = Set(readings.filter { !$0.isTrue }.map(\.through))
        untrueCheckpoints = readings.filter { !$0.isTrue }.map {
            Mismatch(
                event: $0.through, source: "the entries of a checkpoint", file: $0.file, isOfEntries: true,
                isRepairable: hasStart)
        }
    }

    /// The result of a fold.
    package struct Finding {
        package var mismatches: [Mismatch] = []
        /// The number of recorded digests it was compared with.
        package var compared = 0
        /// The last event before the first one folded.
        package var from: UInt64
        /// The state at the end.
        package var projector: Projector
    }

    /// Folds a store's events and returns the mismatches, the last of which may be an event that can't be folded. Starts
    /// at the oldest checkpoint, or at the beginning, which needs memory for the whole state.
    package func run(fromBeginning: Bool) throws(SyncError) -> [Mismatch] {
        guard try EventWalk(storage).holdsEvents else { return [] }
        return try fold(through: nil, fromBeginning: fromBeginning).mismatches
    }

    /// Folds through an event, or all events, and returns the mismatches. Ends at an event that can't be folded.
    package func fold(through last: UInt64?, fromBeginning: Bool) throws(SyncError) -> Finding {
        let projector = try StateLoader(storage).earliest(preferringCheckpoint: !fromBeginning, without: untrue)
        var finding = Finding(mismatches: untrueCheckpoints, from: projector.through, projector: projector)
        func compare() {
            let digest = projector.store.digest
            for note in noted[projector.through] ?? [] {
                finding.compared += 1
                if note.digest == digest, note.totals ?? projector.totals == projector.totals { continue }
                finding.mismatches.append(
                    Mismatch(event: projector.through, source: note.source, file: note.file))
            }
        }
        compare()
        guard projector.through < last ?? .max else { return finding }
        try EventWalk(storage).forEachRecord(from: projector.through + 1) { number, record throws(SyncError) in
            if number > last ?? .max { return false }
            do throws(SyncError) {
                try projector.apply(record, number: number)
                projector.store.endCommit()
                try projector.store.settle(above: 16 << 20)
            } catch {
                guard error.malformedPart != nil else { throw error }
                finding.mismatches.append(try refusal(of: number, error.message))
                return false
            }
            compare()
            return number < last ?? .max
        }
        return finding
    }

    private func refusal(of event: UInt64, _ refusal: String) throws(SyncError) -> Mismatch {
        let file = try storage.segments().last { $0.first.rawValue <= event }?.name ?? ""
        return Mismatch(event: event, source: "", file: file, isRepairable: false, refusal: refusal)
    }
}
