// The values of one column of a report, and their masks. A mask is made from the value's rank in its column, so
// equal values have equal masks in the same order, and nothing else is revealed; or from the value with a key. Null,
// true, false and an empty string stay, because masking them would hide nothing.

import SynclineGround

/// Collects values first, and masks them after `close`.
package struct MaskedValues: Sendable {
    private var numbers: Set<Value> = []
    private var instants: Set<Timestamp.Instant> = []
    private var texts: Set<ExactString> = []
    private var blobs: Set<[UInt8]> = []
    private var ranks = Ranks()
    /// The masks of values that have several spellings in a column of their type.
    private var typed: [Value: Value] = [:]

    private struct Ranks: Sendable {
        var numbers: [Value: Int] = [:]
        var instants: [Timestamp.Instant: Timestamp.Instant] = [:]
        var texts: [ExactString: String] = [:]
        var blobs: [[UInt8]: UInt64] = [:]
    }

    package init() {}

    // MARK: Collecting

    /// Adds a value that is neither an array nor an object.
    package mutating func add(_ value: Value) {
        switch value {
        case .null, .bool, .array, .object: break
        case .integer, .double, .number: numbers.insert(value)
        case .date(let date): instants.insert(date.instant)
        case .bytes(let bytes): blobs.insert(bytes)
        case .string(let text):
            if let date = MaskedValues.date(text) {
                instants.insert(date.instant)
            } else if !text.isEmpty {
                texts.insert(ExactString(text))
            }
        }
    }

    /// Adds the values of another column that has the same values under another name.
    package mutating func add(_ other: MaskedValues) {
        numbers.formUnion(other.numbers)
        instants.formUnion(other.instants)
        texts.formUnion(other.texts)
        blobs.formUnion(other.blobs)
    }

    /// Ranks all values, by themselves if there is a key. `coded` encodes bytes as a string if there is no other way.
    package mutating func close(as type: ColumnType = .any, _ key: MaskKey? = nil, coded: ([UInt8]) -> String) {
        typed = SpelledMasks(Array(numbers) + texts.map { .string($0.text) }, type, key).masks
        ranks.texts.reserveCapacity(texts.count + blobs.count)
        if let key { rank(with: key) } else { rank() }
        for bytes in blobs { ranks.texts[ExactString(coded(bytes))] = coded(blob(of: bytes)) }
        (numbers, instants, texts, blobs) = ([], [], [], [])
    }

    private mutating func rank() {
        let sorted = MaskedValues.sorted(numbers)
        ranks.numbers.reserveCapacity(numbers.count)
        ranks.instants.reserveCapacity(instants.count)
        var rank = 0
        for (index, number) in sorted.enumerated() {
            // An equal number in another form has the same rank.
            if index == 0 || Value.compare(sorted[index - 1], number) != .equal { rank += 1 }
            ranks.numbers[number] = rank
        }
        // One day per instant, so that a date without a time stays one.
        let step: Int64 = instants.count < 1_000_000 ? 86_400 : 1
        for (rank, instant) in instants.sorted().enumerated() {
            ranks.instants[instant] = Timestamp.Instant(seconds: Int64(rank + 1) * step)
        }
        for (rank, bytes) in blobs.sorted(by: { $0.lexicographicallyPrecedes($1) }).enumerated() {
            ranks.blobs[bytes] = UInt64(rank + 1)
        }
        let width = MaskedValues.letters(texts.count, width: 1).utf8.count
        for (rank, text) in texts.sorted().enumerated() {
            ranks.texts[text] = MaskedValues.letters(rank + 1, width: width)
        }
    }

    private mutating func rank(with key: MaskKey) {
        for number in numbers { ranks.numbers[number] = key.rank(of: number, as: .any) }
        for instant in instants { ranks.instants[instant] = key.instant(for: instant) }
        for bytes in blobs { ranks.blobs[bytes] = key.number(of: bytes) }
        for text in texts {
            ranks.texts[text] = MaskedValues.letters(key.rank(of: .string(text.text), as: .any), width: 12)
        }
    }

    private static func sorted(_ numbers: Set<Value>) -> [Value] {
        let integers = numbers.compactMap { number in if case .integer(let integer) = number { integer } else { nil } }
        if integers.count == numbers.count { return integers.sorted().map { .integer($0) } }
        return numbers.sorted { Value.compare($0, $1) == .less }
    }

    // MARK: Masking

    /// Returns a value's mask. A value that was not collected gets the mask for an unknown value.
    package func mask(_ value: Value) -> Value {
        if let mask = typed[value] { return mask }
        return switch value {
        case .null, .bool, .array, .object: value
        case .integer: .integer(Int64(ranks.numbers[value] ?? 0))
        case .double(let number): .double(mask(number, value))
        case .number(let number): .double(mask(number.rounded, value))
        case .date(let date): .date(mask(date))
        case .bytes(let bytes): .bytes(blob(of: bytes))
        case .string(let text): .string(mask(text))
        }
    }

    package func mask(_ text: String) -> String {
        if text.isEmpty { return text }
        if let coded = ranks.texts[ExactString(text)] { return coded }
        return MaskedValues.date(text).map { mask($0).description } ?? "unknown"
    }

    /// A number with a fraction keeps one, so that it is read as the same kind.
    private func mask(_ number: Double, _ value: Value) -> Double {
        let rank = Double(ranks.numbers[value] ?? 0)
        return number == number.rounded() ? rank : rank + 0.5
    }

    private func mask(_ date: Timestamp) -> Timestamp {
        let instant = ranks.instants[date.instant] ?? Timestamp.Instant(seconds: 0)
        return Timestamp(instant, decimals: date.decimals, zone: date.zone)
    }

    private func blob(of bytes: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: (ranks.blobs[bytes] ?? 0).bigEndian) { Array($0) }
    }

    /// Returns the date that a string represents, or nil if it would be written differently.
    private static func date(_ text: String) -> Timestamp? {
        guard let date = Timestamp(text), date.description.hasSameBytes(as: text) else { return nil }
        return date
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

extension MaskKey {
    /// A number of 53 bits, which every kind of number can hold; the same for values of one meaning. A number has it
    /// whatever the type of its column is, because two stores may not know the same types.
    func rank(of value: Value, as type: ColumnType) -> Int {
        var meaning = Meaning(value, as: type)
        switch meaning {
        case .integer(let number): meaning = Meaning(.integer(number), as: .decimal)
        case .number(let number): meaning = Meaning(.double(number), as: .decimal)
        case .plain(.integer), .plain(.double), .plain(.number): meaning = Meaning(value, as: .decimal)
        default: break
        }
        var writer = ByteWriter()
        writer.append(sortOf: meaning)
        return Int(number(of: writer.bytes) >> 11)
    }

    /// Another instant that can be written; of a day without a time another day.
    func instant(for instant: Timestamp.Instant) -> Timestamp.Instant {
        let (first, day): (Int64, Int64) = (-62_135_596_800, 86_400)
        let days: UInt64 = 3_652_059
        guard let seconds = UInt64(exactly: instant.seconds - first), seconds < days * UInt64(day) else {
            return Timestamp.Instant(seconds: 0)
        }
        if instant.nanoseconds == 0, seconds % UInt64(day) == 0 {
            let other = permuted(seconds / UInt64(day), below: days)
            return Timestamp.Instant(seconds: first + Int64(other) * day)
        }
        // A time that falls on midnight would be read as a day.
        let other = permuted(seconds, below: days * UInt64(day))
        let rest = instant.nanoseconds == 0 ? 0 : 1 + number(of: Array("\(instant)".utf8)) % 999
        return Timestamp.Instant(seconds: first + Int64(other), nanoseconds: UInt32(rest) * 1_000_000)
    }
}
