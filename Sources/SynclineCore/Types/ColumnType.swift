// The type of a column: it says what a value means, however it is spelled. A column without one has the type `any`.

/// The type of a column. By it values are compared, ordered, grouped, indexed and added up.
public enum ColumnType: String, Hashable, Sendable, CaseIterable {
    /// Values of any kind. Every column has this type until it is declared.
    case any
    /// Strings, compared by their Unicode scalars.
    case string
    /// True and false.
    case boolean
    /// Whole numbers of 64 bits.
    case integer
    /// Doubles.
    case number
    /// Decimals of at most 38 digits.
    case decimal
    /// Decimals that are strings for the server.
    case decimalString = "decimal(string)"
    /// Instants, date-times without a zone, and calendar days.
    case date
    /// UUIDs, in upper or lower case.
    case uuid
    /// UUIDs for which the server has a type of its own.
    case guid = "uuid(guid)"
    /// Bytes in base64.
    case bytes
    /// Nested arrays and objects.
    case json

    /// Creates the type with a name; throws if there is none.
    public init(named name: String) throws(SyncError) {
        guard let type = ColumnType(rawValue: name) else {
            let names = ColumnType.allCases.map(\.rawValue).joined(separator: ", ")
            throw SyncError(
                .invalidConfiguration, "there is no type of columns \"\(name)\"", hint: "The types are \(names).")
        }
        self = type
    }

    /// Whether its values are numbers.
    package var isNumeric: Bool {
        switch self {
        case .integer, .number, .decimal, .decimalString: true
        case .any, .string, .boolean, .date, .uuid, .guid, .bytes, .json: false
        }
    }

    /// Whether its values are decimals.
    package var isDecimal: Bool { self == .decimal || self == .decimalString }

    /// Whether its values are UUIDs.
    package var isUUID: Bool { self == .uuid || self == .guid }

    /// Whether it tells values apart by their kind, as a column without a declared type does.
    package var isPlain: Bool { self == .any || self == .json }

    /// What would fit, for a message.
    package var wanted: String {
        switch self {
        case .any, .json: "any value"
        case .string: "a string"
        case .boolean: "true or false"
        case .integer: "a whole number of 64 bits"
        case .number: "a number that a double can hold"
        case .decimal, .decimalString: "a number of at most 38 digits"
        case .date: "a date such as 2026-05-19 or 2026-05-19T21:30:00.000Z"
        case .uuid, .guid: "a UUID such as 6F9619FF-8B86-D011-B42D-00C04FC964FF"
        case .bytes: "bytes in base64"
        }
    }
}
