// Says quickly that a key is certainly not in a run: a Bloom filter in blocks of one cache line, sixteen bits a key. A key
// sets one bit in each of the eight words of its block; about one absent key in a thousand is not detected. The keys of one
// kind are left out: those of the journal, because no missing key of the journal is ever requested.

import SynclineGround

struct KeyFilter: Sendable {
    private let words: [UInt64]

    private static let blockWords = 8

    /// What the keys begin with that are left out.
    static var uncovered: UInt8 { 0x7f }

    /// Returns whether keys of this kind are in the filter.
    static func covers(_ key: Bytes) -> Bool { key.first != uncovered }

    /// Creates the filter of keys from their hashes.
    init(hashes: [UInt64]) {
        let blocks = max(1, (hashes.count * 16 + 511) / 512)
        var words = [UInt64](repeating: 0, count: blocks * KeyFilter.blockWords)
        for hash in hashes {
            let start = KeyFilter.block(of: hash, blocks)
            for word in 0..<KeyFilter.blockWords { words[start + word] |= KeyFilter.bit(hash, word) }
        }
        self.words = words
    }

    func mayContain(hash: UInt64) -> Bool {
        let start = KeyFilter.block(of: hash, words.count / KeyFilter.blockWords)
        for word in 0..<KeyFilter.blockWords where words[start + word] & KeyFilter.bit(hash, word) == 0 { return false }
        return true
    }

    /// Returns the first word of a key's block.
    private static func block(of hash: UInt64, _ blocks: Int) -> Int {
        Int(hash.multipliedFullWidth(by: UInt64(blocks)).high) * blockWords
    }

    /// Returns a key's bit in one of its words: six of the hash's lower 48 bits, which do not select the block.
    private static func bit(_ hash: UInt64, _ word: Int) -> UInt64 {
        1 << (hash >> UInt64(word * 6) & 63)
    }

    func encode(into writer: inout ByteWriter) {
        for word in words { writer.append(fixed: word) }
    }

    init(decoding blocks: [RunBlock]) throws(MalformedBytes) {
        var words: [UInt64] = []
        words.reserveCapacity(blocks.reduce(0) { $0 + $1.bytes.count / 8 })
        for block in blocks {
            defer { extendLifetime(block) }
            guard block.bytes.count % 8 == 0 else { throw MalformedBytes() }
            for offset in stride(from: 0, to: block.bytes.count, by: 8) {
                words.append(UInt64(littleEndian: block.bytes.loadUnaligned(fromByteOffset: offset, as: UInt64.self)))
            }
        }
        guard !words.isEmpty, words.count % KeyFilter.blockWords == 0 else { throw MalformedBytes() }
        self.words = words
    }
}
