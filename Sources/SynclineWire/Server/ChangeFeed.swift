// The changes of a table in the order in which they were committed: where to go on from, and what came since. A cursor is a
// place in that order, bound to the database it was made by; clients keep its text and do not look into it.

package import SynclineCore

/// A place in the order of changes.
package struct ChangeCursor: Hashable, Sendable {
    package var epoch: String
    package var change: Int64
    /// While a table is read from its beginning: the latest change when that began. Who had nothing misses no tombstone
    /// of what was deleted before.
    package var begin: Int64?

    package init(epoch: String, change: Int64, begin: Int64? = nil) {
        self.epoch = epoch
        self.change = change
        self.begin = begin
    }

    package var text: String { "\(epoch).\(change)" + (begin.map { ".\($0)" } ?? "") }

    package init?(_ text: String) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        let numbers = parts.dropFirst().map { Int64($0) ?? -1 }
        guard (1...2).contains(numbers.count), numbers.allSatisfy({ $0 >= 0 }) else { return nil }
        self.init(epoch: String(parts[0]), change: numbers[0], begin: numbers.count > 1 ? numbers[1] : nil)
    }

    /// The tombstones that a client needs are those behind this change.
    package var known: Int64 { begin ?? change }
}

/// What is asked of a table's changes.
package struct ChangeRequest: Hashable, Sendable {
    /// Nil for the beginning.
    package var since: ChangeCursor?
    /// The mark that several tables are read up to.
    package var until: ChangeCursor?
    package var top: Int?
    package var filter: Expression?

    /// Nil if the request does not ask for changes: without a `since`, `changes` is the id of a row.
    package init?(
        _ request: HTTPRequest, _ serverProtocol: ServerProtocol, _ rules: RequestRules
    ) throws(TableRequestError) {
        guard let since = request.query.first(where: { $0.isNamed("since") }) else { return nil }
        func fail(_ message: String, _ code: String) -> TableRequestError {
            TableRequestError(400, message, serverProtocol, code: code)
        }
        func cursor(_ text: String) throws(TableRequestError) -> ChangeCursor? {
            if text.isEmpty || text == "0" { return nil }
            guard let cursor = ChangeCursor(text) else { throw fail("The cursor can't be read", "invalid-cursor") }
            return cursor
        }
        self.since = try cursor(since.value)
        for parameter in request.query {
            switch parameter.name.lowercased() {
            case "until": until = try cursor(parameter.value)
            case "$top":
                guard let number = Int(parameter.value), number > 0 else {
                    throw fail("$top must be a number from 1", "invalid-number")
                }
                top = number
            case "$filter":
                do throws(FilterError) {
                    filter = try Expression(
                        parsing: parameter.value, depthLimit: rules.filterDepth, typing: rules.typing)
                } catch {
                    throw fail("The filter can't be read: \(error)", "invalid-filter")
                }
            default: break
            }
        }
    }
}

extension TableAnswer {
    /// A page of changes. `cursor` is where to go on; `end` is the latest change of the database when the page was read.
    /// A row that is not in view has left it: its id and version only.
    package func changes(
        _ rows: some Sequence<(row: TableRow, isInView: Bool)>, cursor: ChangeCursor, end: ChangeCursor, hasMore: Bool
    ) -> HTTPResponse {
        TableAnswer.json(200) { writer in
            writer.raw("{\"items\":[")
            for (index, (row, isInView)) in rows.enumerated() {
                if index > 0 { writer.raw(",") }
                writer.write(members: isInView ? row.members(serverProtocol) : TableAnswer.left(row))
            }
            writer.raw("],\"cursor\":")
            writer.write(.string(cursor.text))
            writer.raw(",\"end\":")
            writer.write(.string(end.text))
            writer.raw(",\"hasMore\":\(hasMore)}")
        }
    }

    private static func left(_ row: TableRow) -> [Value.Member] {
        [.init("id", .string(row.id)), .init("version", .string(row.version)), .init("left", .bool(true))]
    }
}
