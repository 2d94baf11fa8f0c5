// A type that an app stores as rows: its table's name and its id. Everything else is plain `Codable`.

/// A type whose values can be stored as rows: `struct TodoItem: SyncModel { … }`.
///
/// Each coded property is a column with the name of its coding key. The type is described here once, and used with
/// local tables, with a server's tables, in transactions, in the history and for conflicts.
public protocol SyncModel: Codable, Identifiable, Sendable where ID: RowIdentifier {
    /// The name of the table; by default the name of the type in lower case.
    static var table: String { get }
}

extension SyncModel {
    public static var table: String { "\(Self.self)".lowercased() }
}
