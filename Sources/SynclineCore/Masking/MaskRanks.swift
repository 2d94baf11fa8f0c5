// The ranks of a column's values, and the masks that are made from them. Values in another form have the rank of the value
// that they are equal to.

import SynclineGround

struct MaskRanks {
    private var numbers: [Value: Int] = [:]
    private var instants: [Timestamp.Instant: Timestamp.Instant] = [:]
    private var texts: [ExactString: String] = [:]
    private var blobs: [[UInt8]: UInt64] = [:]
    /// The masks of values that have several spellings in a column of their type.
    private let typed: [Value: Value]

    init(_ values: [Value], _ type: ColumnType, _ key: MaskKey?) {
        var found: (numbers: [Value], instants: Set<Timestamp.Instant>, texts: [ExactString], blobs: [[UInt8]])
        found = ([], [], [], [])
        for value in values {
            switch value {
            case .null, .bool, .array, .object: break
            case .integer, .double, .number: found.numbers.append(value)
            case .date(let date): found.instants.insert(date.instant)
            case .bytes(let bytes): found.blobs.append(bytes)
            case .string(let text):
                if let date = MaskRanks.date(text) {
                    found.instants.insert(date.instant)
                } else {
                    found.texts.append(ExactString(text))
                }
            }
        }
        typed = SpelledMasks(found.numbers + found.texts.map { .string($0.text) }, type, key).masks
        if let key {
            for number in found.numbers { numbers[number] = key.rank(of: number, as: .any) }
            for instant in found.instants { instants[instant] = key.instant(for: instant) }
            for bytes in found.blobs { blobs[bytes] = key.number(of: bytes) }
            for text in found.texts {
                texts[text] = MaskedValues.letters(key.rank(of: .string(text.text), as: .any), width: 12)
            }
            return
        }
        let sorted = MaskRanks.sorted(found.numbers)
        numbers.reserveCapacity(sorted.count)
        var rank = 0
        for (index, number) in sorted.enumerated() {
            // An equal number in another form has the same rank.
            if index == 0 || Value.compare(sorted[index - 1], number) != .equal { rank += 1 }
            numbers[number] = rank
        }
        // One day per instant, so that a date without a time stays one.
        let step: Int64 = found.instants.count < 1_000_000 ? 86_400 : 1
        for (rank, instant) in found.instants.sorted().enumerated() {
            instants[instant] = Timestamp.Instant(seconds: Int64(rank + 1) * step)
        }
        for (rank, bytes) in found.blobs.sorted(by: { $0.lexicographicallyPrecedes($1) }).enumerated() {
            blobs[bytes] = UInt64(rank + 1)
        }
        let width = MaskedValues.letters(found.texts.count, width: 1).utf8.count
        texts.reserveCapacity(found.texts.count)
        for (rank, text) in found.texts.sorted().enumerated() {
            texts[text] = MaskedValues.letters(rank + 1, width: width)
        }
    }

    private static func sorted(_ numbers: [Value]) -> [Value] {
        let integers = numbers.compactMap { number in if case .integer(let integer) = number { integer } else { nil } }
        if integers.count == numbers.count { return integers.sorted().map { .integer($0) } }
        return numbers.sorted { Value.compare($0, $1) == .less }
    }

    /// Returns a value's mask; that of an unknown value if it was not ranked.
    func mask(_ value: Value) -> Value {
        if let mask = typed[value] { return mask }
        return switch value {
        case .null, .bool, .array, .object: value
        case .integer: .integer(Int64(numbers[value] ?? 0))
        case .double(let number): .double(mask(number, value))
        case .number(let number): .double(mask(number.rounded, value))
        case .date(let date): .date(mask(date))
        case .bytes(let bytes): .bytes(blob(of: bytes))
        case .string(let text): .string(mask(text))
        }
    }

    private func mask(_ text: String) -> String {
        if let mask = texts[ExactString(text)] { return mask }
        return MaskRanks.date(text).map { mask($0).description } ?? "unknown"
    }

    /// A number with a fraction keeps one, so that it is read as the same kind.
    private func mask(_ number: Double, _ value: Value) -> Double {
        let rank = Double(numbers[value] ?? 0)
        return number == number.rounded() ? rank : rank + 0.5
    }

    private func mask(_ date: Timestamp) -> Timestamp {
        let instant = instants[date.instant] ?? Timestamp.Instant(seconds: 0)
        return Timestamp(instant, decimals: date.decimals, zone: date.zone)
    }

    func blob(of bytes: [UInt8]) -> [UInt8] {
        withUnsafeBytes(of: (blobs[bytes] ?? 0).bigEndian) { Array($0) }
    }

    /// Returns the date that a string represents, or nil if it would be written differently.
    private static func date(_ text: String) -> Timestamp? {
        guard let date = Timestamp(text), date.description.hasSameBytes(as: text) else { return nil }
        return date
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
