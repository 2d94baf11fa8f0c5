// Responses of this project's server only: a page of changes, and the results of a batch.

import SynclineCore

extension RowListReader {
    /// Parses a page of changes.
    static func changes(_ scanner: inout JSONScanner) throws(JSONError) -> ServerChanges {
        let start = scanner.offset
        var rows: [ServerRow]?
        var cursor: String?
        var hasMore = false
        var count: Int?
        try scanner.forEachMember { scanner, name throws(JSONError) in
            switch name {
            case "items": rows = try self.rows(&scanner).map(\.markedIfLeft)
            case "cursor": if case .string(let text) = try scanner.value(depth: 1) { cursor = text }
            case "hasMore": hasMore = try scanner.value(depth: 1) == .bool(true)
            case "count": if case .integer(let number) = try scanner.value(depth: 1) { count = Int(clamping: number) }
            default: _ = try scanner.value(depth: 1)
            }
        }
        try scanner.finish()
        guard let rows, let cursor, !cursor.isEmpty else {
            throw scanner.error(.wrongShape("a page of changes must have rows and a cursor"), at: start)
        }
        return ServerChanges(rows: rows, cursor: cursor, hasMore: hasMore, count: count)
    }

    /// Parses the response to a batch.
    static func results(_ scanner: inout JSONScanner) throws(JSONError) -> [ServerReply] {
        let start = scanner.offset
        var results: [ServerReply]?
        try scanner.forEachMember { scanner, name throws(JSONError) in
            if name == "results" {
                var list: [ServerReply] = []
                var another = try scanner.enter("[", "]")
                while another {
                    list.append(try result(&scanner))
                    another = try scanner.hasNext("]")
                }
                results = list
            } else {
                _ = try scanner.value(depth: 1)
            }
        }
        try scanner.finish()
        guard let results else { throw scanner.error(.wrongShape("a batch reply must have results"), at: start) }
        return results
    }

    private static func result(_ scanner: inout JSONScanner) throws(JSONError) -> ServerReply {
        let start = scanner.offset
        var status = 0
        var (id, version, code, isReadable) = ("", "", "", true)
        var reply = ServerReply(status: 0, content: .unreadable("the result has no row"))
        try scanner.forEachMember { scanner, name throws(JSONError) in
            switch name {
            case "status": if case .integer(let number) = try scanner.value(depth: 3) { status = Int(number) }
            case "row": reply.content = try content(&scanner)
            case "id": if case .string(let text) = try scanner.value(depth: 3) { id = text }
            case "version": if case .string(let text) = try scanner.value(depth: 3) { version = text }
            case "code": if case .string(let text) = try scanner.value(depth: 3) { code = text }
            case "readable": isReadable = try scanner.value(depth: 3) != .bool(false)
            case "error":
                if case .string(let text) = try scanner.value(depth: 3) { reply.message = ErrorText.cut(text) }
            default: _ = try scanner.value(depth: 3)
            }
        }
        guard (100..<600).contains(status) else {
            throw scanner.error(.wrongShape("a result must have a status"), at: start)
        }
        reply.status = status
        if !isReadable, !id.isEmpty, !version.isEmpty {
            reply.content = .row(.hidden(id, version: version, isDeleted: code == "row-deleted"))
        }
        // As elsewhere, a message beside a row is ignored.
        if case .row = reply.content { reply.message = nil }
        return reply
    }
}

extension ServerRow {
    /// Recognizes a row that left the view: it has only an id, a version and a mark, or no version if the right is lost.
    /// A row in the view also has its times, whatever its columns are called.
    fileprivate var markedIfLeft: ServerRow {
        guard moment == nil, let mark = columns["left"], columns["deleted"] == nil else { return self }
        var row = self
        row.isByRight = mark == .string("right")
        row.hasLeft = mark == .bool(true) || row.isByRight
        return row
    }
}
