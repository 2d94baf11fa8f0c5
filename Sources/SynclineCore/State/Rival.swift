// The app's side of a conflict with another process on the same device: the operation that was pending on the row when a
// change was taken in that had not seen it. The conflict's operation includes both.

import SynclineGround

package struct Rival: Hashable, Sendable {
    /// What the app had pending.
    package var kind: OperationKind
    package var columns: Row
    /// The server's row on which it was pending.
    package var base: Row?

    /// The row as the app alone would have it over a row of the server; nil if it is gone.
    func row(over server: Row?) -> Row? {
        switch kind {
        case .insert: (server ?? .empty).merged(with: columns)
        case .update: server?.merged(with: columns)
        case .delete: nil
        }
    }

    /// Whether the server's row has changed since in a way that collides with the app's operation.
    func collides(with server: Row?, _ types: TableTypes) -> Bool {
        guard let server else { return base != nil && kind != .insert }
        if base?.isSameState(as: server) == true { return false }
        return kind == .delete || !columns.collidingColumns(with: server, since: base, types).isEmpty
    }

    /// The same rival with its rows mapped.
    package func map(_ transform: (Row) -> Row) -> Rival {
        Rival(kind: kind, columns: transform(columns), base: base.map(transform))
    }
}

extension ByteWriter {
    mutating func append(rival: Rival, _ shapes: some ShapeNumbering) {
        append(rival.kind.rawValue)
        append(row: rival.columns, shapes)
        append(rival.base == nil ? 0 : 1)
        if let base = rival.base { append(row: base, shapes) }
    }
}

extension ByteReader {
    mutating func rival(_ shapes: ShapeTable) throws(MalformedBytes) -> Rival {
        guard let kind = OperationKind(rawValue: try byte()) else { throw MalformedBytes() }
        let columns = try row(shapes)
        return Rival(kind: kind, columns: columns, base: try byte() == 0 ? nil : try row(shapes))
    }
}
