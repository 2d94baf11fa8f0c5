// The values of one column of a report, and their masks. A mask is made from the value's rank in its column, so
// equal values have equal masks in the same order, and nothing else is revealed; or from the value with a key. Null,
// true, false and an empty string stay, because masking them would hide nothing.

package import SynclineCore
import SynclineGround

/// Collects values first, and masks them after `close`.
package struct MaskedValues: Sendable {
    /// The values as they are encoded.
    private var values = DistinctBytes()
    /// Their masks in the same form, by their numbers.
    private var masks: [UInt8] = []
    private var ends: [UInt32] = [0]

    package init() {}

    // MARK: Collecting

    /// Adds a value that is neither an array nor an object.
    package mutating func add(_ value: Value) { value.encoded.withBytes { add(encoded: $0) } }

    mutating func add(encoded value: Bytes) {
        if !MaskedValues.stays(value) { _ = values.add(value) }
    }

    /// Adds the values of another column that has the same values under another name.
    package mutating func add(_ other: MaskedValues) {
        for number in 0..<other.values.count { other.values.withBytes(of: number) { add(encoded: $0) } }
    }

    /// Whether an encoded value is null, true, false, an empty string, an array or an object.
    static func stays(_ value: Bytes) -> Bool {
        switch value.first ?? ValueTag.null {
        case ValueTag.null, ValueTag.no, ValueTag.yes, ValueTag.shortText, ValueTag.array, ValueTag.object: true
        default: false
        }
    }

    /// Makes the masks of all values, by themselves if there is a key. `coded` encodes bytes as a string if there is no
    /// other way.
    package mutating func close(as type: ColumnType = .any, _ key: MaskKey? = nil, coded: ([UInt8]) -> String) {
        let found = (0..<values.count).map { number in
            values.withBytes(of: number) { bytes in
                var reader = ByteReader(bytes)
                return (try? reader.value()) ?? .null
            }
        }
        let ranks = MaskRanks(found, type, key)
        var writer = ByteWriter(capacity: 8 * found.count)
        func append(_ mask: Value) {
            writer.append(value: mask)
            ends.append(UInt32(writer.count))
        }
        // Bytes that are a string in JSON.
        var others: [Int: Value] = [:]
        for (number, value) in found.enumerated() {
            guard case .bytes(let bytes) = value, case .bytes(let mask) = ranks.mask(value, number) else { continue }
            let place = Value.string(coded(bytes)).encoded.withBytes { values.add($0) }
            others[place] = .string(coded(mask))
        }
        for (number, value) in found.enumerated() { append(others[number] ?? ranks.mask(value, number)) }
        for number in found.count..<values.count { append(others[number] ?? .null) }
        masks = writer.bytes
    }

    // MARK: Masking

    /// Returns a value's mask. A value that was not collected gets the mask for an unknown value.
    package func mask(_ value: Value) -> Value {
        var writer = ByteWriter()
        value.encoded.withBytes { append(maskOf: $0, to: &writer) }
        var reader = ByteReader(writer.inPlace)
        return (try? reader.value()) ?? .null
    }

    package func mask(_ text: String) -> String {
        if case .string(let mask) = mask(.string(text)) { mask } else { text }
    }

    /// Appends the mask of an encoded value.
    func append(maskOf value: Bytes, to writer: inout ByteWriter) {
        if MaskedValues.stays(value) { return writer.append(value) }
        if let number = values.number(of: value) {
            return masks.withBytes { writer.append($0.slice(Int(ends[number]), Int(ends[number + 1] - ends[number]))) }
        }
        var reader = ByteReader(value)
        writer.append(value: MaskRanks.unknown((try? reader.value()) ?? .null))
    }

    /// Returns a number in letters, the highest digit first: masks of one width sort like their numbers.
    package static func letters(_ number: Int, width: Int) -> String {
        var rest = number
        var letters: [UInt8] = []
        while rest > 0 || letters.count < width {
            letters.append(UInt8(0x61 + rest % 26))
            rest /= 26
        }
        return String(decoding: letters.reversed(), as: UTF8.self)
    }
}
