// The masks of numbers and UUIDs in a column of their type: values with one meaning have masks with one meaning, and each
// spelling has one of its own.

import SynclineCore
import SynclineGround

struct SpelledMasks {
    private(set) var masks: [Value: Value] = [:]

    /// Masks the values that fit; of other types, none.
    init(_ values: [Value], _ type: ColumnType, _ key: MaskKey?) {
        guard type.isUUID || type.isNumeric else { return }
        var spellings: [[UInt8]: [Value]] = [:]
        for value in values where type.fits(value) {
            var writer = ByteWriter()
            writer.append(sortOf: value, as: type)
            spellings[writer.bytes, default: []].append(value)
        }
        let meanings = spellings.sorted { $0.key.lexicographicallyPrecedes($1.key) }
        for (place, (_, values)) in meanings.enumerated() {
            let rank = key.map { $0.rank(of: values[0], as: type) } ?? place + 1
            let sorted = values.sorted { $0.encoded.lexicographicallyPrecedes($1.encoded) }
            for (number, value) in sorted.enumerated() {
                masks[value] = SpelledMasks.mask(value, rank: rank, spelling: number + 1)
            }
        }
    }

    private static func mask(_ value: Value, rank: Int, spelling: Int) -> Value {
        let digits = "\(rank)." + String(repeating: "0", count: spelling)
        return switch value {
        case .integer: .integer(Int64(rank))
        case .double: .double(Double(rank))
        case .number: Value(number: digits) ?? .integer(Int64(rank))
        case .string(let text) where Meaning(value, as: .uuid).fits: .string(uuid(rank, spelling, like: text))
        default: .string(digits)
        }
    }

    /// A UUID of letters alone, in the case of another, so that it sorts by its rank.
    private static func uuid(_ rank: Int, _ spelling: Int, like text: String) -> String {
        var letters: [UInt8] = []
        var rest = rank
        for _ in 0..<32 {
            letters.append(UInt8(ascii: "a") + UInt8(rest % 6))
            rest /= 6
        }
        letters.reverse()
        let hasLower = text.utf8.contains { (0x61...0x66).contains($0) }
        let hasUpper = text.utf8.contains { (0x41...0x46).contains($0) }
        for place in letters.indices where !hasLower || hasUpper && spelling >> place & 1 == 1 {
            letters[place] &= 0xdf
        }
        for dash in [20, 16, 12, 8] { letters.insert(UInt8(ascii: "-"), at: dash) }
        return String(decoding: letters, as: UTF8.self)
    }
}
