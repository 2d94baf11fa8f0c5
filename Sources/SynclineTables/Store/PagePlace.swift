// The place where a page ended, for orders whose rows may move while they are read: by time, and by id. The next page
// begins after that place rather than after N rows, so that a row which moves to the end does not make a reader skip
// another one.

package import SynclineCore
package import SynclineWire

package struct PagePlace: Hashable, Sendable {
    /// Milliseconds since 1970; nil if the order is by id alone.
    package var time: Int64?
    package var id: String

    /// Nil if the order has no such places.
    package init?(_ row: TableRow, order: [RowQuery.Key]) {
        guard let isByTime = PagePlace.isByTime(order) else { return nil }
        time = isByTime ? row.updatedAt.milliseconds : nil
        id = row.id
    }

    /// Reads the output of `text`; nil if it is not a place in the order.
    package init?(_ text: String, order: [RowQuery.Key]) {
        guard let isByTime = PagePlace.isByTime(order) else { return nil }
        let sides = text.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
        guard sides.count == 2, !sides[1].isEmpty, !sides[1].utf8.contains(0) else { return nil }
        time = Timestamp(sides[0])?.instant.milliseconds
        id = sides[1]
        guard (time != nil) == isByTime, isByTime || sides[0] == "-" else { return nil }
    }

    package var text: String { (time.map { Timestamp.text(milliseconds: $0) } ?? "-") + " " + id }

    private static func isByTime(_ order: [RowQuery.Key]) -> Bool? {
        let keys = order.filter { $0.column.lowercased() != "id" }
        if order.contains(where: \.isDescending) { return nil }
        if keys.isEmpty { return false }
        // Within a time, every order is by id.
        let isLast = order.count == 1 || order.count == 2 && order[1].column.lowercased() == "id"
        return keys.count == 1 && keys[0].column.lowercased() == "updatedat" && isLast ? true : nil
    }
}
