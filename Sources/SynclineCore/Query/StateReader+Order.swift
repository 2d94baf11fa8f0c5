// Gives an order by other rows its meaning in a state: what each of these rows has.

extension StateReader {
    /// Returns what an order means in this state.
    func resolved(_ order: [RowQuery.Key]) throws(SyncError) -> [RowQuery.Key] {
        guard order.asksOthers else { return order }
        var resolved = order
        for index in order.indices { resolved[index].through = try order[index].through.map(read) }
        return resolved
    }

    private func read(_ through: OrderThrough) throws(SyncError) -> OrderThrough {
        try declaration.check(through.table)
        let target = RowQuery.Key(through.column)
        var query = RowQuery(table: through.table)
        query.select = [target.path?[0] ?? through.column]
        let values = try run(query).rows.map { (id: $0.id, value: $0.value(of: target)) }
        var read = through
        read.take(values, as: try types(of: through.table)[through.column])
        return read
    }
}

extension RowQuery {
    /// The tables on whose rows the result depends, besides its own.
    var relatedTables: [String] { .joined(filter?.relatedTables ?? [], order.relatedTables) }
}
