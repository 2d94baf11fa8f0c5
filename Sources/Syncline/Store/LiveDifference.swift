// The results of live queries with what differs from the one before. Of a typed query, only models of rows that are new
// or changed are decoded.

public import SynclineCore
import SynclineGround

/// The result of a live query, and how it differs from the one before.
public struct LiveDifference<Whole: Sendable, Row: Sendable>: Sendable {
    /// The whole result.
    public var result: Whole
    /// What differs from the result before. In the first one, all rows are inserted.
    public var difference: ListDifference<Row>
}

extension LiveDifference: Equatable where Whole: Equatable, Row: Equatable {}
extension LiveDifference: Hashable where Whole: Hashable, Row: Hashable {}

extension LiveResults<QueryResult, SyncError> {
    /// The same results, each with what differs from the one before, for lists that are updated row by row.
    public var differences: LiveResults<LiveDifference<QueryResult, StoredRow>, SyncError> {
        mapRows { $0 }.differences(\.rows)
    }
}

extension LiveResults where Failure == SyncError {
    /// - Parameter place: Where a result has what is made of its rows.
    func differences<Row>(
        _ place: any WritableKeyPath<Element, [Row]> & Sendable
    ) -> LiveResults<LiveDifference<Element, Row>, SyncError> {
        guard let list else { preconditionFailure("a result with rows is made of a query's result") }
        return LiveResults<LiveDifference<Element, Row>, SyncError> {
            let shown = Mutex(ShownRows<Row>())
            return list.begin().map { found throws(SyncError) in
                try shown.withLock { shown in
                    Result { () throws(SyncError) in
                        var part = found
                        let difference = try shown.replace(by: found.rows) { row throws(SyncError) in
                            part.rows = [row]
                            return try list.make(part)[keyPath: place].first
                        }
                        part.rows = []
                        var whole = try list.make(part)
                        whole[keyPath: place] = shown.made
                        return LiveDifference(result: whole, difference: difference)
                    }
                }.get()
            }
        }
    }
}

/// The rows of a result that are shown, and what was made of each.
private struct ShownRows<Made: Sendable>: Sendable {
    var rows: [StoredRow] = []
    var made: [Made] = []

    /// Shows other rows, and returns what differs. Calls `make` only with rows that are new, have moved or changed; if
    /// it returns nil, the row is left out.
    mutating func replace(
        by new: [StoredRow], make: (StoredRow) throws(SyncError) -> Made?
    ) throws(SyncError) -> ListDifference<Made> {
        var difference = ListDifference(from: rows, to: new)
        var all: [Made?] = made
        try difference.map { element throws(SyncError) in try make(element.row) }.apply(to: &all)
        var shown = ShownRows()
        for (row, made) in zip(new, all) {
            guard let made else { continue }
            shown.rows.append(row)
            shown.made.append(made)
        }
        if shown.rows.count < new.count { difference = ListDifference(from: rows, to: shown.rows) }
        self = shown
        return difference.map { shown.made[$0.index] }
    }
}
