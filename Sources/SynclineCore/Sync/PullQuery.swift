// The parameters of a pull, checked before anything is sent, and its canonical text, by which a cursor recognizes
// its query.

package struct PullQuery: Hashable, Sendable {
    package var table: String
    package var queryID: String?
    package var filter: FilterExpression?
    package var order: [RowQuery.Key] = []
    package var top: Int?
    package var skip = 0
    package var pageSize = 50
    /// The number of rows requested per page of changes. Each page has a fixed cost for the server, and only newer
    /// servers have a changes feed.
    package var changesPageSize = 1000
    /// How far before its cursor a pull begins, in milliseconds.
    package var overlap: Int64 = 0
    private var spelled: FilterExpression?
    /// The filter as the server is asked.
    package var asked: FilterExpression? { spelled ?? filter }

    package init(table: String) {
        self.table = table
    }

    /// Whether pages go by offset, because the app chose the order.
    package var goesByOffset: Bool { !order.isEmpty || skip > 0 }

    /// Whether a changes feed has everything that is requested.
    package var mayGoByChanges: Bool { !goesByOffset && top == nil }

    /// The canonical form of the filter: the same for equal queries.
    package var canonicalText: String {
        get throws(SyncError) {
            guard let filter else { return "" }
            do throws(UnsupportedPredicate) { return try filter.text(for: .datasync3) } catch { throw SyncError(error) }
        }
    }

    /// Finds out how the server is asked about columns of some types. Throws if the parameters do not fit together, or if the
    /// server's protocol can't express the filter.
    package mutating func prepare(for server: ServerProtocol, _ types: TableTypes) throws(SyncError) {
        if queryID != nil, goesByOffset || top != nil {
            throw SyncError(
                .invalidQuery, "a query id can't be used with an order, top or skip",
                hint: "Pull without a query id, or query the local table with them.")
        }
        if let queryID, queryID.isEmpty || queryID.utf8.count > 255 || queryID.utf8.contains(0) {
            throw SyncError(.invalidQuery, "a query id must have 1 to 255 bytes")
        }
        if skip < 0 || top ?? 0 < 0 { throw SyncError(.invalidQuery, "top and skip can't be negative") }
        if pageSize < 1 { throw SyncError(.invalidQuery, "a page must have at least one row") }
        if overlap < 0 { throw SyncError(.invalidQuery, "an overlap can't be negative") }
        do throws(UnsupportedPredicate) {
            spelled = try filter?.spelled(by: types, for: server)
            _ = try spelled?.forServers.text(for: server)
        } catch {
            throw SyncError(error)
        }
    }
}

extension SyncError {
    package init(_ error: UnsupportedPredicate) {
        self.init(
            .unsupportedPredicate, error.description,
            hint: "Filter the local table by it, and pull with a wider filter.")
    }
}

extension FilterExpression {
    /// Returns the conjunction of the conditions that are not nil.
    static func both(_ conditions: FilterExpression?...) -> FilterExpression? {
        conditions.compactMap { $0 }.reduce(nil) { (left: FilterExpression?, right) in
            left.map { .and($0, right) } ?? right
        }
    }

    static func updatedAt(_ comparison: Comparison, _ milliseconds: Int64) -> FilterExpression {
        .compare(
            comparison, .column("updatedAt"), .literal(.date(Timestamp(.init(milliseconds: milliseconds)))))
    }

    static func idAfter(_ id: String) -> FilterExpression {
        .compare(.greater, .column("id"), .literal(.string(id)))
    }
}
