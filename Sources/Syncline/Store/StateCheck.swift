// Folds a log from its beginning and compares what comes out with what was noted on the way: the digest of the state when
// a segment was sealed, and when a checkpoint was written. So a fold that changed, or a file that lies, is found.

package import SegmentLog
package import SynclineCore

/// The digest of the state at the end of a segment, and the fold it is of.
struct SealNote {
    var digest: Digest

    var bytes: [UInt8] {
        var writer = ByteWriter()
        writer.append(varint: UInt64(Projector.version))
        writer.append(fixed: digest.high)
        writer.append(fixed: digest.low)
        return writer.bytes
    }

    init(digest: Digest) {
        self.digest = digest
    }

    /// Nil for one of another version of the fold, which can't be compared.
    init?(_ bytes: [UInt8]) {
        let digest = bytes.span.withUnsafeBytes { bytes -> Digest? in
            var reader = SynclineCore.ByteReader(bytes)
            guard let version = try? reader.varint(), version == UInt64(Projector.version),
                let high = try? reader.fixed(), let low = try? reader.fixed(), reader.isAtEnd
            else { return nil }
            return Digest(high: high, low: low)
        }
        guard let digest else { return nil }
        self.digest = digest
    }
}

package struct StateCheck {
    /// A moment at which the state is not what it was noted to be.
    package struct Mismatch: Hashable, Sendable {
        package var event: UInt64
        /// What noted it: a segment's seal or a checkpoint.
        package var source: String
        package var file: String
    }

    private let storage: any LogStorage
    private var noted: [UInt64: [(digest: Digest, source: String, file: String)]] = [:]

    /// - Parameter notes: The notes of the segments' seals, with the files they are in.
    package init(_ storage: any LogStorage, notes: [(note: LogNote, file: String)]) throws(SyncError) {
        self.storage = storage
        for (note, file) in notes {
            guard let seal = SealNote(note.bytes) else { continue }
            noted[note.through.rawValue, default: []].append((seal.digest, "a segment's seal", file))
        }
        for (through, digest, file) in try CheckpointFile.digests(storage) {
            noted[through, default: []].append((digest, "a checkpoint", file))
        }
    }

    /// What a fold came to.
    package struct Finding {
        package var mismatches: [Mismatch] = []
        /// How many notes it was compared with.
        package var compared = 0
        /// The last event before the first that was folded.
        package var from: UInt64
        /// The state at the end.
        package var projector: Projector
    }

    /// Folds as far as something was noted, and tells where it differs: from the oldest checkpoint, or from the beginning,
    /// which takes memory for the whole state.
    package func run(fromBeginning: Bool) throws(SyncError) -> [Mismatch] {
        guard let last = noted.keys.max() else { return [] }
        return try fold(through: last, fromBeginning: fromBeginning).mismatches
    }

    /// Folds as far as an event, or all there is, and tells where it differs.
    package func fold(through last: UInt64?, fromBeginning: Bool) throws(SyncError) -> Finding {
        let projector = try StateLoader(storage).earliest(preferringCheckpoint: !fromBeginning)
        var finding = Finding(from: projector.through, projector: projector)
        func compare() {
            let digest = projector.store.digest
            for note in noted[projector.through] ?? [] {
                finding.compared += 1
                if note.digest == digest { continue }
                finding.mismatches.append(
                    Mismatch(event: projector.through, source: note.source, file: note.file))
            }
        }
        compare()
        guard projector.through < last ?? .max else { return finding }
        try EventWalk(storage).forEachRecord(from: projector.through + 1) { number, record throws(SyncError) in
            if number > last ?? .max { return false }
            try inAppWords { () throws(StateError) in
                try projector.apply(record, number: number)
                projector.store.endCommit()
                try projector.store.settle(above: 16 << 20)
            }
            compare()
            return number < last ?? .max
        }
        return finding
    }
}

extension CheckpointFile {
    /// What each checkpoint that can be read notes.
    fileprivate static func digests(
        _ storage: any LogStorage
    ) throws(SyncError) -> [(through: UInt64, digest: Digest, file: String)] {
        try inAppWords { () throws(LogError) in
            let identity = try LogReader.open(storage, showing: .written).identity
            return try Checkpoint.list(storage).compactMap { through in
                guard let file = try? Checkpoint.open(storage, through: through, identity: identity),
                    let note = try? Note(reading: file.note)
                else { return nil }
                return (through.rawValue, note.digest, file.name)
            }
        }
    }
}
