// A type that an app stores as rows: its table's name and its id. Everything else is plain `Codable`.

/// A type whose values can be stored as rows: `struct TodoItem: SyncModel { … }`.
///
/// Each coded property is a column with the name of its coding key. The type is described here once, and used with
/// local tables, with a server's tables, in transactions, in the history and for conflicts.
public protocol SyncModel: Codable, Identifiable, Sendable where ID: RowIdentifier {
    /// The name of the table; by default the name of the type in lower case.
    static var table: String { get }
    /// Whether the table never leaves the device: its rows are not pushed, and it can't be pulled; by default false.
    static var isLocal: Bool { get }
}

extension SyncModel {
    public static var table: String { "\(Self.self)".lowercased() }
    public static var isLocal: Bool { false }
}

/// A model that has the version of its row, so that one that was read before the row changed is recognised: only such a
/// model is stored as a whole by `update` and `save`.
public protocol VersionedModel: SyncModel {
    /// The version that the server gave the row; nil if the server does not have it yet.
    var version: String? { get }
}
