// Bytes of a file with the names that docs/FORMAT.md and docs/STATE.md give them, one after another. Pure.

import SegmentLog
import SynclineGround

/// Bytes with a name.
struct FrameField {
    enum Part: String {
        case header, frame, payload, file
    }

    var part: Part
    var offset: Int
    var bytes: ArraySlice<UInt8>
    var name: String
    var value = ""
    /// Whether the field is what it has to be; nil if the bytes alone can't tell.
    var isRight: Bool?

    func json(showsBytes: Bool) -> JSONValue {
        [
            "part": .string(part.rawValue), "offset": .number(offset), "size": .number(bytes.count),
            "field": .string(name), "value": .string(value), "right": isRight.map { .boolean($0) } ?? .null,
            "bytes": showsBytes ? .string(Hexadecimal.text(of: bytes)) : nil,
        ]
    }
}

/// Takes one field after the other from bytes.
struct FieldWalk {
    private let part: FrameField.Part
    private(set) var fields: [FrameField] = []
    /// What is left.
    private(set) var bytes: ArraySlice<UInt8>

    init(_ part: FrameField.Part, _ bytes: ArraySlice<UInt8>) {
        (self.part, self.bytes) = (part, bytes)
    }

    /// The next bytes as a number, the lowest first.
    func peek(_ count: Int) -> UInt64 {
        bytes.prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    /// A field that the end cuts is wrong; one of which nothing is left is none.
    mutating func add(_ name: String, _ count: Int, _ value: String = "", isRight: Bool? = nil) {
        let taken = bytes.prefix(count)
        if taken.isEmpty { return }
        let isCut = taken.count < count
        fields.append(
            FrameField(
                part: part, offset: taken.startIndex, bytes: taken, name: isCut ? name + ", cut" : name, value: value,
                isRight: isCut ? false : isRight))
        bytes = bytes.dropFirst(count)
    }

    /// Marks the last field as wrong, because others must follow.
    mutating func endTooEarly() {
        guard let last = fields.indices.last, fields[last].isRight != false else { return }
        fields[last].name += ", nothing after it"
        fields[last].isRight = false
    }

    /// A number of some bytes.
    @discardableResult
    mutating func addNumber(_ name: String, _ count: Int, isRight: Bool? = nil) -> UInt64 {
        let number = peek(count)
        add(name, count, "\(number)", isRight: isRight)
        return number
    }

    mutating func addRest(_ name: String, isRight: Bool? = nil) { add(name, bytes.count, isRight: isRight) }

    mutating func addTime(_ name: String) {
        let time = Int64(bitPattern: peek(8))
        add(name, 8, time == 0 ? "none" : WallTime(rawValue: time).text)
    }

    /// - Parameter text: The number in words.
    @discardableResult
    mutating func addVarint(
        _ name: String, isRight: Bool? = nil, _ text: (UInt64) -> String = { "\($0)" }
    ) -> UInt64 {
        guard let (number, count) = FieldWalk.varint(bytes) else {
            add(name, min(10, bytes.count), isRight: false)
            return 0
        }
        add(name, count, text(number), isRight: isRight)
        return number
    }

    /// The number that begins here; nil if none does.
    func peekVarint() -> UInt64? { FieldWalk.varint(bytes)?.number }

    static func varint(_ bytes: ArraySlice<UInt8>) -> (number: UInt64, count: Int)? {
        var number: UInt64 = 0
        for (place, byte) in bytes.prefix(10).enumerated() {
            number |= UInt64(byte & 0x7f) << UInt64(7 * place)
            if byte < 0x80 { return (number, place + 1) }
        }
        return nil
    }

    /// Names all that is left by claims. Where they overlap, the first one counts; bytes between them have no meaning.
    mutating func addClaims(_ claims: [Claim]) {
        let sorted = claims.enumerated().sorted { ($0.element.offset, $0.offset) < ($1.element.offset, $1.offset) }
        let end = bytes.endIndex
        let start = bytes.startIndex
        for claim in sorted.map(\.element) {
            let gap = start + claim.offset - bytes.startIndex
            if gap > 0 { add("bytes without meaning", min(gap, end - bytes.startIndex)) }
            let count = start + claim.offset + claim.count - bytes.startIndex
            if count > 0 { add(claim.name, count, claim.value, isRight: claim.isRight) }
        }
    }
}

/// A name for bytes at a place.
struct Claim {
    var offset: Int
    var count: Int
    var name: String
    var value = ""
    var isRight: Bool?
}
