// The tables for the page: a part of the rows of one after another, and a search for a string in all of them.

import SynclineCore
import SynclineGround
import SynclineSQL

extension StudioData {
    func tables(at event: UInt64?) throws -> JSONValue {
        try states.read(at: event) { state in
            [
                "at": .number(state.through), "whole": .boolean(state.isWhole),
                "tables": .array(
                    try state.reader.tables().map { table in
                        ["table": .string(table), "rows": .number(try state.reader.count(RowQuery(table: table)))]
                    }),
            ]
        }
    }

    /// How many rows match a filter.
    func count(_ query: RowQuery, at event: UInt64?) throws -> JSONValue {
        try states.read(at: event) { state in ["count": .number(try state.reader.count(query))] }
    }

    /// The declared types of a table's columns, and how many values do not fit theirs.
    func columns(of table: String, at event: UInt64?) throws -> JSONValue {
        try states.read(at: event) { state in
            let unfit = try state.reader.unfitValues(of: table).sorted { $0.key < $1.key }
            return [
                "types": JSONValue(types: try state.reader.types(of: table).columns),
                "unfit": .object(unfit.map { .init(key: $0.key.text, value: .number($0.value)) }),
            ]
        }
    }

    /// The rows that follow a place in the order, with the columns that they have. `next` is the place at which the next
    /// part begins, or null at the end.
    func table(_ query: RowQuery, at event: UInt64?) throws -> JSONValue {
        try states.read(at: event) { state in
            let top = query.top ?? 0
            var oneMore = query
            oneMore.top = top + 1
            let found = try state.reader.run(oneMore).rows
            let rows = found.prefix(top)
            let last = found.count > top ? rows.last : nil
            return [
                "at": .number(state.through), "whole": .boolean(state.isWhole),
                "columns": .array(RowText.columns(Array(rows)).map(JSONValue.string)),
                "systemColumns": .array(Item.systemColumns.sorted().map(JSONValue.string)),
                "next": .optional(last.map { query.place(of: $0).token }),
                "rows": .array(
                    try rows.map { row in
                        let entry = try state.reader.entry(query.table, row.id)
                        return StudioData.json(row).adding(["pending": .boolean(entry?.pending != nil)])
                    }),
            ]
        }
    }

    /// The characters of a value that are sent with its row.
    private static let lengthLimit = 1000

    /// A row, and the beginnings of the values that are too long for it.
    private static func json(_ row: StoredRow) -> JSONValue {
        var (short, cut) = (row, [JSONValue.Member]())
        for member in row.columns.members {
            switch member.value {
            case .string(let text) where text.utf8.count > lengthLimit: break
            case .array, .object, .bytes: break
            default: continue
            }
            let text = JSONValue(member.value).text
            guard text.utf16.count > lengthLimit else { continue }
            let part = String(text.unicodeScalars.prefix(lengthLimit))
            cut.append(
                JSONValue.Member(key: member.name, value: ["text": .string(part), "length": .number(text.utf16.count)]))
        }
        short.columns = Row(row.columns.members.filter { member in !cut.contains { $0.key == member.name } })
        return ["row": JSONValue(short), "cut": .object(cut)]
    }

    /// All of a value of a row.
    func value(of column: String, _ row: StudioRow, at event: UInt64?) throws -> JSONValue {
        try states.read(at: event) { state in
            let value = try state.reader.row(row.table, row.id)?.columns[column]
            return ["value": value.map { JSONValue($0) } ?? .null]
        }
    }

    /// The rows of a table that have words, by an index that the app keeps; nil if there is none at the moment.
    func search(words: String, _ table: String, skip: Int, at event: UInt64?) throws -> JSONValue? {
        let state = try states.settled(at: event)
        var query = TextQuery(words)
        (query.skip, query.limit) = (skip, 51)
        (query.matchStart, query.matchEnd) = ("\u{2}", "\u{3}")
        guard let found = try FullTextReader(state.source)?.search(table, query) else { return nil }
        let matches = found.prefix(query.limit - 1).map { match in
            let parts = match.snippet.split(omittingEmptySubsequences: false) { $0 == "\u{2}" || $0 == "\u{3}" }
            return RowSearch.json(id: match.row.id, column: nil, parts.map(String.init))
        }
        return [
            "at": .number(state.event), "whole": .boolean(state.isWhole), "table": .string(table), "by": "index",
            "read": .number(0), "matches": .array(matches),
            "next": found.count < query.limit ? .null : .string("\(skip + query.limit - 1)"),
        ]
    }

    /// The rows of a table that have a string, from a key on.
    func search(_ search: RowSearch, _ table: String, from key: [UInt8]?, at event: UInt64?) throws -> JSONValue {
        let state = try states.settled(at: event)
        let found = try search.run(state.reader, table, from: key)
        return [
            "at": .number(state.event), "whole": .boolean(state.isWhole), "table": .string(table), "by": "rows",
            "read": .number(found.read), "matches": .array(found.matches.map(\.json)),
            "next": .optional(found.next.map { Hexadecimal.text(of: $0) }),
        ]
    }
}

extension RowQuery {
    /// The place of a row in the query's order.
    fileprivate func place(of row: StoredRow) -> Place {
        Place(values: order.map { $0.column == "id" ? .string(row.id) : row.columns[$0.column] ?? .null }, id: row.id)
    }
}
