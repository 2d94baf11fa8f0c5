// The values of one column of a report, and what stands in the place of each. A mask is made of the rank that a value has
// among those of its column, so masks are equal where values are, stand in the same order, and say nothing else of them.
// Null, true and false, and an empty string stay: there is nothing to hide them among.

/// Collects values first, and masks them after `close`.
package struct MaskedValues: Sendable {
    private var numbers: Set<Value> = []
    private var instants: Set<Timestamp.Instant> = []
    private var texts: Set<Text> = []
    private var blobs: Set<[UInt8]> = []
    private var ranks = Ranks()

    /// A string as the bytes it has: Swift takes some spellings for the same.
    private struct Text: Hashable, Comparable, Sendable {
        var content: String

        static func == (left: Text, right: Text) -> Bool { left.content.utf8.elementsEqual(right.content.utf8) }

        static func < (left: Text, right: Text) -> Bool {
            left.content.unicodeScalars.lexicographicallyPrecedes(right.content.unicodeScalars)
        }

        func hash(into hasher: inout Hasher) {
            var content = content
            content.withUTF8 { hasher.combine(bytes: UnsafeRawBufferPointer($0)) }
        }
    }

    private struct Ranks: Sendable {
        var numbers: [Value: Int] = [:]
        var instants: [Timestamp.Instant: Int] = [:]
        var texts: [Text: String] = [:]
        var blobs: [[UInt8]: Int] = [:]
    }

    package init() {}

    // MARK: Collecting

    /// Takes a value that is no array and no object.
    package mutating func add(_ value: Value) {
        switch value {
        case .null, .bool, .array, .object: break
        case .integer, .double: numbers.insert(value)
        case .date(let date): instants.insert(date.instant)
        case .bytes(let bytes): blobs.insert(bytes)
        case .string(let text):
            if let date = MaskedValues.date(text) {
                instants.insert(date.instant)
            } else if !text.isEmpty {
                texts.insert(Text(content: text))
            }
        }
    }

    /// Takes the values of another column, which has the same ones under another name.
    package mutating func add(_ other: MaskedValues) {
        numbers.formUnion(other.numbers)
        instants.formUnion(other.instants)
        texts.formUnion(other.texts)
        blobs.formUnion(other.blobs)
    }

    /// Gives every value its rank. `coded` says how bytes are written as a string where there is no other way.
    package mutating func close(coded: ([UInt8]) -> String) {
        let sorted = numbers.sorted { Value.compare($0, $1) == .less }
        var rank = 0
        for (index, number) in sorted.enumerated() {
            // A number in another form has the same rank.
            if index == 0 || Value.compare(sorted[index - 1], number) != .equal { rank += 1 }
            ranks.numbers[number] = rank
        }
        for (rank, instant) in instants.sorted().enumerated() { ranks.instants[instant] = rank + 1 }
        for (rank, bytes) in blobs.sorted(by: { $0.lexicographicallyPrecedes($1) }).enumerated() {
            ranks.blobs[bytes] = rank + 1
        }
        let width = MaskedValues.letters(texts.count, width: 1).utf8.count
        for (rank, text) in texts.sorted().enumerated() {
            ranks.texts[text] = MaskedValues.letters(rank + 1, width: width)
        }
        for bytes in blobs { ranks.texts[Text(content: coded(bytes))] = coded(blob(of: bytes)) }
        (numbers, instants, texts, blobs) = ([], [], [], [])
    }

    // MARK: Masking

    /// What stands in a value's place. One that was not collected is nothing but unknown.
    package func mask(_ value: Value) -> Value {
        switch value {
        case .null, .bool, .array, .object: value
        case .integer: .integer(Int64(ranks.numbers[value] ?? 0))
        case .double(let number): .double(mask(number))
        case .date(let date): .date(mask(date))
        case .bytes(let bytes): .bytes(blob(of: bytes))
        case .string(let text): .string(mask(text))
        }
    }

    package func mask(_ text: String) -> String {
        if text.isEmpty { return text }
        if let coded = ranks.texts[Text(content: text)] { return coded }
        return MaskedValues.date(text).map { mask($0).description } ?? "unknown"
    }

    /// A number with a fraction keeps one, so that it is read as it was.
    private func mask(_ number: Double) -> Double {
        let rank = Double(ranks.numbers[.double(number)] ?? 0)
        return number == number.rounded() ? rank : rank + 0.5
    }

    /// A day for each instant, so that a date without a time stays one.
    private func mask(_ date: Timestamp) -> Timestamp {
        let step: Int64 = ranks.instants.count < 1_000_000 ? 86_400 : 1
        let rank = Int64(ranks.instants[date.instant] ?? 0)
        return Timestamp(.init(seconds: rank * step), decimals: date.decimals, zone: date.zone)
    }

    private func blob(of bytes: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: UInt64(ranks.blobs[bytes] ?? 0).bigEndian) { Array($0) }
    }

    /// The date that a string is; nil for one that would not be written in the same way.
    private static func date(_ text: String) -> Timestamp? {
        guard let date = Timestamp(text), date.description.utf8.elementsEqual(text.utf8) else { return nil }
        return date
    }

    /// A number in letters, of which the first is the largest digit: masks of one width sort as their numbers.
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
