// The data set: todo items as JSON of some 198 bytes with a random 16-byte id, the same on every run and machine. About
// 30 bytes of each record are true randomness, which no compressor removes.

/// A stream of random numbers seeded by a record's index, so that every record can be made alone.
struct SplitMix64 {
    private var state: UInt64

    /// The seed is mixed first: streams of neighbouring indices would otherwise be one stream, shifted by one.
    init(seed: UInt64) { state = Self.mixed(seed) }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        return Self.mixed(state)
    }

    private static func mixed(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }

    mutating func below(_ bound: UInt64) -> Int { Int(next() % bound) }
}

/// Writes records one after the other into memory that is large enough.
struct RecordWriter {
    /// No record is larger, its id included.
    static let largestRecord = 16 + 256

    /// Where the next byte goes.
    private(set) var end: UnsafeMutablePointer<UInt8>

    init(at start: UnsafeMutablePointer<UInt8>) { end = start }

    mutating func write(record index: Int) {
        var random = SplitMix64(seed: UInt64(index) &+ 1)
        let high = random.next() & 0xffff_ffff_ffff_0fff | 0x4000  // version 4 of a UUID
        let low = random.next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        writeBytes(of: high)
        writeBytes(of: low)
        write(#"{"id":""#)
        writeIdentifier(high, low)
        write(#"","title":""#)
        for word in 0..<(3 + random.below(5)) {
            if word > 0 { write(" ") }
            write(words[random.below(UInt64(words.count))])
        }
        write(#"","done":"#)
        write(random.below(4) == 0 ? "true" : "false")
        write(#","priority":"#)
        write(decimal: random.below(4), digits: 1)
        write(#","project":""#)
        write(projects[random.below(UInt64(projects.count))])
        write(#"","updatedAt":""#)
        writeTime(&random)
        write(#"","version":""#)
        writeHexadecimal(random.next(), digits: 16)
        write(#""}"#)
    }

    private mutating func write(_ text: StaticString) {
        end.update(from: text.utf8Start, count: text.utf8CodeUnitCount)
        end += text.utf8CodeUnitCount
    }

    private mutating func writeBytes(of value: UInt64) {
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            end.pointee = UInt8(truncatingIfNeeded: value >> shift)
            end += 1
        }
    }

    private mutating func writeHexadecimal(_ value: UInt64, digits: UInt64) {
        for digit in (0..<digits).reversed() {
            let nibble = UInt8(truncatingIfNeeded: value >> (4 * digit)) & 15
            end.pointee = nibble < 10 ? 0x30 + nibble : 0x57 + nibble
            end += 1
        }
    }

    private mutating func write(decimal value: Int, digits: Int) {
        var rest = value
        for digit in (0..<digits).reversed() {
            end[digit] = 0x30 + UInt8(truncatingIfNeeded: rest % 10)
            rest /= 10
        }
        end += digits
    }

    private mutating func writeIdentifier(_ high: UInt64, _ low: UInt64) {
        writeHexadecimal(high >> 32, digits: 8)
        write("-")
        writeHexadecimal(high >> 16, digits: 4)
        write("-")
        writeHexadecimal(high, digits: 4)
        write("-")
        writeHexadecimal(low >> 48, digits: 4)
        write("-")
        writeHexadecimal(low, digits: 12)
    }

    /// A moment of 2025 or 2026 with milliseconds, in the form of RFC 3339.
    private mutating func writeTime(_ random: inout SplitMix64) {
        write(decimal: 2025 + random.below(2), digits: 4)
        write("-")
        write(decimal: 1 + random.below(12), digits: 2)
        write("-")
        write(decimal: 1 + random.below(28), digits: 2)
        write("T")
        write(decimal: random.below(24), digits: 2)
        write(":")
        write(decimal: random.below(60), digits: 2)
        write(":")
        write(decimal: random.below(60), digits: 2)
        write(".")
        write(decimal: random.below(1000), digits: 3)
        write("Z")
    }
}

private let words: [StaticString] = [
    "call", "mail", "write", "read", "plan", "order", "check", "clean", "paint", "mend", "bring", "fetch", "return",
    "sort", "book", "rent", "pay", "renew", "cancel", "meeting", "garden", "kitchen", "report", "invoice", "ticket",
    "dinner", "holiday", "doctor", "bath", "school", "bicycle", "printer", "window", "laundry", "pass",
    "budget", "letter", "charger", "library", "team", "plants", "the", "for", "with", "from", "to", "before", "about",
    "after", "and",
]
private let projects: [StaticString] = ["home", "work", "travel", "errands", "finance", "health", "family", "someday"]
