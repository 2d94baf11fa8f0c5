// The ids by which rows refer to others. Rows that are related to each other are found and joined by these bytes, without a
// string for each of them.

import SynclineGround

package struct RowReferences: Sendable {
    private struct Item {
        /// The place of the row that refers.
        let row: Int
        let end: Int
    }

    /// The ids, in the form that keys have.
    private var memory: [UInt8] = []
    private var items: [Item] = []

    package init() {}

    package var isEmpty: Bool { items.isEmpty }

    /// How a column holds ids.
    package enum Form {
        case text
        /// Strings, in either case.
        case uuid
        case other
    }

    /// Adds the ids that rows have in a column. Calls `other` with the place of each row whose column does not tell.
    /// - Parameter isOptional: Whether a row without an id refers to none.
    package mutating func append(
        _ column: String, of rows: [StoredRow], as form: Form, isOptional: Bool,
        _ other: (_ row: Int, _ references: inout RowReferences) -> Void
    ) {
        items.reserveCapacity(rows.count)
        var (shape, place): (RowShape?, Int?) = (nil, nil)
        for row in rows.indices {
            if rows[row].columns.shape !== shape {
                shape = rows[row].columns.shape
                place = shape?.place(of: column)
            }
            let isAppended = rows[row].columns.bytes.withBytes { bytes in
                guard let value = place.flatMap({ RowReferences.value(at: $0, bytes) }), value.first != ValueTag.null
                else { return isOptional }
                return append(value, as: form, of: row)
            }
            if !isAppended { other(row, &self) }
        }
    }

    private static func value(at place: Int, _ bytes: Bytes) -> Bytes? {
        var reader = ByteReader(bytes)
        for _ in 0..<place where !reader.skipShortValue() { guard (try? reader.skipValue()) != nil else { return nil } }
        let start = reader.offset
        guard (try? reader.skipValue()) != nil else { return nil }
        return Bytes(rebasing: bytes[start..<reader.offset])
    }

    private mutating func append(_ value: Bytes, as form: Form, of row: Int) -> Bool {
        switch form {
        case .text: append(encoded: value, of: row)
        case .uuid: append(encodedUUID: value, of: row)
        case .other: false
        }
    }

    /// Adds an id to which a row refers.
    package mutating func append(_ id: String, of row: Int) {
        var (id, writer) = (id, ByteWriter())
        id.withUTF8 { writer.append(idForm: Bytes($0)) }
        writer.withView { append($0, of: row) }
    }

    /// Adds an id that is encoded as a value; returns false if it is not a string.
    mutating func append(encoded value: Bytes, of row: Int) -> Bool {
        switch value.first {
        case ValueTag.lowerUUID?: append(1, value, of: row)
        case ValueTag.upperUUID?: append(2, value, of: row)
        case (ValueTag.shortText...)?: append(3, value, of: row)
        default:
            var reader = ByteReader(value)
            guard case .string(let text)? = try? reader.value() else { return false }
            append(text, of: row)
        }
        return true
    }

    /// Adds an encoded UUID in both cases; returns false if it is not one in either case.
    mutating func append(encodedUUID value: Bytes, of row: Int) -> Bool {
        guard value.first == ValueTag.lowerUUID || value.first == ValueTag.upperUUID else { return false }
        append(1, value, of: row)
        append(2, value, of: row)
        return true
    }

    private mutating func append(_ form: UInt8, _ value: Bytes, of row: Int) {
        memory.append(form)
        append(Bytes(rebasing: value[1...]), of: row)
    }

    private mutating func append(_ rest: Bytes, of row: Int) {
        memory.append(contentsOf: rest)
        items.append(Item(row: row, end: memory.count))
    }

    private func forEach(_ body: (_ row: Int, _ id: Bytes) -> Void) {
        memory.withBytes { memory in
            var start = 0
            for item in items {
                body(item.row, Bytes(rebasing: memory[start..<item.end]))
                start = item.end
            }
        }
    }

    /// The keys of rows of a table with these ids, sorted, each once.
    func keys(of table: String) -> RowKeys {
        var keys = RowKeys(table: table)
        forEach { keys.append(id: $1) }
        keys.sort()
        return keys
    }

    /// The ids as values.
    var values: [Value] {
        var values: [Value] = []
        values.reserveCapacity(items.count)
        forEach { _, id in
            var reader = ByteReader(id)
            if let id = try? CompactID(&reader) { values.append(.string(id.text)) }
        }
        return values
    }

    // MARK: Joins

    /// Returns the place of the first of some rows to which each of `count` rows refers; nil for those that refer to none.
    package func places(of count: Int, in others: [StoredRow]) -> [Int?] {
        var places = [Int?](repeating: nil, count: count)
        let known = RowReferences.numbers(of: others)
        forEach { row, id in
            guard let found = known.number(of: id) else { return }
            places[row] = min(places[row] ?? found, found)
        }
        return places
    }

    /// Returns the places of the rows that refer to each of some others, in order.
    package func places(referringTo others: [StoredRow]) -> RowPlaces {
        let known = RowReferences.numbers(of: others)
        var found: [(row: Int, other: Int)] = []
        found.reserveCapacity(items.count)
        forEach { row, id in
            guard let other = known.number(of: id) else { return }
            // A row may refer to another one by several spellings of its id.
            if found.reversed().prefix(while: { $0.row == row }).contains(where: { $0.other == other }) { return }
            found.append((row, other))
        }
        return RowPlaces(found, of: others.count)
    }

    /// The numbers of rows, by their ids in the form that keys have. No two rows have one id.
    private static func numbers(of rows: [StoredRow]) -> DistinctBytes {
        var (numbers, id) = (DistinctBytes(capacity: rows.count), ByteWriter())
        for row in rows.indices {
            id.removeAll()
            rows[row].compactID.append(to: &id)
            id.withView { _ = numbers.add($0) }
        }
        return numbers
    }
}

/// Places of rows, in groups.
package struct RowPlaces {
    private var starts: [Int]
    private var places: [Int]

    fileprivate init(_ found: [(row: Int, other: Int)], of count: Int) {
        (starts, places) = ([Int](repeating: 0, count: count + 1), [Int](repeating: 0, count: found.count))
        for (_, other) in found { starts[other + 1] += 1 }
        for group in starts.indices.dropFirst() { starts[group] += starts[group - 1] }
        var next = starts
        for (row, other) in found {
            places[next[other]] = row
            next[other] += 1
        }
    }

    package subscript(group: Int) -> ArraySlice<Int> { places[starts[group]..<starts[group + 1]] }
}
