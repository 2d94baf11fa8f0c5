// The checkpoints of a log, each read completely, with damage in place of one that does not verify.

package import SegmentLog

/// A checkpoint that verified.
package struct CheckpointEntry: Hashable, Sendable {
    package var through: SequenceNumber
    package var file: String
    package var blocks: Int
    package var fileSize: ByteCount
    package var noteLength: Int

    package var json: JSONValue {
        [
            "address": .string(through.description),
            "file": .string(file),
            "blocks": .number(blocks),
            "bytes": .number(fileSize.rawValue),
            "noteBytes": .number(noteLength),
        ]
    }
}

extension LogInspection {
    /// Returns the checkpoints, oldest first.
    package func checkpoints() throws(LogError) -> [Found<CheckpointEntry>] {
        let catalog = try LogInspection.retryingMissingFiles { () throws(LogError) in try LogCatalog(storage) }
        var found: [Found<CheckpointEntry>] = []
        for through in catalog.checkpoints {
            let name = FileName.checkpoint(through: through)
            do throws(LogError) {
                found.append(.item(try checkpoint(through, name, catalog)))
            } catch {
                // A newer one may have replaced it in the meantime.
                if error.isNotFound { continue }
                // What can't be read at the moment may be intact.
                guard !error.isRefusal else { throw error }
                found.append(
                    .damage(
                        LogDamage(
                            file: name, reason: error.message, remedy: error.code == .storeNewer ? .upgrade : .rebuild))
                )
            }
        }
        return found
    }

    private func checkpoint(
        _ through: SequenceNumber, _ name: String, _ catalog: LogCatalog
    ) throws(LogError) -> CheckpointEntry {
        let checkpoint = try Checkpoint.open(storage, through: through, identity: catalog.identity)
        try checkpoint.verify()
        let file = try storage.reading(name)
        defer { file.close() }
        let size: UInt64
        do throws(StorageError) { size = try file.size() } catch { throw LogError(error) }
        return CheckpointEntry(
            through: through, file: name, blocks: try checkpoint.blocks().count, fileSize: .bytes(size),
            noteLength: checkpoint.note.count)
    }
}
