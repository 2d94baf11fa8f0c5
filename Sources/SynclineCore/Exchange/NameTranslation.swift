// Translates what a store and a server say to each other between the names that each has for the columns.

/// Renames the columns of many rows, most of which have the same shape.
private struct Renaming {
    let names: WireNames
    var latest: (from: RowShape, to: RowShape)?

    mutating func received(_ row: Row) -> Row {
        if let latest, latest.from === row.shape { return Row(shape: latest.to, bytes: row.bytes) }
        let renamed = row.renamingColumns { names.received($0) }
        if renamed.shape.names.count == row.shape.names.count { latest = (row.shape, renamed.shape) }
        return renamed
    }
}

// MARK: Requests and answers

/// Translates requests and responses with the names that a store has recorded.
package struct NameTranslation: Sendable {
    private let tables: [(name: String, names: WireNames)]

    package init(_ declaration: Declaration?) {
        tables = (declaration?.tables ?? []).compactMap { table in WireNames(table).map { (table.name, $0) } }
    }

    private func names(of table: String) -> WireNames? {
        tables.isEmpty ? nil : tables.first { $0.name.isSpelled(as: table) }?.names
    }

    /// Returns the request with the server's names.
    package func sent(_ request: ServerRequest) -> ServerRequest {
        if tables.isEmpty { return request }
        switch request {
        case .write(let write): return .write(sent(write))
        case .batch(let writes): return .batch(writes.map { sent($0) })
        case .row: return request
        case .changes(var changes):
            if let names = names(of: changes.table) { changes.filter = changes.filter?.renamingColumns(names.sent) }
            return .changes(changes)
        case .list(var list):
            guard let names = names(of: list.table) else { return request }
            list.filter = list.filter?.renamingColumns(names.sent)
            for index in list.order.indices { list.order[index].column = names.sent(list.order[index].column) }
            list.select = list.select.map { $0.map { names.sent($0) } }
            return .list(list)
        }
    }

    private func sent(_ write: WriteRequest) -> WriteRequest {
        guard let names = names(of: write.table) else { return write }
        var write = write
        write.body = names.sent(write.body)
        return write
    }

    /// Returns the response with the store's names.
    package func received(_ reply: ServerReply, to request: ServerRequest) -> ServerReply {
        if tables.isEmpty { return reply }
        var reply = reply
        switch (reply.content, request) {
        case (.row(let row), .write(let write)): reply.content = .row(received([row], of: write.table)[0])
        case (.row(let row), .row(let table, _, _)): reply.content = .row(received([row], of: table)[0])
        case (.list(var list), .list(let asked)):
            list.rows = received(list.rows, of: asked.table)
            reply.content = .list(list)
        case (.changes(var changes), .changes(let asked)):
            changes.rows = received(changes.rows, of: asked.table)
            reply.content = .changes(changes)
        case (.results(let results), .batch(let writes)) where results.count == writes.count:
            reply.content = .results(zip(results, writes).map { received($0, to: .write($1)) })
        default: break
        }
        return reply
    }

    private func received(_ rows: [ServerRow], of table: String) -> [ServerRow] {
        guard let names = names(of: table) else { return rows }
        var renaming = Renaming(names: names)
        return rows.map { row in
            var row = row
            row.columns = renaming.received(row.columns)
            return row
        }
    }

    /// Returns a row from a direct request to a server, with the store's names.
    package func received(_ row: Row, of table: String) -> Row {
        names(of: table).map { names in row.renamingColumns { names.received($0) } } ?? row
    }

    /// Returns the store's name of a server's column; nil if the store does not take it.
    package func received(_ column: String, of table: String) -> String? {
        guard let names = names(of: table) else { return column }
        return names.received(column)
    }
}
