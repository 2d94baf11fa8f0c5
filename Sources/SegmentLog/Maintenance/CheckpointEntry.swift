// The checkpoints of a log, each read completely, with damage in place of one that does not verify.

/// A checkpoint that verified.
package struct CheckpointEntry: Hashable, Sendable {
    package var through: SequenceNumber
    package var file: String
    package var blocks: Int
    package var fileSize: ByteCount
    package var noteLength: Int
}

extension LogInspection {
    /// Returns the checkpoints, oldest first.
    package func checkpoints() throws(LogError) -> [Found<CheckpointEntry>] {
        let catalog = try LogInspection.retryingMissingFiles { () throws(LogError) in try LogCatalog(storage) }
        var found: [Found<CheckpointEntry>] = []
        try catalog.verifyCheckpoints(in: storage) { checkpoint throws(LogError) in
            let entry = CheckpointEntry(
                through: checkpoint.through, file: checkpoint.name, blocks: try checkpoint.blocks().count,
                fileSize: .bytes(checkpoint.size), noteLength: checkpoint.note.count)
            found.append(.item(entry))
        } damage: { damage in
            found.append(.damage(damage))
        }
        return found
    }
}
