// Names every byte of the small files of a store, as docs/FORMAT.md describes them, and of the changes of followers, as
// docs/EVENTS.md does.

import SegmentLog
import SynclineGround

extension FieldWalk {
    /// - Parameters:
    ///   - name: The file, as an address names it.
    ///   - identity: That of the log, if it is known.
    mutating func addFile(_ name: String, _ identity: LogIdentity?) {
        let size = bytes.count
        switch name {
        case FileName.head: addHead(identity)
        case FileName.lock: addLine("note for people")
        case FileName.erasure: while !bytes.isEmpty { addLine("beginning of names") }
        default: if name.hasPrefix(FileName.leases) { addLease() } else { addChanges(identity) }
        }
        if size < FieldWalk.leastSize(of: name) { endTooEarly() }
        addRest("bytes after the end", isRight: name == FileName.lock ? nil : false)
    }

    private static func leastSize(of name: String) -> Int {
        switch name {
        case FileName.head: 2 * Format.headSlotLength
        case FileName.lock, FileName.erasure: 0
        default: name.hasPrefix(FileName.leases) ? 20 : 49
        }
    }

    /// The next bytes as a line with its end.
    private mutating func addLine(_ name: String) {
        let line = bytes.prefix { $0 != 0x0a }
        add(name, min(line.count + 1, bytes.count), ColumnFields.text(line))
    }

    private mutating func addIdentity(_ name: String, _ identity: LogIdentity?) {
        let own = bytes.prefix(16)
        let found = own.count < 16 ? nil : Array(own).withBytes { LogIdentity($0, at: 0) }
        let isRight = identity.flatMap { identity in found.map { $0 == identity } }
        add(name, 16, Hexadecimal.text(of: own), isRight: isRight)
    }

    // MARK: HEAD

    private mutating func addHead(_ identity: LogIdentity?) {
        let newest = Array(bytes).withBytes { HeadReading($0).head?.generation }
        for number in 0..<2 { addSlot(number, newest, identity) }
    }

    private mutating func addSlot(_ number: Int, _ newest: UInt64?, _ identity: LogIdentity?) {
        let slot = Array(bytes.prefix(Format.headSlotLength))
        let name = "slot \(number)"
        guard !slot.allSatisfy({ $0 == 0 }) else { return add(name, Format.headSlotLength, "never written") }
        let checksum = slot.count < Format.headSlotLength ? nil : slot.checksum(0, Format.headSlotLength - 4)
        add("\(name): magic", 8, isRight: slot.starts(with: Format.headMagic))
        let generation = peek(8)
        add(
            "\(name): generation", 8, "\(generation)\(generation == newest ? ", the one in force" : "")",
            isRight: generation % 2 == number)
        addIdentity("\(name): identity of the log", identity)
        add("\(name): first record that must exist", 8, "@\(peek(8))")
        add("\(name): newest segment", 8, "s\(peek(8))")
        add("\(name): last record known durable", 8, "@\(peek(8))")
        add("\(name): newest verified checkpoint", 8, peek(8) == 0 ? "none" : "c\(peek(8))")
        add("\(name): zero", 8, isRight: peek(8) == 0)
        addNumber("\(name): epoch", 4)
        add("\(name): closed cleanly", 4, peek(4) == 1 ? "yes" : "no", isRight: peek(4) <= 1)
        let zeros = Format.headSlotLength - 84
        add("\(name): zero", zeros, isRight: bytes.prefix(zeros).allSatisfy { $0 == 0 })
        add(
            "\(name): checksum", 4, Hexadecimal.text(peek(4), digits: 8),
            isRight: checksum.map { peek(4) == UInt64($0) })
    }

    // MARK: Leases and changes

    private mutating func addLease() {
        let all = Array(bytes)
        let checksum = all.count < 20 ? nil : all.checksum(0, 16)
        add("magic", 8, isRight: all.starts(with: Format.leaseMagic))
        add("first record claimed", 8, "@\(peek(8))")
        add(
            "checksum", 4, Hexadecimal.text(peek(4), digits: 8), isRight: checksum.map { peek(4) == UInt64($0) })
    }

    private mutating func addChanges(_ identity: LogIdentity?) {
        let all = Array(bytes)
        let checksum = all.count < 8 ? nil : all.checksum(0, all.count - 8)
        add("magic", 8, isRight: all.starts(with: "SYNCTRB1".utf8))
        addIdentity("identity of the log", identity)
        add("last event that the process had read", 8, "@\(peek(8))")
        addNumber("version of the schema", 8)
        let count = bytes.count > 8 ? addVarint("number of events") : 0
        var number: UInt64 = 0
        // The checksum is at the end, whatever the lengths say.
        while number < count, bytes.count > 8 {
            number += 1
            let length = Int(clamping: addVarint("length of event \(number)"))
            let event = Array(bytes.prefix(max(0, min(length, bytes.count - 8))))
            add(
                "event \(number)", event.count, FrameBytes.text(event, number),
                isRight: event.count < length ? false : nil)
        }
        if bytes.count > 8 { add("bytes without meaning", bytes.count - 8, isRight: false) }
        add(
            "checksum", 8, Hexadecimal.text(peek(8), digits: 16), isRight: checksum.map { peek(8) == UInt64($0) })
    }
}
