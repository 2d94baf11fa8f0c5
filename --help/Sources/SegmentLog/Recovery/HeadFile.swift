// Writes HEAD: two slots, alternately, in place, with one sync each. After a failed write or sync the file is not
// used again, because a second sync could succeed without having written anything. The next update goes into a new
// file, which gets the name when it is durable. So a disk error loses one update and not all later ones.

package final class HeadFile {
    private let storage: any LogStorage
    private var file: any WritableFile
    package private(set) var current: Head
    /// Whether a write or sync of the file failed.
    private var isUncertain = false
    /// The newest generation that may be on the disk. It shows readers that HEAD has changed, so none is used twice.
    private var generation: UInt64

    /// Opens or creates the file and writes `head` into it, durably. An unreadable file is kept in quarantine.
    package init(_ storage: any LogStorage, head: Head, replacingDamaged: Bool) throws(LogError) {
        self.storage = storage
        current = head
        generation = head.generation
        do throws(StorageError) {
            if replacingDamaged {
                try storage.createDirectory(FileName.quarantine)
                try storage.rename(FileName.head, to: "\(FileName.quarantine)/HEAD-e\(head.epoch)")
                try storage.syncDirectory(FileName.quarantine)
            }
            let names = try storage.names(in: "")
            guard names.contains(FileName.head) else {
                file = try HeadFile.make(head, in: storage)
                return
            }
            file = try storage.openForWriting(FileName.head, create: false)
        } catch {
            throw LogError(error)
        }
        try write { _ in }
    }

    /// Changes the contents of HEAD durably. If it throws, HEAD has the old or the new contents.
    package func write(_ change: (inout Head) -> Void) throws(LogError) {
        var next = current
        change(&next)
        generation += 1
        next.generation = generation
        do throws(StorageError) {
            if isUncertain {
                let fresh = try HeadFile.make(next, in: storage)
                file.close()
                file = fresh
                isUncertain = false
            } else {
                try HeadFile.put(next, into: file)
            }
            current = next
        } catch {
            isUncertain = true
            throw LogError(error)
        }
    }

    /// Creates a new file with one slot, renamed and durable.
    private static func make(_ head: Head, in storage: any LogStorage) throws(StorageError) -> any WritableFile {
        let temporary = FileName.head + FileName.temporarySuffix
        let file = try storage.openForWriting(temporary, create: true)
        do throws(StorageError) {
            try file.resize(to: 0)
            try file.resize(to: UInt64(2 * Format.headSlotLength))
            try put(head, into: file)
            try storage.rename(temporary, to: FileName.head)
            try storage.syncDirectory("")
            return file
        } catch {
            file.close()
            throw error
        }
    }

    private static func put(_ head: Head, into file: any WritableFile) throws(StorageError) {
        let slot = ByteBuffer(capacity: Format.headSlotLength)
        head.encode(into: slot.room(Format.headSlotLength))
        slot.advance(by: Format.headSlotLength)
let offset = Breakage.headUsesOneSlot.isActive ? 0 : head.generation % 2 * UInt64(Format.headSlotLength)
        try file.writeFully(slot.bytes, at: offset)
if !Breakage.headNotSynced.isActive { try file.sync(.durable) }
    }

    package func close() {
        file.close()
    }
}
