// Writes HEAD: two slots, alternately, in place, one sync each. After a failed write or sync it is left alone until the
// log is reopened; nothing but garbage collection needs it.

package final class HeadFile {
    private let file: any WritableFile
    package private(set) var current: Head
    package private(set) var isBroken = false
    private let slot = ByteBuffer(capacity: Format.headSlotLength)

    /// Opens or makes the file and writes `head` into it, durably. What can't be read is kept in quarantine.
    package init(_ storage: any LogStorage, head: Head, replacingDamaged: Bool) throws(LogError) {
        current = head
        do throws(StorageError) {
            if replacingDamaged {
                try storage.createDirectory(FileName.quarantine)
                try storage.rename(FileName.head, to: "\(FileName.quarantine)/HEAD-e\(head.epoch)")
                try storage.syncDirectory(FileName.quarantine)
            }
            let names = try storage.names(in: "")
            if names.contains(FileName.head) {
                file = try storage.openForWriting(FileName.head, create: false)
            } else {
                let temporary = FileName.head + FileName.temporarySuffix
                file = try storage.openForWriting(temporary, create: true)
                try file.resize(to: 0)
                try file.resize(to: UInt64(2 * Format.headSlotLength))
                try HeadFile.put(head, into: file, slot)
                try storage.rename(temporary, to: FileName.head)
                try storage.syncDirectory("")
                return
            }
        } catch {
            throw LogError(error)
        }
        try write { _ in }
    }

    /// Changes what HEAD says and makes it durable.
    package func write(_ change: (inout Head) -> Void) throws(LogError) {
        guard !isBroken else {
            throw LogError(
                .storageFailed, "HEAD could not be written before", file: FileName.head, hint: "Reopen the log.")
        }
        var next = current
        change(&next)
        next.generation = current.generation + 1
        do throws(StorageError) {
            try HeadFile.put(next, into: file, slot)
            current = next
        } catch {
            isBroken = true
            throw LogError(error)
        }
    }

    private static func put(_ head: Head, into file: any WritableFile, _ slot: ByteBuffer) throws(StorageError) {
        slot.truncate(to: 0)
        head.encode(
            into: UnsafeMutableRawBufferPointer(rebasing: slot.free(Format.headSlotLength)[..<Format.headSlotLength]))
        slot.advance(by: Format.headSlotLength)
        let offset = SeededBug.headUsesOneSlot.isActive ? 0 : head.generation % 2 * UInt64(Format.headSlotLength)
        try file.writeFully(slot.bytes, at: offset)
        if !SeededBug.headNotSynced.isActive { try file.sync(.durable) }
    }

    package func close() {
        file.close()
    }
}
