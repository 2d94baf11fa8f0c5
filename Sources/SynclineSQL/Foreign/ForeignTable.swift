// An app's description of a table in another client's file, for facts that the file lacks.

/// A client whose database file can be imported.
public enum ForeignClient: String, Hashable, Sendable, CaseIterable {
    /// MSClient, the retired Azure Mobile Apps client for iOS, with its Core Data store in an SQLite file.
    case msclient
    /// A .NET client of Datasync: the Datasync Community Toolkit with Entity Framework Core, or Microsoft.Datasync.Client
    /// with its SQLite store.
    case datasync
}

/// The type that a column's values have in JSON.
public enum ForeignType: String, Hashable, Sendable, CaseIterable {
    /// A string.
    case string
    /// A whole number.
    case integer
    /// A number with or without decimals.
    case number
    /// A Boolean.
    case bool
    /// A date, which JSON has as a string.
    case date
    /// A UUID, as a string.
    case uuid
    /// Bytes, which JSON has in base 64.
    case bytes
    /// An array or an object, which the file has as JSON.
    case json
    /// A column that is left out on purpose.
    case skip
}

/// A table in another client's file.
public struct ForeignTable: Hashable, Sendable {
    /// The name in the file: of an entity of Core Data, or of a table.
    public var name: String
    /// The name in the store, and so on the server; nil if it is the name that the other client used.
    public var storeName: String?
    /// Its columns besides `id`, `version`, `createdAt`, `updatedAt` and `deleted`.
    public var columns: [ForeignColumn]
    /// Whether the table is left out on purpose.
    public var isSkipped: Bool

    /// Describes a table.
    public init(
        _ name: String, as storeName: String? = nil, columns: [ForeignColumn] = [], isSkipped: Bool = false
    ) {
        self.name = name
        self.storeName = storeName
        self.columns = columns
        self.isSkipped = isSkipped
    }
}

/// A column in another client's file.
public struct ForeignColumn: Hashable, Sendable {
    /// The name in the store, and so in JSON.
    public var name: String
    /// The name in the file, in any case; nil if it is the same.
    public var fileName: String?
    /// The type; nil if the file declares it.
    public var type: ForeignType?

    /// Describes a column.
    public init(_ name: String, _ type: ForeignType? = nil, from fileName: String? = nil) {
        self.name = name
        self.fileName = fileName
        self.type = type
    }
}

extension ForeignTable: CustomStringConvertible {
    /// The description as the tool reads it: `TodoItems as todoitem=text:string,complete:bool`.
    public var description: String {
        let renamed = storeName.map { name + " as " + $0 } ?? name
        return renamed + "="
            + (isSkipped ? ForeignType.skip.rawValue : columns.map(\.description).joined(separator: ","))
    }
}

extension ForeignColumn: CustomStringConvertible {
    /// The description as the tool reads it: `text:string`, or `Title as heading:string`.
    public var description: String {
        (fileName.map { $0 + " as " + name } ?? name) + (type.map { ":" + $0.rawValue } ?? "")
    }
}
