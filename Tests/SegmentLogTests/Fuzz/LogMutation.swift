// Changes to the files of a log: accidental ones, and ones with corrected checksums, so that the code that checksums
// protect is reached too.

#if !FUZZING
    import SegmentLog
#endif

enum LogMutation {
    // MARK: Accidents

    /// Flips bits, truncates, zeroes, or removes a file; returns what it did.
    static func harm(_ storage: MemoryStorage, _ random: inout SeededRandom) -> String {
        let names = storage.allNames().files.filter { $0.hasSuffix(".seg") || $0 == "HEAD" }.sorted()
        // The newest segment is where most decisions are made.
        let segments = names.filter { $0.hasSuffix(".seg") }
        let name = random.once(in: 2) ? segments[segments.count - 1] : names[random.below(names.count)]
        guard var bytes = storage.contents(of: name), !bytes.isEmpty else { return "nothing" }
        let used = (bytes.lastIndex { $0 != 0 } ?? 0) + 1
        let at = random.below(min(bytes.count, used + 64))
        var what: String
        switch random.below(8) {
        case 0...3:
            bytes[at] ^= 1 << UInt8(random.below(8))
            what = "a bit flipped at \(at)"
        case 4:
            bytes.removeLast(bytes.count - at)
            what = "cut at \(at)"
        case 5, 6:
            let start = at / 512 * 512
            let end = min(bytes.count, start + 512 * (1 + random.below(3)))
            for index in start..<end { bytes[index] = 0 }
            what = "zeroed \(start)..<\(end)"
        default:
            if random.once(in: 4) && names.count > 1 {
                try? storage.remove(name)
                return "removed \(name)"
            }
            for index in at..<bytes.count { bytes[index] = 0 }
            what = "zeroed from \(at)"
        }
        storage.setContents(bytes, of: name)
        what += " in \(name)"
        return what
    }

    // MARK: With corrected checksums

    /// Changes a field, a payload or the order of frames, and corrects every checksum and perhaps the chain.
    static func forge(_ storage: MemoryStorage, _ random: inout SeededRandom) -> String {
        let names = storage.allNames().files.filter { $0.hasSuffix(".seg") }.sorted()
        let index = random.once(in: 2) ? names.count - 1 : random.below(names.count)
        guard var bytes = storage.contents(of: names[index]), bytes.count >= 512 else { return "nothing" }
        if random.once(in: 8) { return forgeHead(storage, &random) }
        if random.once(in: 8) { return forgeHeader(storage, names[index], &bytes, &random) }
        let seed = secondCRC(bytes[16..<32])
        var frames: [SecondFrame] = []
        var at = 512
        while let frame = SecondFrame(bytes, at: at, seed: seed), frame.length <= bytes.count - at {
            frames.append(frame)
            at += frame.length
        }
        guard !frames.isEmpty else { return "nothing" }
        let ahead = Array(bytes[at...])
        var pieces = frames.map { Array(bytes[$0.offset..<$0.offset + $0.length]) }
        let which = random.below(pieces.count)
        var what = "frame \(which) of \(names[index]) "
        switch random.below(14) {
        case 0:
            pieces.remove(at: which)
            what += "removed"
        case 1:
            pieces.insert(pieces[which], at: random.below(pieces.count + 1))
            what += "copied"
        case 2:
            pieces.swapAt(which, random.below(pieces.count))
            what += "swapped"
        default: what += change(&pieces[which], frames[which], &random)
        }
        let keepsChain = random.once(in: 4)
        if keepsChain { what += ", chain kept" }
        var chain = UInt32(bytes.number(72, 4))
        for piece in pieces.indices {
            if !keepsChain { pieces[piece].put(chain, 4, at: 36) }
            mend(&pieces[piece], seed)
            chain = chainBehind(pieces[piece])
        }
        storage.setContents(Array(bytes[..<512]) + pieces.joined() + ahead, of: names[index])
        guard index + 1 < names.count, !keepsChain else { return what }
        mendSuccessors(storage, names, index, length: 512 + pieces.reduce(0) { $0 + $1.count }, chain)
        return what
    }

    private static func change(_ frame: inout [UInt8], _ old: SecondFrame, _ random: inout SeededRandom) -> String {
        switch random.below(9) {
        case 0:
            frame[30] = [1, 3, 4, 5, 6, 9, 10, 2, 8, 127, 128, 255][random.below(12)]
            return "is of kind \(frame[30])"
        case 1, 2:
            frame[31] ^= 1 << UInt8(random.below(8))
            return "has flags \(frame[31])"
        case 3:
            frame.put([0, 1, old.count + 1, 65_535][random.below(4)], 2, at: 28)
            return "counts \(frame.number(28, 2))"
        case 4:
            let first = random.once(in: 4) ? random.next() : UInt64(random.below(Int(old.first) + 5))
            frame.put(first, 8, at: 16)
            return "begins with \(first)"
        case 5:
            frame.put(random.below(Int(old.first) + 2), 4, at: 24)
            return "lags \(frame.number(24, 4))"
        case 6:
            frame.put([0, old.raw + 1, 1 << 20, 1 << 20 + 1, 0xFFFF_FFFF][random.below(5)], 4, at: 12)
            return "has a raw length of \(frame.number(12, 4))"
        case 7:
            frame.put([0, old.stored + 8, 1_052_704, 1_052_705, 0xFFFF_FFFF][random.below(5)], 4, at: 8)
            return "has a stored length of \(frame.number(8, 4))"
        default:
            // The decompression of forged bytes has a test of its own.
            guard old.codec == 0, old.stored > 0 else { return "is as it was" }
            let at = random.below(min(old.stored, 64))
            frame[40 + at] ^= UInt8(1 + random.below(255))
            return "has another payload at \(at)"
        }
    }

    private static func forgeHead(_ storage: MemoryStorage, _ random: inout SeededRandom) -> String {
        guard var bytes = storage.contents(of: "HEAD"), bytes.count == 8192 else { return "nothing" }
        let at = [16, 32, 40, 48, 56, 64, 72, 76, 77, 80, 4000][random.below(11)]
        let value = UInt8(truncatingIfNeeded: random.next())
        for slot in 0..<2 {
            bytes[slot * 4096 + at] = value
            bytes.put(secondCRC(bytes[slot * 4096..<slot * 4096 + 4092]), 4, at: slot * 4096 + 4092)
        }
        storage.setContents(bytes, of: "HEAD")
        return "HEAD has \(value) at \(at)"
    }

    private static func forgeHeader(
        _ storage: MemoryStorage, _ name: String, _ bytes: inout [UInt8], _ random: inout SeededRandom
    ) -> String {
        let at = [8, 10, 12, 16, 32, 40, 48, 56, 60, 64, 72, 76, 80, 88, 92, 96, 400][random.below(17)]
        bytes[at] ^= 1 << UInt8(random.below(8))
        bytes.put(secondCRC(bytes[..<508]), 4, at: 508)
        storage.setContents(bytes, of: name)
        return "the header of \(name) changed at \(at)"
    }

    private static func mend(_ frame: inout [UInt8], _ seed: UInt32) {
        let stored = Int(frame.number(8, 4))
        if 40 + stored <= frame.count - 8 { frame.put(secondCRC(frame[40..<40 + stored]), 4, at: 32) }
        frame.put(secondCRC(frame[8..<40], seed), 4, at: 4)
    }

    private static func chainBehind(_ frame: [UInt8]) -> UInt32 {
        frame[30] == 9 && frame[40] == 1 ? UInt32(frame.number(41, 4)) : UInt32(frame.number(4, 4))
    }

    /// Each segment after a changed one repeats the length and chain value of the one before.
    private static func mendSuccessors(
        _ storage: MemoryStorage, _ names: [String], _ index: Int, length: Int, _ chain: UInt32
    ) {
        var (length, chain) = (length, chain)
        for name in names[(index + 1)...] {
            guard var bytes = storage.contents(of: name), bytes.count >= 512 else { return }
            bytes.put(length, 8, at: 64)
            bytes.put(chain, 4, at: 72)
            bytes.put(secondCRC(bytes[..<508]), 4, at: 508)
            let seed = secondCRC(bytes[16..<32])
            length = 512
            while let frame = SecondFrame(bytes, at: length, seed: seed), frame.length <= bytes.count - length {
                var piece = Array(bytes[length..<length + frame.length])
                piece.put(chain, 4, at: 36)
                mend(&piece, seed)
                bytes.replaceSubrange(length..<length + frame.length, with: piece)
                chain = chainBehind(piece)
                length += frame.length
            }
            storage.setContents(bytes, of: name)
        }
    }
}

extension [UInt8] {
    /// Writes a little-endian number.
    mutating func put(_ value: some BinaryInteger, _ size: Int, at offset: Int) {
        for index in 0..<size { self[offset + index] = UInt8(truncatingIfNeeded: value >> (8 * index)) }
    }
}
