// The ranks of a column's values, and the masks that are made from them.

import SynclineCore
import SynclineGround

struct MaskRanks {
    private let key: MaskKey?
    /// By the values' numbers. Values that are equal in another form have one rank.
    private var ranks: [UInt64]
    /// The masks of values that have several spellings in a column of their type.
    private var typed: [Value: Value] = [:]
    /// The seconds between two instants.
    private var step: Int64 = 86_400
    /// The letters of a string.
    private var width = 12

    /// - Parameter values: Those of a column, each once.
    init(_ values: [Value], _ type: ColumnType, _ key: MaskKey?) {
        self.key = key
        ranks = Array(repeating: 0, count: values.count)
        var instants: [(place: Int, key: Timestamp.Instant)] = []
        var texts: [(place: Int, key: ExactString)] = []
        var blobs: [(place: Int, key: [UInt8])] = []
        var numbers: [(place: Int, key: Value)] = []
        var integers: [(place: Int, key: Int64)] = []
        for (place, value) in values.enumerated() {
            switch value {
            case .null, .bool, .array, .object: break
            case .integer(let number): integers.append((place, number))
            case .double, .number: numbers.append((place, value))
            case .bytes(let bytes): blobs.append((place, bytes))
            case .date(let date): instants.append((place, date.instant))
            case .string(let text):
                if let date = MaskRanks.date(text) {
                    instants.append((place, date.instant))
                } else {
                    texts.append((place, ExactString(text)))
                }
            }
        }
        // Integers alone have one spelling each.
        if !numbers.isEmpty || !texts.isEmpty {
            let spelled = integers.map { Value.integer($0.key) } + numbers.map(\.key)
            typed = SpelledMasks(spelled + texts.map { .string($0.key.text) }, type, key).masks
        }
        if let key {
            for (place, value) in values.enumerated() {
                if case .bytes(let bytes) = value {
                    ranks[place] = key.number(of: bytes)
                } else {
                    ranks[place] = UInt64(key.rank(of: value, as: .any))
                }
            }
            return
        }
        if numbers.isEmpty {
            rank(integers, by: <)
        } else {
            rank(numbers + integers.map { ($0.place, .integer($0.key)) }) { Value.compare($0, $1) == .less }
        }
        rank(texts, by: <)
        rank(blobs) { $0.lexicographicallyPrecedes($1) }
        // One day per instant, so that a date without a time stays one.
        if rank(instants, by: <) >= 1_000_000 { step = 1 }
        width = MaskedValues.letters(texts.count, width: 1).utf8.count
    }

    /// Ranks values, from 1; returns the last rank.
    @discardableResult
    private mutating func rank<Key>(_ keyed: [(place: Int, key: Key)], by isLess: (Key, Key) -> Bool) -> UInt64 {
        var sorted = keyed
        sorted.sort { isLess($0.key, $1.key) }
        var rank: UInt64 = 0
        for (index, (place, key)) in sorted.enumerated() {
            if index == 0 || isLess(sorted[index - 1].key, key) { rank += 1 }
            ranks[place] = rank
        }
        return rank
    }

    /// The mask of a value, by its number.
    func mask(_ value: Value, _ number: Int) -> Value {
        if let mask = typed[value] { return mask }
        let rank = ranks[number]
        return MaskRanks.mask(value, rank) { instant in
            key?.instant(for: instant) ?? Timestamp.Instant(seconds: Int64(rank) * step)
        } text: {
            MaskedValues.letters(Int(rank), width: width)
        }
    }

    /// The mask of a value that no column has.
    static func unknown(_ value: Value) -> Value {
        mask(value, 0) { _ in
            Timestamp.Instant(seconds: 0)
        } text: {
            "unknown"
        }
    }

    private static func mask(
        _ value: Value, _ rank: UInt64, instant: (Timestamp.Instant) -> Timestamp.Instant, text: () -> String
    ) -> Value {
        func date(_ date: Timestamp) -> Timestamp {
            Timestamp(instant(date.instant), decimals: date.decimals, zone: date.zone)
        }
        /// A number with a fraction keeps one, so that it is read as the same kind.
        func number(_ number: Double) -> Value {
            .double(number == number.rounded() ? Double(rank) : Double(rank) + 0.5)
        }
        return switch value {
        case .null, .bool, .array, .object: value
        case .integer: .integer(Int64(rank))
        case .double(let double): number(double)
        case .number(let spelled): number(spelled.rounded)
        case .date(let day): .date(date(day))
        case .bytes: .bytes(withUnsafeBytes(of: rank.bigEndian) { Array($0) })
        case .string(let string): .string(MaskRanks.date(string).map { date($0).description } ?? text())
        }
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
