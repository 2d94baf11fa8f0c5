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

/// A moment in the order of changes.
package struct ChangeMark: Hashable, Sendable {
    /// Another one means another database: nothing of what was known holds.
    package var epoch: String
    /// The latest change.
    package var change: Int64
    /// Tombstones of changes up to here may be gone.
    package var purged: Int64

    package init(epoch: String, change: Int64, purged: Int64) {
        self.epoch = epoch
        self.change = change
        self.purged = purged
    }
}

/// The latest change of a row.
package struct TableChange: Hashable, Sendable {
    package var number: Int64
    package var row: TableRow
    package var isInView: Bool

    package init(number: Int64, row: TableRow, isInView: Bool) {
        self.number = number
        self.row = row
        self.isInView = isInView
    }
}

/// What is asked of a table's changes.
package struct ChangeRequest: Hashable, Sendable {
    /// Nil for the beginning.
    package var since: ChangeCursor?
    /// The mark that several tables are read up to.
    package var until: ChangeCursor?
    package var top: Int?
    package var filter: Expression?
    /// Whether the answer tells how many changes there are behind the cursor.
    package var counts = false

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
            case "$count":
                guard let flag = Bool(parameter.value.lowercased()) else {
                    throw fail("$count must be true or false", "invalid-count")
                }
                counts = flag
            case "$filter":
                do throws(FilterError) {
                    filter = try rules.filter(parameter.value, serverProtocol)
                } catch {
                    throw fail("The filter can't be read: \(error)", "invalid-filter")
                }
            default: break
            }
        }
    }
}

extension TableAnswer {
    /// A page of the changes that were found behind a cursor, in order, as far as the limit on its bytes allows; `mark` is
    /// of the same moment. A row that is not in view has left it: its id and version only.
    package func changes(
        _ asked: ChangeRequest, _ found: [TableChange], hasMore: Bool, count: Int?, _ mark: ChangeMark,
        limit: Int = .max
    ) throws(TableRequestError) -> HTTPResponse {
        func gone(_ message: String, _ code: String) -> TableRequestError {
            TableRequestError(410, message, serverProtocol, code: code)
        }
        for cursor in [asked.since, asked.until].compactMap({ $0 }) {
            if cursor.epoch != mark.epoch || max(cursor.change, cursor.known) > mark.change {
                throw gone("The cursor is of another database; read anew", "other-epoch")
            }
        }
        if let since = asked.since, since.known < mark.purged {
            throw gone("Tombstones behind the cursor are gone; read anew", "purged")
        }
        // Who begins with nothing has nothing that could have left before.
        let begin = asked.since == nil ? mark.change : asked.since?.begin ?? 0
        var cursor = ChangeCursor(epoch: mark.epoch, change: asked.until?.change ?? mark.change)
        let end = ChangeCursor(epoch: mark.epoch, change: mark.change)
        return TableAnswer.json(200) { writer in
            writer.raw("{\"items\":[")
            let start = writer.count
            var told = 0
            for change in found {
                let before = writer.count
                if change.isInView || change.number > begin { write(change, isFirst: before == start, &writer) }
                if before > start, writer.count > limit {
                    writer.truncate(to: before)
                    break
                }
                told += 1
            }
            let hasMore = hasMore || told < found.count
            if hasMore, told > 0 {
                cursor.change = found[told - 1].number
                cursor.begin = asked.since == nil ? mark.change : asked.since?.begin
            }
            writer.raw("],\"cursor\":")
            writer.write(.string(cursor.text))
            writer.raw(",\"end\":")
            writer.write(.string(end.text))
            if let count { writer.raw(",\"count\":\(count)") }
            writer.raw(",\"hasMore\":\(hasMore)}")
        }
    }

    private func write(_ change: TableChange, isFirst: Bool, _ writer: inout JSONWriter) {
        if !isFirst { writer.raw(",") }
        if change.isInView {
            writer.write(change.row, serverProtocol)
        } else {
            writer.write(members: TableAnswer.left(change.row))
        }
    }

    private static func left(_ row: TableRow) -> [Value.Member] {
        [.init("id", .string(row.id)), .init("version", .string(row.version)), .init("left", .bool(true))]
    }
}
