// A search for a string in the rows of a table, in any case: in ids and in strings, also those in arrays and objects.
// It reads a bounded number of rows, and continues where it stopped.

import SynclineCore

struct RowSearch {
    struct Match {
        var id: String
        var column: String
        /// The string, with the place in it.
        var text: String
        var range: Range<String.Index>
    }

    struct Found {
        var matches: [Match] = []
        /// How many rows were read.
        var read = 0
        /// The key at which it continues; nil at the end of the table.
        var next: [UInt8]?
    }

    private let wanted: [UInt32]
    private let rowLimit: Int
    private let matchLimit: Int

    init(_ text: String, rows: Int = 100_000, matches: Int = 50) {
        wanted = text.unicodeScalars.map(RowSearch.folded)
        (rowLimit, matchLimit) = (rows, matches)
    }

    func run(_ reader: StateReader, _ table: String, from start: [UInt8]?) throws(SyncError) -> Found {
        let cursor = try RowCursor(reader, table: table)
        var found = Found()
        while let row = cursor.row, let key = cursor.key {
            if let start, key.lexicographicallyPrecedes(start) {
                try cursor.advance()
                continue
            }
            if found.read == rowLimit || found.matches.count == matchLimit {
                found.next = [UInt8](key)
                break
            }
            found.read += 1
            if let match = try match(row) { found.matches.append(match) }
            try cursor.advance()
        }
        return found
    }

    private func match(_ row: EncodedRowView) throws(SyncError) -> Match? { match(row.id, try row.row.members) }

    /// The first place in a row.
    func match(_ id: String, _ members: [Value.Member]) -> Match? {
        if let range = range(in: id) { return Match(id: id, column: "id", text: id, range: range) }
        for member in members where !Item.systemColumns.contains(member.name) {
            guard let (text, range) = place(in: member.value) else { continue }
            return Match(id: id, column: member.name, text: text, range: range)
        }
        return nil
    }

    /// The first string within a value that has the text.
    private func place(in value: Value) -> (String, Range<String.Index>)? {
        switch value {
        case .string(let text): range(in: text).map { (text, $0) }
        case .array(let elements): elements.lazy.compactMap { place(in: $0) }.first
        case .object(let members): members.lazy.compactMap { place(in: $0.value) }.first
        default: nil
        }
    }

    func range(in text: String) -> Range<String.Index>? {
        let scalars = text.unicodeScalars
        var start = scalars.startIndex
        while start != scalars.endIndex {
            var (place, rest) = (start, wanted[...])
            while place != scalars.endIndex, rest.first == RowSearch.folded(scalars[place]) {
                place = scalars.index(after: place)
                rest = rest.dropFirst()
            }
            if rest.isEmpty { return start..<place }
            start = scalars.index(after: start)
        }
        return nil
    }

    /// A character in lower case.
    private static func folded(_ scalar: Unicode.Scalar) -> UInt32 {
        guard scalar.isASCII else {
            return scalar.properties.lowercaseMapping.unicodeScalars.first?.value ?? scalar.value
        }
        return (65...90).contains(scalar.value) ? scalar.value + 32 : scalar.value
    }
}

extension RowSearch.Match {
    /// How much of the string is shown before and after the match.
    private static let margin = 60

    /// The string around the match, in three parts, of which the second is what was found.
    var parts: [String] {
        let scalars = text.unicodeScalars
        let before = scalars[..<range.lowerBound].suffix(Self.margin)
        let after = scalars[range.upperBound...].prefix(Self.margin)
        return [
            (before.startIndex == scalars.startIndex ? "" : "…") + String(before), String(scalars[range]),
            String(after) + (after.endIndex == scalars.endIndex ? "" : "…"),
        ]
    }
}
