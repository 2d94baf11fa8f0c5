// A table of up to 255 strings of one to eight bytes, each written as one byte. A string that is encoded by it can be read
// on its own, and equal texts have equal codes.
//
//   table := number of symbols u8 · their lengths u8 · their bytes

import SynclineGround

/// Symbols, by their codes.
package final class SymbolTable: @unchecked Sendable {
    // Unchecked, because memory is a pointer to the compiler; it is written before and never again.
    /// Follows no symbol: the next byte stands for itself.
    static let escape: UInt8 = 255
    static let most = 255

    /// The bytes of each symbol, the first one lowest, and their number. Of the escape they are 0.
    let words = UnsafeMutablePointer<UInt64>.allocate(capacity: 256)
    let lengths = UnsafeMutablePointer<UInt8>.allocate(capacity: 256)

    init(_ symbols: [Symbol]) {
        precondition(symbols.count <= SymbolTable.most, "a code has one byte")
        words.initialize(repeating: 0, count: 256)
        lengths.initialize(repeating: 0, count: 256)
        for (code, symbol) in symbols.enumerated() { (words[code], lengths[code]) = (symbol.word, symbol.length) }
    }

    deinit {
        words.deallocate()
        lengths.deallocate()
    }

    /// Reads texts, as long as the table is kept.
    var decoder: SymbolDecoder { SymbolDecoder(words: words, lengths: lengths) }

    struct Symbol: Hashable {
        /// Its bytes, the first one lowest; zeros follow.
        let word: UInt64
        let length: UInt8

        init(_ word: UInt64, _ length: Int) {
            (self.word, self.length) = (length == 8 ? word : word & (1 << (8 * UInt64(length)) - 1), UInt8(length))
        }

        func followed(by other: Symbol) -> Symbol? {
            let sum = Int(length) + Int(other.length)
            return sum <= 8 ? Symbol(word | other.word << (8 * UInt64(length)), sum) : nil
        }
    }

    var count: Int { (0..<SymbolTable.most).first { lengths[$0] == 0 } ?? SymbolTable.most }

    var bytes: [UInt8] {
        var bytes = [UInt8(count)] + (0..<count).map { lengths[$0] }
        for code in 0..<count {
            for place in 0..<UInt64(lengths[code]) {
                bytes.append(UInt8(truncatingIfNeeded: words[code] >> (8 * place)))
            }
        }
        return bytes
    }

    convenience init(_ bytes: UnsafeRawBufferPointer) throws(MalformedBytes) {
        var reader = ByteReader(bytes)
        let lengths = try reader.take(Int(try reader.byte()))
        var symbols: [Symbol] = []
        for length in lengths {
            guard (1...8).contains(length) else { throw MalformedBytes() }
            var word: UInt64 = 0
            for (place, byte) in try reader.take(Int(length)).enumerated() {
                word |= UInt64(byte) << (8 * UInt64(place))
            }
            symbols.append(Symbol(word, Int(length)))
        }
        guard reader.isAtEnd else { throw MalformedBytes() }
        self.init(symbols)
    }
}

/// Decodes texts by a table, which its owner keeps.
struct SymbolDecoder {
    let words: UnsafePointer<UInt64>
    let lengths: UnsafePointer<UInt8>

    /// The first eight bytes of the text of some codes, as a number that sorts like them.
    @inline(__always)
    func leading(_ codes: UnsafeRawBufferPointer) -> UInt64 {
        var (text, length, place): (UInt64, UInt64, Int) = (0, 0, 0)
        while length < 8, place < codes.count {
            let code = Int(codes[place])
            place += 1
            if code < SymbolTable.most {
                text |= words[code] << (8 * length)
                length += UInt64(lengths[code])
                if lengths[code] == 0 { break }
            } else if place < codes.count {
                text |= UInt64(codes[place]) << (8 * length)
                length += 1
                place += 1
            }
        }
        return text.byteSwapped
    }

    /// Writes the text of some codes. There must be room for eight bytes per code. Returns the length of the text, or nil
    /// if a code has no symbol or the last one is cut off.
    @inline(__always)
    func decode(_ codes: UnsafeRawBufferPointer, to memory: UnsafeMutableRawPointer) -> Int? {
        var (place, written) = (0, 0)
        while place < codes.count {
            let code = Int(codes[place])
            place += 1
            let length = Int(lengths[code])
            if length > 0 {
                (memory + written).storeBytes(of: words[code].littleEndian, as: UInt64.self)
                written += length
            } else {
                guard code == 255, place < codes.count else { return nil }
                (memory + written).storeBytes(of: codes[place], as: UInt8.self)
                written += 1
                place += 1
            }
        }
        return written
    }
}

/// Encodes texts by a table: at each place by the longest symbol that fits.
struct SymbolEncoder {
    private struct Slot {
        var word: UInt64 = 0
        var mask: UInt64 = 0
        var code: UInt8 = 0
        var length: UInt8 = 0
    }

    private static let slotCount = 512
    private static let ways = 4
    /// The longest symbol of those with the same hash of their first three bytes.
    private var slots = [Slot](repeating: Slot(), count: slotCount * ways)
    /// By the first two bytes, the code and the length of a symbol of two bytes, or of one; 0 without one.
    private var short = [UInt16](repeating: 0, count: 1 << 16)

    init(_ table: SymbolTable) {
        for code in 0..<SymbolTable.most where table.lengths[code] > 0 {
            let (word, length) = (table.words[code], Int(table.lengths[code]))
            if length > 2 {
                let new = Slot(
                    word: word, mask: length == 8 ? .max : 1 << (8 * UInt64(length)) - 1, code: UInt8(code),
                    length: UInt8(length))
                let first = SymbolEncoder.slot(word)
                var place = first + SymbolEncoder.ways - 1
                if slots[place].length >= new.length { continue }
                while place > first, slots[place - 1].length < new.length {
                    slots[place] = slots[place - 1]
                    place -= 1
                }
                slots[place] = new
            } else if length == 2 {
                short[Int(word)] = UInt16(code) | 2 << 8
            } else {
                for second in 0..<256 where short[Int(word) | second << 8] >> 8 < 2 {
                    short[Int(word) | second << 8] = UInt16(code) | 1 << 8
                }
            }
        }
    }

    @inline(__always)
    private static func slot(_ word: UInt64) -> Int {
        let three = word & 0xff_ffff
        return Int(truncatingIfNeeded: (three &* 0x9e37_79b9_7f4a_7c15) >> 55) * ways
    }

    /// Writes the codes of a string. There must be room for two bytes per byte of the text. Returns their number.
    @inline(__always)
    func encode(_ text: UnsafeRawBufferPointer, to memory: UnsafeMutableRawPointer) -> Int {
        var written = 0
        forEachCode(of: text) { code, byte in
            (memory + written).storeBytes(of: code, as: UInt8.self)
            written += 1
            if let byte {
                (memory + written).storeBytes(of: byte, as: UInt8.self)
                written += 1
            }
        }
        return written
    }

    /// Calls `body` with each code of a string, and with the byte that follows it if it is the escape.
    @inline(__always)
    func forEachCode(of text: UnsafeRawBufferPointer, _ body: (UInt8, UInt8?) -> Void) {
        slots.withUnsafeBufferPointer { slots in
            short.withUnsafeBufferPointer { short in
                var place = 0
                while place < text.count {
                    let left = text.count - place
                    let word = SymbolEncoder.word(text, place, left)
                    let first = SymbolEncoder.slot(word)
                    var way = 0
                    while way < SymbolEncoder.ways {
                        let slot = slots[first + way]
                        if slot.length == 0 { way = SymbolEncoder.ways; break }
                        if Int(slot.length) <= left, word & slot.mask == slot.word {
                            body(slot.code, nil)
                            place += Int(slot.length)
                            break
                        }
                        way += 1
                    }
                    if way < SymbolEncoder.ways { continue }
                    let entry = short[Int(word & 0xffff)]
                    // Without a second byte, a zero stands for it.
                    if entry >> 8 == 2, left >= 2 {
                        body(UInt8(truncatingIfNeeded: entry), nil)
                        place += 2
                    } else if entry >> 8 == 1 {
                        body(UInt8(truncatingIfNeeded: entry), nil)
                        place += 1
                    } else {
                        body(SymbolTable.escape, text[place])
                        place += 1
                    }
                }
            }
        }
    }

    /// The next eight bytes, the first one lowest; zeros after the end.
    @inline(__always)
    private static func word(_ text: UnsafeRawBufferPointer, _ place: Int, _ left: Int) -> UInt64 {
        if left >= 8 { return UInt64(littleEndian: text.loadUnaligned(fromByteOffset: place, as: UInt64.self)) }
        var word: UInt64 = 0
        for index in 0..<left { word |= UInt64(text[place + index]) << (8 * UInt64(index)) }
        return word
    }
}

extension SymbolTable {
    /// A table that suits a sample of texts: in each of five rounds the sample is encoded, and those symbols, and pairs of
    /// symbols that follow each other, stay that save most.
    static func trained(on sample: [UnsafeRawBufferPointer]) -> SymbolTable {
        var table = SymbolTable([])
        for _ in 0..<5 { table = table.improved(by: sample) }
        return table
    }

    private func improved(by sample: [UnsafeRawBufferPointer]) -> SymbolTable {
        let encoder = SymbolEncoder(self)
        var gains: [Symbol: Int] = [:]
        var counts = [UInt32](repeating: 0, count: 512 * 512)
        // A symbol's code, or 256 and a byte that stands for itself.
        for text in sample {
            var last: Int?
            encoder.forEachCode(of: text) { code, byte in
                let now = byte.map { 256 + Int($0) } ?? Int(code)
                if let last { counts[last * 512 + now] += 1 }
                counts[now * 512 + 511] += 1
                last = now
            }
        }
        func symbol(_ number: Int) -> Symbol {
            number < 256 ? Symbol(words[number], Int(lengths[number])) : Symbol(UInt64(number - 256), 1)
        }
        for first in 0..<511 {
            let alone = Int(counts[first * 512 + 511])
            guard alone > 0 else { continue }
            let one = symbol(first)
            // A single byte saves the escape before it.
            gains[one, default: 0] += alone * (Int(one.length) + (one.length == 1 ? 1 : 0))
            for second in 0..<511 {
                let together = Int(counts[first * 512 + second])
                guard together > 1, let both = one.followed(by: symbol(second)) else { continue }
                gains[both, default: 0] += together * Int(both.length)
            }
        }
        let best = gains.sorted { ($0.value, $1.key.word) > ($1.value, $0.key.word) }
        return SymbolTable(best.lazy.filter { $0.value > 1 }.prefix(SymbolTable.most).map(\.key))
    }
}
