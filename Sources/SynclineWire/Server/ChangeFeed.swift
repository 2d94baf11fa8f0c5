// The changes of a table in commit order: where to continue, and what came since. A cursor is a position in that
// order, bound to its database; clients store it without interpreting it.

package import SynclineCore
import SynclineGround

/// A position in the order of changes.
package struct ChangeCursor: Hashable, Sendable {
    package var epoch: String
    package var change: Int64
    /// The last row of that number that was read, if others may have the same number.
    package var id: String?
    /// While a table is read from its beginning, the latest change when that read began. A client that had nothing
    /// needs no tombstones of earlier deletes.
    package var begin: Int64?

    package init(epoch: String, change: Int64, id: String? = nil, begin: Int64? = nil) {
        self.epoch = epoch
        self.change = change
        self.id = id
        self.begin = begin
    }

    /// The id is last, because it may contain any character.
    package var text: String {
        let end = id.map { ".\(begin.map(String.init) ?? "").\($0)" } ?? begin.map { ".\($0)" } ?? ""
        return "\(epoch).\(change)\(end)"
    }

    package init?(_ text: String) {
        let parts = text.split(separator: ".", maxSplits: 3, omittingEmptySubsequences: false).map(String.init)
        guard parts.count > 1, let change = Int64(parts[1]), change >= 0 else { return nil }
        self.init(epoch: parts[0], change: change)
        if parts.count == 4 {
            guard !parts[3].isEmpty, !parts[3].utf8.contains(0) else { return nil }
            id = parts[3]
        }
        if parts.count == 3 || parts.count == 4 && !parts[2].isEmpty {
            guard let number = Int64(parts[2]), number >= 0 else { return nil }
            begin = number
        }
    }

    /// The client needs the tombstones after this change.
    package var known: Int64 { begin ?? change }
}

/// The state of the order of changes at some time.
package struct ChangeMark: Hashable, Sendable {
    /// The identity of the database: if it changes, everything known is outdated.
    package var epoch: String
    /// The latest change.
    package var change: Int64
    /// Tombstones of changes up to here may have been purged.
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
    /// Whether rows with greater ids may have the same number.
    package var mayShareNumber: Bool
    /// Whether it left the view because the caller lost the right to it: only its id is told.
    package var isByRight = false

    package init(number: Int64, row: TableRow, isInView: Bool, mayShareNumber: Bool = false) {
        self.number = number
        self.row = row
        self.isInView = isInView
        self.mayShareNumber = mayShareNumber
    }
}

/// A request for a table's changes.
package struct ChangeRequest: Hashable, Sendable {
    /// Nil for the beginning.
    package var since: ChangeCursor?
    /// The mark up to which several tables are read.
    package var until: ChangeCursor?
    package var top: Int?
    package var filter: FilterExpression?
    /// Whether the response has the number of changes after the cursor.
    package var counts = false
    /// The members of the rows that are wanted; nil for all.
    package var select: [String]?

    /// Nil if the request is not for changes: without a `since`, `changes` is the id of a row.
    package init?(
        _ request: HTTPRequest, _ serverProtocol: ServerProtocol, _ rules: RequestRules
    ) throws(TableRequestError) {
        guard let since = request.query.first(where: { $0.isNamed("since") }) else { return nil }
        func cursor(_ text: String) throws(TableRequestError) -> ChangeCursor? {
            if text.isEmpty || text == "0" { return nil }
            guard let cursor = ChangeCursor(text) else {
                throw TableRequestError(400, "The cursor can't be read", code: "invalid-cursor")
            }
            return cursor
        }
        self.since = try cursor(since.value)
        for parameter in request.query {
            switch parameter.name.lowercased() {
            case "until": until = try cursor(parameter.value)
            case "$top":
                guard let number = Int(parameter.value), number > 0 else {
                    throw TableRequestError(400, "$top must be a number from 1", code: "invalid-number")
                }
                top = number
            case "$count":
                guard let flag = Bool(parameter.value.lowercased()) else {
                    throw TableRequestError(400, "$count must be true or false", code: "invalid-count")
                }
                counts = flag
            case "$select":
                let names = parameter.value.split(separator: ",", omittingEmptySubsequences: false).map(\.trimmed)
                guard !names.contains("") else {
                    throw TableRequestError(400, "$select must be a list of columns", code: "invalid-select")
                }
                select = names == ["*"] ? nil : names
            case "$filter":
                filter = try rules.filter(parameter.value, serverProtocol)
            default: break
            }
        }
    }
}

extension TableAnswer {
    /// Returns a page of the changes found after a cursor, in order, as far as the size limit allows; `mark` is of
    /// the same time. A row that is not in view has left it: only its id and version are sent.
    package func changes(
        _ asked: ChangeRequest, _ found: [TableChange], hasMore: Bool, count: Int?, _ mark: ChangeMark,
        limit: Int = .max
    ) throws(TableRequestError) -> HTTPResponse {
        for cursor in [asked.since, asked.until].compactMap({ $0 }) {
            if cursor.epoch != mark.epoch || max(cursor.change, cursor.known) > mark.change {
                throw TableRequestError(
                    410, "The cursor belongs to another database; read everything again", code: "other-epoch")
            }
        }
        if let since = asked.since, since.known < mark.purged {
            throw TableRequestError(
                410, "Tombstones after the cursor were removed; read everything again", code: "purged")
        }
        // A client that begins with nothing has no rows that could have left the view.
        let begin = asked.since == nil ? mark.change : asked.since?.begin ?? 0
        var cursor = ChangeCursor(epoch: mark.epoch, change: asked.until?.change ?? mark.change)
        let end = ChangeCursor(epoch: mark.epoch, change: mark.change)
        return TableAnswer.json(200) { writer in
            writer.raw("{\"items\":[")
            let start = writer.count
            let names = asked.select?.exact
            var told = 0
            for change in found {
                let before = writer.count
                if change.isInView || change.number > begin { write(change, names, isFirst: before == start, &writer) }
                if before > start, writer.count > limit {
                    writer.truncate(to: before)
                    break
                }
                told += 1
            }
            let hasMore = hasMore || told < found.count
            if hasMore, told > 0 {
                let last = found[told - 1]
                cursor.change = last.number
                cursor.id = last.mayShareNumber ? last.row.id : nil
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

    private func write(
        _ change: TableChange, _ names: Set<ExactString>?, isFirst: Bool, _ writer: inout JSONWriter
    ) {
        if !isFirst { writer.raw(",") }
        if change.isInView {
            writer.write(change.row, serverProtocol, selecting: names)
        } else {
            writer.write(members: change.isByRight ? TableAnswer.departed(change.row) : TableAnswer.left(change.row))
        }
    }

    private static func left(_ row: TableRow) -> [Value.Member] {
        [.init("id", .string(row.id)), .init("version", .string(row.version)), .init("left", .bool(true))]
    }

    /// A row to which the caller has lost the right.
    private static func departed(_ row: TableRow) -> [Value.Member] {
        [.init("id", .string(row.id)), .init("left", .string("right"))]
    }
}
