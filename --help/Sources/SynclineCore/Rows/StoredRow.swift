// A row with its id, as it is handed to an app.

/// A row with its id.
public struct StoredRow: Hashable, Sendable {
    package private(set) var compactID: CompactID
    /// Its columns, without the id.
    public var columns: Row

    /// Makes a row.
    public init(id: String, columns: Row) {
        self.init(CompactID(id), columns: columns)
    }

    init(_ id: CompactID, columns: Row) {
        compactID = id
        self.columns = columns
    }

    /// The row's id. The string of a UUID is made at each access; keep it if you need it often.
    public var id: String {
        get { compactID.text }
        set { compactID = CompactID(newValue) }
    }
}

extension [StoredRow] {
    /// Sorts rows as their ids sort.
    mutating func sortByID() {
        self = map { (id: Value.string($0.id), row: $0) }.sorted { Value.compare($0.id, $1.id) == .less }.map(\.row)
    }
}

extension StoredRow: CustomStringConvertible {
    /// The row as a JSON object, with its id first.
    public var description: String {
        Value.object([.init("id", .string(id))] + columns.members).debugDescription
    }
}
