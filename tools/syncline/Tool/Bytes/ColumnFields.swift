// The fields of a block in columns, as docs/STATE.md describes them. The parts of such a block are at places that its
// head names, so they are claims that `FieldWalk` brings into order.

import SynclineCore
import SynclineGround

struct ColumnFields {
    private(set) var claims: [Claim] = []
    private let bytes: [UInt8]
    private let symbols: [[UInt8]]
    private let rows: Int
    /// Where the sixteen zeros begin.
    private let end: Int

    private struct Column {
        var name: String
        var encoding: UInt8
        var width: Int
        var count: Int
        var start: Int
        var nulls: Int
    }

    private static let encodings = [
        "", "constant", "flags", "integers", "instants", "strings", "symbols", "dictionary", "fixed", "any",
    ]

    init(_ bytes: [UInt8], _ symbols: [[UInt8]]) {
        (self.bytes, self.symbols, end) = (bytes, symbols, max(0, bytes.count - 16))
        rows = ColumnFields.number(bytes, 2, 2)
        guard bytes.count >= 32 else {
            claim(0, bytes.count, "block", isRight: false)
            return
        }
        addHead()
        let (columns, numbers) = (number(4, 2), number(6, 1))
        let list = (0..<(columns + numbers)).map { addColumn($0, columns) }
        var place = 16 + 8 * list.count
        place = claim(place, number(8, 2), "prefix of the keys", key(place, number(8, 2)))
        place = claim(place, number(10, 2), "head of the values")
        addIDs(at: place)
        for column in list { addSection(column) }
        addOthers()
        claim(end, 16, "zero", isRight: bytes[end...].allSatisfy { $0 == 0 })
    }

    // MARK: The head

    private mutating func addHead() {
        claim(0, 1, "form", "columns", isRight: bytes[0] == 0)
        claim(1, 1, "length of an id", "\(bytes[1])")
        claim(2, 2, "number of rows", "\(rows)", isRight: rows > 0)
        for (place, count, name) in [(4, 2, "columns"), (6, 1, "numbers after them")] {
            claim(place, count, "number of \(name)", "\(number(place, count))")
        }
        claim(7, 1, "zero", isRight: bytes[7] == 0)
        for (place, name) in [
            (8, "length of the prefix"), (10, "length of the head"), (12, "number of others"),
            (14, "place of the others"),
        ] {
            claim(place, 2, name, "\(number(place, 2))")
        }
    }

    private mutating func addColumn(_ place: Int, _ columns: Int) -> Column {
        let at = 16 + 8 * place
        let name = place < columns ? "column \(place + 1)" : "number \(place - columns + 1)"
        let column = Column(
            name: name, encoding: UInt8(number(at, 1)), width: number(at + 1, 1), count: number(at + 2, 2),
            start: number(at + 4, 2), nulls: number(at + 6, 2))
        let encoding = Int(column.encoding)
        let isKnown = (1..<ColumnFields.encodings.count).contains(encoding) && (place < columns || encoding == 3)
        let word = isKnown ? "\(encoding) \(ColumnFields.encodings[encoding])" : "\(encoding)"
        claim(at, 1, "\(name): encoding", word, isRight: isKnown)
        claim(at + 1, 1, "\(name): width", "\(column.width)")
        claim(at + 2, 2, "\(name): count", "\(column.count)")
        claim(at + 4, 2, "\(name): place of the section", "\(column.start)", isRight: column.start >= 16)
        claim(
            at + 6, 2, "\(name): place of the nulls", "\(column.nulls)",
            isRight: column.nulls == 0 || column.nulls >= 16)
        return column
    }

    private mutating func addIDs(at place: Int) {
        let length = number(1, 1)
        let form = form
        guard length > 0 else { return addStrings(place, 2, "ids") { ColumnFields.id($0, form) } }
        for row in 0..<rows {
            let id = slice(place + row * length, length)
            claim(place + row * length, length, "id of row \(row + 1)", ColumnFields.id(id, form))
        }
    }

    /// The form of the ids, if the prefix of the keys has it.
    private var form: UInt8? {
        let prefix = slice(16 + 8 * (number(4, 2) + number(6, 1)), number(8, 2)).dropFirst()
        return prefix.firstIndex(of: 0).flatMap { prefix[$0...].dropFirst().first }
    }

    /// What a row's key has after the prefix.
    private static func id(_ bytes: ArraySlice<UInt8>, _ form: UInt8?) -> String {
        switch form {
        case 3?: text(bytes)
        case nil: FieldWalk.id(bytes)
        default: Hexadecimal.text(of: bytes)
        }
    }

    // MARK: Sections

    private mutating func addSection(_ column: Column) {
        let (name, start, count) = (column.name, column.start, column.count)
        switch column.encoding {
        case 1: claim(start, count, "\(name): value of all rows", ColumnFields.value(slice(start, count)))
        case 2: addBits(start, 1, "\(name): a bit for each row")
        case 3, 4:
            let least = Int64(truncatingIfNeeded: ColumnFields.number64(bytes, start))
            claim(start, 8, "\(name): the least", "\(least)")
            addBits(start + 8, column.width, "\(name): what each row has above it")
        case 5: addStrings(start, column.width, name, ColumnFields.text)
        case 6:
            let symbols = symbols
            addStrings(start, column.width, name) { ColumnFields.decoded($0, symbols) }
        case 7: addDictionary(column)
        case 8:
            claim(start, 1, "\(name): tag of all values", Hexadecimal.text(of: slice(start, 1)))
            for row in 0..<rows {
                let place = start + 1 + row * count
                let value = ColumnFields.value(slice(start, 1) + slice(place, count))
                claim(place, count, "\(name): row \(row + 1)", value)
            }
        case 9: addStrings(start, column.width, name, ColumnFields.value)
        default: break
        }
        if column.nulls > 0 { addBits(column.nulls, 1, "\(name): whether each row is null") }
    }

    private mutating func addDictionary(_ column: Column) {
        let values = column.start + 2 * (column.count + 1)
        var last = 0
        for place in 0...column.count {
            let offset = number(column.start + 2 * place, 2)
            claim(
                column.start + 2 * place, 2, "\(column.name): offset \(place + 1)", "\(offset)",
                isRight: place == 0 ? offset == 0 : offset >= last)
            if place > 0, offset > last {
                let bytes = slice(values + last, offset - last)
                claim(values + last, offset - last, "\(column.name): value \(place - 1)", ColumnFields.value(bytes))
            }
            last = max(last, offset)
        }
        addBits(values + last, column.width, "\(column.name): the value of each row, from 0")
    }

    private mutating func addStrings(
        _ start: Int, _ width: Int, _ name: String, _ text: (ArraySlice<UInt8>) -> String
    ) {
        let width = width == 2 ? 2 : 1
        let groups = start + width * rows
        var place = groups + (rows + 15) / 16 * 2
        let first = place
        let lengths = (0..<rows).map { number(start + width * $0, width) }
        claim(start, width * rows, "\(name): lengths", ColumnFields.list(lengths))
        for (row, length) in lengths.enumerated() {
            if row % 16 == 0 {
                let offset = number(groups + row / 8, 2)
                let isRight = offset == place - first
                claim(groups + row / 8, 2, "\(name): offset of row \(row + 1)", "\(offset)", isRight: isRight)
            }
            claim(place, length, "\(name): row \(row + 1)", text(slice(place, length)))
            place += length
        }
    }

    /// A number of some bits for each row; up to eight bits are in planes.
    private mutating func addBits(_ start: Int, _ width: Int, _ name: String) {
        guard width > 0 else { return }
        let size = width <= 8 ? width * ((rows + 7) / 8) : (rows * width + 7) / 8
        guard width <= 64, start + size <= end else {
            claim(start, size, name)
            return
        }
        let numbers = (0..<rows).map { row in
            (0..<width).reduce(UInt64(0)) { number, bit in
                let place = width <= 8 ? bit * ((rows + 7) / 8) * 8 + row : row * width + bit
                return number | UInt64(bytes[start + place / 8] >> UInt8(place % 8) & 1) << UInt64(bit)
            }
        }
        claim(start, size, name, ColumnFields.list(numbers))
    }

    private mutating func addOthers() {
        let (count, start) = (number(12, 2), number(14, 2))
        guard count > 0 else { return }
        var (last, first) = (0, start + 4 * count + 2)
        for other in 0..<count {
            let rank = number(start + 2 * other, 2)
            claim(start + 2 * other, 2, "rows before other \(other + 1)", "\(rank)", isRight: rank <= rows)
        }
        for other in 0...count {
            let (place, offset) = (start + 2 * (count + other), number(start + 2 * (count + other), 2))
            let isEnd = other == count
            claim(
                place, 2, isEnd ? "end of the others" : "offset of other \(other + 1)", "\(offset)",
                isRight: other == 0 ? offset == 0 : offset >= last)
            if other > 0, offset > last { addOther(other, first, offset - last) }
            if offset > last { first += offset - last }
            last = max(last, offset)
        }
    }

    private mutating func addOther(_ number: Int, _ start: Int, _ count: Int) {
        var walk = FieldWalk(.payload, slice(start, count))
        let length = Int(clamping: walk.addVarint("length of the id of other \(number)"))
        let size = walk.addVarint("length of the value of other \(number)") { $0 == 0 ? "removed" : "\($0 - 1)" }
        walk.add("id of other \(number)", length, Hexadecimal.text(of: walk.bytes.prefix(length)))
        if size > 0 { walk.add("value of other \(number)", Int(clamping: size - 1)) }
        walk.addRest("bytes after other \(number)", isRight: false)
        claims += walk.fields.map { field in
            Claim(
                offset: field.offset, count: field.bytes.count, name: field.name, value: field.value,
                isRight: field.isRight)
        }
    }

    // MARK: Bytes

    /// Claims bytes before the sixteen zeros; what reaches beyond is wrong.
    @discardableResult
    private mutating func claim(
        _ place: Int, _ count: Int, _ name: String, _ value: String = "", isRight: Bool? = nil
    ) -> Int {
        let limit = name == "zero" || bytes.count < 32 ? bytes.count : end
        let taken = max(0, min(count, limit - place))
        let isCut = taken < count
        // If nothing of it is left, no byte shows that it is wrong.
        if taken > 0 {
            claims.append(
                Claim(
                    offset: place, count: taken, name: isCut ? name + ", cut" : name, value: value,
                    isRight: isCut ? false : isRight))
        }
        return place + count
    }

    private func number(_ place: Int, _ count: Int) -> Int { ColumnFields.number(bytes, place, count) }

    /// A number of one or two bytes; 0 where there are none.
    private static func number(_ bytes: [UInt8], _ place: Int, _ count: Int) -> Int {
        guard place + count <= bytes.count else { return 0 }
        return Int(bytes[place]) | (count == 2 ? Int(bytes[place + 1]) << 8 : 0)
    }

    private static func number64(_ bytes: [UInt8], _ place: Int) -> UInt64 {
        bytes.dropFirst(place).prefix(8).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }

    private func slice(_ place: Int, _ count: Int) -> ArraySlice<UInt8> {
        let place = min(place, end)
        return bytes[place..<min(place + count, max(end, place))]
    }

    private static func list(_ numbers: [some BinaryInteger]) -> String {
        numbers.map { "\($0)" }.joined(separator: " ")
    }

    private func key(_ place: Int, _ count: Int) -> String { FieldWalk.key(slice(place, count)) }

    /// A string with the codes of its symbols replaced.
    private static func decoded(_ codes: ArraySlice<UInt8>, _ symbols: [[UInt8]]) -> String {
        var (string, codes) = ([UInt8](), codes)
        while let code = codes.popFirst() {
            if code < 255 {
                string += Int(code) < symbols.count ? symbols[Int(code)] : []
            } else if let byte = codes.popFirst() {
                string.append(byte)
            }
        }
        return text(string[...])
    }

    /// A string as JSON; bytes that are no string in hexadecimal digits.
    static func text(_ bytes: ArraySlice<UInt8>) -> String {
        String(validating: bytes, as: UTF8.self).map { JSONValue.string($0).text } ?? Hexadecimal.text(of: bytes)
    }

    /// An encoded value as JSON; bytes that are no value in hexadecimal digits.
    private static func value(_ bytes: ArraySlice<UInt8>) -> String {
        let value = Array(bytes).withBytes { memory -> Value? in
            var reader = ByteReader(memory)
            guard let value = try? reader.value(), reader.isAtEnd else { return nil }
            return value
        }
        return value.map { JSONValue($0).text } ?? Hexadecimal.text(of: bytes)
    }
}
