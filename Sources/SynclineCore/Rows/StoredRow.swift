// A row with its id, as it is handed to an app.

/// A row with its id.
public struct StoredRow: Hashable, Sendable {
    /// The row's id.
    public var id: String
    /// Its columns, without the id.
    public var columns: Row

    /// Makes a row.
    public init(id: String, columns: Row) {
        self.id = id
        self.columns = columns
    }
}

extension StoredRow: CustomStringConvertible {
    /// The row as a JSON object, with its id first.
    public var description: String {
        Value.object([.init("id", .string(id))] + columns.members).debugDescription
    }
}
