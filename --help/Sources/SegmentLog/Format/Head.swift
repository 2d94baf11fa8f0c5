// The 4096-byte slots of the HEAD file. HEAD only helps to detect loss and to save work: its contents can be found
// again from the segments, so losing it only costs a scan.

import SynclineGround

/// The contents of HEAD.
package struct Head: Hashable, Sendable {
    package var generation: UInt64 = 0
    package var identity: LogIdentity
    /// The first record that must exist.
    package var floor: SequenceNumber
    package var newestOrdinal: UInt64
    package var durableThrough: SequenceNumber
    /// The newest verified checkpoint; `none` if there is none.
    package var checkpoint: SequenceNumber = .none
    package var epoch: UInt32
    package var isClean: Bool

    package init(
        identity: LogIdentity, floor: SequenceNumber, newestOrdinal: UInt64, durableThrough: SequenceNumber,
        epoch: UInt32, isClean: Bool
    ) {
        self.identity = identity
        self.floor = floor
        self.newestOrdinal = newestOrdinal
        self.durableThrough = durableThrough
        self.epoch = epoch
        self.isClean = isClean
    }

    static let checksumOffset = Format.headSlotLength - 4
    static let fieldsEnd = 80

    package func encode(into slot: UnsafeMutableRawBufferPointer) {
        slot.initializeMemory(as: UInt8.self, repeating: 0)
        slot.copyBytes(from: Format.headMagic)
        slot.store(generation, at: 8)
        identity.store(into: slot, at: 16)
        slot.store(floor.rawValue, at: 32)
        slot.store(newestOrdinal, at: 40)
        slot.store(durableThrough.rawValue, at: 48)
        slot.store(checkpoint.rawValue, at: 56)
        slot.store(UInt64(0), at: 64)
        slot.store(epoch, at: 72)
        slot.store(UInt32(isClean ? 1 : 0), at: 76)
        slot.store(crc32c(UnsafeRawBufferPointer(slot).slice(0, Head.checksumOffset)), at: Head.checksumOffset)
    }

    /// Decodes a slot; nil unless every byte is as this version writes it.
    package init?(_ slot: UnsafeRawBufferPointer) {
        guard slot.count == Format.headSlotLength, slot.prefix(8).elementsEqual(Format.headMagic),
            crc32c(slot.slice(0, Head.checksumOffset)) == slot.number(UInt32.self, at: Head.checksumOffset),
            slot.number(UInt64.self, at: 64) == 0, slot.number(UInt32.self, at: 76) <= 1,
            slot.slice(Head.fieldsEnd, Head.checksumOffset - Head.fieldsEnd).isAllZero
        else { return nil }
        self.init(
            identity: LogIdentity(slot, at: 16), floor: SequenceNumber(rawValue: slot.number(at: 32)),
            newestOrdinal: slot.number(at: 40), durableThrough: SequenceNumber(rawValue: slot.number(at: 48)),
            epoch: slot.number(at: 72), isClean: slot.number(UInt32.self, at: 76) == 1)
        generation = slot.number(at: 8)
        checkpoint = SequenceNumber(rawValue: slot.number(at: 56))
    }

}

/// What the HEAD file says.
package struct HeadReading: Sendable {
    /// The valid slot with the higher generation; nil if neither is valid, or the file is missing.
    package private(set) var head: Head?
    /// Whether the file is there, and neither slot is valid.
    package private(set) var isDamaged = false
    /// Whether every slot that was ever written is valid. If not, a newer one may have said that the log had more
    /// records.
    package private(set) var isCertain = false

    /// The reading of a missing file.
    package init() {}

    package init(_ file: UnsafeRawBufferPointer) {
        let slots = [0, Format.headSlotLength].map { offset in
            file.slice(min(offset, file.count), min(Format.headSlotLength, max(file.count - offset, 0)))
        }
head = slots.compactMap(Head.init).max { Breakage.olderSlotBelieved.isActive ? $0.generation > $1.generation : $0.generation < $1.generation }
        isDamaged = head == nil
        isCertain =
head != nil && (Breakage.slotNotMissed.isActive || slots.allSatisfy { $0.count == Format.headSlotLength && ($0.isAllZero || Head($0) != nil) })
    }
}
