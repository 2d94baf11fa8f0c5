// Maps a database's column types to served types: which values a column has for clients, whether the database compares
// them as the engine does, and which ids a key can hold. Types that can't be served are reported, never omitted.

import SynclineCore
import SynclineTables

/// A column as the database declares it.
struct DatabaseColumn: Hashable, Sendable {
    var name: String
    var type: String
    /// Whether only the database sets it: it is generated, or an identity that is always generated.
    var isComputed = false
    /// Whether a row must have a value for it, and whether it has one if none is given.
    var (needsValue, hasDefault) = (false, false)
    /// Whether its default takes a number from a sequence.
    var countsByItself = false
    /// Whether its times may be more exact than a millisecond.
    var isFine = false
    /// Whether strings are equal only if their bytes are, and whether they are ordered by their bytes.
    var (isExact, isByBytes) = (true, true)
    /// What the server's role may do with it.
    var (canSelect, canInsert, canUpdate) = (true, true, true)

    init(_ name: String, _ type: String) {
        self.name = name
        self.type = type.lowercased()
    }

    /// The type of its values for clients; nil if they can't be served.
    func served(_ dialect: SQLDialect) -> ColumnType? {
        switch dialect {
        case .postgres: DatabaseColumn.postgresTypes[type]
        // A type in SQLite is any string; its meaning depends on the words in it.
        case .sqlite: DatabaseColumn.sqliteWords.first { type.contains($0.key) }?.value
        }
    }

    private static let postgresTypes: [String: ColumnType] = [
        "text": .string, "character varying": .string, "character": .string, "uuid": .uuid, "enum": .string,
        "smallint": .number, "integer": .number, "bigint": .number, "numeric": .decimal, "real": .number,
        "double precision": .number, "boolean": .boolean, "date": .date, "timestamp with time zone": .date,
        "timestamp without time zone": .date, "json": .json, "jsonb": .json,
    ]

    private static let sqliteWords: KeyValuePairs<String, ColumnType> = [
        "json": .json, "bool": .boolean, "timestamp": .date, "date": .date, "int": .number, "num": .decimal,
        "real": .number, "double": .number, "float": .number, "dec": .decimal, "any": .number, "uuid": .uuid,
        "guid": .uuid, "char": .string, "text": .string, "clob": .string,
    ]

    /// Whether values can be served as a type that an operator has declared. SQLite's columns hold anything.
    func canServe(_ wanted: ColumnType, _ dialect: SQLDialect) -> Bool {
        if dialect == .sqlite { return true }
        switch (served(dialect), wanted) {
        // Numbers, and strings, with less meaning.
        case (.decimal?, .number), (.decimal?, .decimalString), (.uuid?, .string): return true
        case (let type, _): return type == wanted
        }
    }

    /// Whether the server would have created the column for a type.
    func isOwn(_ wanted: ColumnType, _ dialect: SQLDialect) -> Bool {
        switch (dialect, wanted.form) {
        case (.sqlite, _): type == dialect.type(wanted).lowercased()
        case (.postgres, .string), (.postgres, .uuid): type == "text"
        case (.postgres, .number), (.postgres, .decimal): type == "numeric"
        case (.postgres, .boolean): type == "boolean"
        case (.postgres, .date): type == "timestamp with time zone"
        case (.postgres, .json): type == "json"
        }
    }

    /// Whether the database compares its values differently from the engine, or as values of another type. SQLite
    /// stores times in more than one text form.
    /// - Parameter served: The type of a column that clients set.
    func isOpaque(_ served: ColumnType?, _ dialect: SQLDialect) -> Bool {
        switch dialect {
        case .postgres: type == "uuid" ? served?.form != .uuid : ["enum", "character", "real"].contains(type)
        case .sqlite: self.served(dialect) == .date || served?.form == .date
        }
    }

    /// The numbers that it keeps as they are. SQLite makes doubles of numbers, except in columns for strings.
    func precision(_ dialect: SQLDialect) -> NumberPrecision {
        func has(_ words: String...) -> Bool { words.contains(where: type.contains) }
        switch dialect {
        case .postgres: return ["real", "double precision"].contains(type) ? .doubles : .decimals
        case .sqlite:
            if has("int") { return .integers }
            if has("char", "clob", "text", "blob") { return .decimals }
            return has("real", "floa", "doub") ? .doubles : .integers
        }
    }

    /// The kind of ids of a key column; nil if the column can't be a key.
    func idKind(_ dialect: SQLDialect) -> IDKind? {
        switch dialect {
        case .postgres:
            switch type {
            case "text", "character varying": .text
            case "uuid": .uuid
            case "smallint", "integer", "bigint": .integer
            default: nil
            }
        case .sqlite:
            type.contains("int")
                ? .integer : [.number, .decimal].contains(served(dialect)?.form) ? nil : .text
        }
    }
}

extension Timestamp {
    /// Reads a moment that a database stores as text, including SQLite's own form, `2026-05-19 21:30:00`, which is in
    /// UTC.
    init?(stored text: String) {
        if let moment = Timestamp(text) {
            self = moment
        } else if text.utf8.dropFirst(10).first == UInt8(ascii: " ") {
            self.init(text.prefix(10) + "T" + text.dropFirst(11))
        } else {
            return nil
        }
    }
}
