// A page of a server's rows in any form: a plain array, `{"results","count"}` or `{"items","count"}`, whichever
// protocol the request used.

import SynclineCore

enum RowListReader {
    /// Parses the whole text.
    static func list(_ scanner: inout JSONScanner) throws(JSONError) -> ServerList {
        var list = ServerList(rows: [], count: nil)
        switch try scanner.peek() {
        case .array: list.rows = try rows(&scanner)
        case .object:
            let start = scanner.offset
            var rows: [ServerRow]?
            try scanner.forEachMember { scanner, name throws(JSONError) in
                switch name {
                case "results", "items": rows = try self.rows(&scanner)
                case "count": list.count = try count(&scanner)
                case "nextLink":
                    if case .string(let link) = try scanner.value(depth: 1) { list.next = NextLink.parameters(link) }
                default: _ = try scanner.value(depth: 1)
                }
            }
            guard let rows else { throw scanner.error(.wrongShape("the object has no list of rows"), at: start) }
            list.rows = rows
        default: throw scanner.error(.wrongShape("a list of rows must be an array or an object"))
        }
        try scanner.finish()
        return list
    }

    static func rows(_ scanner: inout JSONScanner) throws(JSONError) -> [ServerRow] {
        let token = try scanner.peek()
        guard token == .array else { throw scanner.error(.wrongShape("the rows must be an array")) }
        var reader = RowReader()
        var rows: [ServerRow] = []
        var more = try scanner.enter("[", "]")
        while more {
            rows.append(try listedRow(&scanner, &reader, place: rows.count + 1))
            more = try scanner.hasNext("]")
        }
        return rows
    }

    /// Reads a row of a list. One that is JSON, but not a row that a store can hold, has a fault; of a tombstone, only
    /// its id matters.
    private static func listedRow(
        _ scanner: inout JSONScanner, _ reader: inout RowReader, place: Int
    ) throws(JSONError) -> ServerRow {
        scanner.skipSpaces()
        let start = scanner.offset
        do throws(JSONError) { return try serverRow(&scanner, &reader) } catch {
            scanner.offset = start
            guard let outline = try? scanner.outline() else { throw error }
            var row = ServerRow(
                id: outline.id ?? "", columns: .empty, isDeleted: outline.isDeleted, moment: outline.moment)
            if outline.id == nil || !outline.isDeleted {
                let text = UnsafeRawBufferPointer(rebasing: scanner.bytes[start..<scanner.offset])
                row.fault = RowFault(error.reason.sentence, place: place, digest: hash64(text))
            }
            return row
        }
    }

    /// Reads a reply about one row: an object with a string id, of which the rest may be unreadable.
    static func content(_ scanner: inout JSONScanner) throws(JSONError) -> ServerReply.Content {
        scanner.skipSpaces()
        let start = scanner.offset
        var reader = RowReader()
        do throws(JSONError) { return .row(try serverRow(&scanner, &reader)) } catch {
            scanner.offset = start
            guard let id = try? scanner.outline().id else { throw error }
            return .unreadableRow(id: id, error.reason.sentence)
        }
    }

    private static func serverRow(
        _ scanner: inout JSONScanner, _ reader: inout RowReader
    ) throws(JSONError) -> ServerRow {
        let token = try scanner.peek()
        let start = scanner.offset
        guard token == .object else { throw scanner.error(.wrongShape("the row is not an object"), at: start) }
        let row = try reader.row(&scanner)
        guard case .string(let id)? = row.id, !id.isEmpty else {
            throw scanner.error(.wrongShape("the row has no string as id"), at: start)
        }
        return ServerRow(id: id, columns: row.columns, isDeleted: row.isDeleted, moment: row.moment)
    }

    private static func count(_ scanner: inout JSONScanner) throws(JSONError) -> Int? {
        let start = scanner.offset
        switch try scanner.value(depth: 1) {
        case .null: return nil
        case .integer(let count) where count >= 0: return Int(count)
        default: throw scanner.error(.wrongShape("the count must be a number of rows"), at: start)
        }
    }
}

/// The link to the next page. Servers send a whole URL, a path, or only parameters, and some lose the port or the
/// path on the way: only the parameters are used.
enum NextLink {
    static func parameters(_ link: String) -> String? {
        guard !link.isEmpty else { return nil }
        guard let mark = link.firstIndex(of: "?") else { return link.contains("/") ? nil : link }
        return String(link[link.index(after: mark)...])
    }

    /// Returns the parameters of a `Link` header's link: `URL; rel=next`, with or without angle brackets.
    static func parameters(header: String) -> String? {
        for part in header.split(separator: ",") {
            let pieces = part.split(separator: ";").map { $0.trimmed }
            guard pieces.dropFirst().contains(where: { $0 == "rel=next" || $0 == "rel=\"next\"" }) else { continue }
            var link = pieces[0]
            if link.hasPrefix("<"), link.hasSuffix(">") { link = String(link.dropFirst().dropLast()) }
            return parameters(link)
        }
        return nil
    }
}
