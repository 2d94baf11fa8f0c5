// SQL statements as values: a string whose only literals are the server's own, and the values that are bound to it.
// Nothing that a client sent is ever part of the string, except names of columns that were checked and are quoted.

import SynclineCore
import SynclineGround
import SynclineTables
import SynclineWire

/// A value that a database stores or receives.
enum SQLValue: Hashable, Sendable {
    case null
    case bool(Bool)
    case integer(Int64)
    case double(Double)
    case text(String)
    /// A number with all its digits.
    case decimal(String)
    /// A UUID for a column of the database's own type.
    case uuid(String)
    case date(Timestamp.Instant)
    case json(String)

    /// Milliseconds since 1970.
    static func time(_ milliseconds: Int64) -> SQLValue { .date(.init(milliseconds: milliseconds)) }
}

/// SQL as a string literal: in `"\(column) = \(.text(id))"`, a string is a part of the SQL, and a value is bound.
struct SQLText: Hashable, Sendable, ExpressibleByStringInterpolation {
    /// A value, and how much of the SQL comes before its placeholder.
    fileprivate struct Place: Hashable {
        var offset: Int
        let value: SQLValue
        /// The placeholder is of the type of the value, or its type follows from its context.
        let isTyped: Bool
    }

    struct StringInterpolation: StringInterpolationProtocol {
        fileprivate var sql: String
        fileprivate var places: [Place] = []

        init(literalCapacity: Int, interpolationCount: Int) {
            sql = ""
            sql.reserveCapacity(literalCapacity + 16 * interpolationCount)
        }

        mutating func appendLiteral(_ sql: String) { self.sql += sql }

        mutating func appendInterpolation(_ sql: String) { self.sql += sql }

        mutating func appendInterpolation(_ other: SQLText) {
            let start = sql.utf8.count
            sql += other.sql
            for var place in other.places {
                place.offset += start
                places.append(place)
            }
        }

        mutating func appendInterpolation(_ value: SQLValue) { append(value, isTyped: true) }

        /// A value whose type follows from its context.
        mutating func appendInterpolation(untyped value: SQLValue) { append(value, isTyped: false) }

        mutating func appendInterpolation(_ list: [SQLText], separator: String) {
            for (place, sql) in list.enumerated() {
                if place > 0 { self.sql += separator }
                appendInterpolation(sql)
            }
        }

        private mutating func append(_ value: SQLValue, isTyped: Bool) {
            places.append(Place(offset: sql.utf8.count, value: value, isTyped: isTyped))
        }
    }

    fileprivate let sql: String
    fileprivate let places: [Place]

    init(stringLiteral sql: String) { (self.sql, places) = (sql, []) }

    init(stringInterpolation: StringInterpolation) {
        (sql, places) = (stringInterpolation.sql, stringInterpolation.places)
    }
}

/// SQL, and the values for its placeholders in order.
struct SQLStatement: Hashable, Sendable, ExpressibleByStringInterpolation {
    private var sql: SQLText
    private(set) var values: [SQLValue]
    /// The columns that are bound after the values.
    private(set) var columns: BoundColumns?
    /// Many rows, instead of values.
    private(set) var rows: BoundRows?
    /// Whether it may return more rows than are wanted, or than should be in memory at a time.
    var isLarge = false
    /// The number of rows at which it ends by itself.
    var limit: Int?

    init(_ sql: SQLText) { (self.sql, values) = (sql, sql.places.map(\.value)) }

    init(stringLiteral sql: String) { self.init(prepared: sql) }

    init(stringInterpolation: SQLText.StringInterpolation) {
        self.init(SQLText(stringInterpolation: stringInterpolation))
    }

    /// A string that contains the placeholders.
    init(
        prepared text: String, values: [SQLValue] = [], columns: BoundColumns? = nil, rows: BoundRows? = nil
    ) {
        (sql, self.values, self.columns, self.rows) = (SQLText(stringLiteral: text), values, columns, rows)
    }

    /// All bound values, in order.
    var allValues: [SQLValue] { values + (columns?.bound ?? []) }

    mutating func add(_ more: SQLText) {
        sql = "\(sql)\(more)"
        values += more.places.map(\.value)
    }

    /// The string with the placeholders of a database.
    func text(_ dialect: SQLDialect) -> String {
        if sql.places.isEmpty { return sql.sql }
        var text = ""
        var rest = sql.sql.utf8[...]
        var start = 0
        for (number, place) in sql.places.enumerated() {
            let end = rest.index(rest.startIndex, offsetBy: place.offset - start)
            text += Substring(rest[..<end])
            text += dialect.placeholder(number + 1, for: place.isTyped ? place.value : .null)
            (rest, start) = (rest[end...], place.offset)
        }
        return text + Substring(rest)
    }
}

/// The values of a row, one for each column of its table, still encoded.
struct BoundColumns: Hashable, Sendable {
    let values: Row
    let columns: [Column]

    var bound: [SQLValue] {
        zip(columns, values.members).map { $0.type.bound($1.value) }
    }
}

/// The differences between the two databases.
enum SQLDialect: Hashable, Sendable {
    case sqlite
    case postgres

    static func quoted(_ name: String) -> String {
        name.quoted(by: "\"")
    }

    /// Strings as PostgreSQL's text of an array.
    static func list(_ texts: [String]) -> String {
        "{" + texts.map { "\"\(escaped($0))\"" }.joined(separator: ",") + "}"
    }

    private static func escaped(_ text: String) -> String {
        if !text.utf8.contains(where: { $0 == UInt8(ascii: "\\") || $0 == UInt8(ascii: "\"") }) { return text }
        return text.replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
    }

    /// Strings as rows of one column, `value`.
    func rows(of texts: [String]) -> SQLText {
        guard self == .sqlite else { return #"unnest(\#(.text(SQLDialect.list(texts)))::text[]) AS "value""# }
        return "json_each(\(.text(Value.array(texts.map(Value.string)).json)))"
    }

    /// The condition that a column of text has one of some values.
    func isAmong(_ texts: [String], _ column: String) -> SQLText {
        if texts.count == 1 { return "\(column) = \(.text(texts[0]))" }
        return #"\#(column) IN (SELECT "value" FROM \#(rows(of: texts)))"#
    }

    /// A transaction that sees one moment.
    var beginReading: String {
        self == .sqlite ? "BEGIN" : "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY"
    }

    var beginWriting: String {
        self == .sqlite ? "BEGIN IMMEDIATE" : "BEGIN ISOLATION LEVEL READ COMMITTED"
    }

    /// PostgreSQL is told the type, so that it does not infer it from the context.
    func placeholder(_ number: Int, for value: SQLValue) -> String {
        switch self {
        case .sqlite: "?\(number)"
        case .postgres:
            switch value {
            case .null: "$\(number)"
            case .bool: "$\(number)::boolean"
            case .integer: "$\(number)::bigint"
            case .double, .decimal: "$\(number)::numeric"
            case .uuid: "$\(number)::uuid"
            case .text: "$\(number)::text"
            case .date: "$\(number)::timestamptz"
            case .json: "$\(number)::json"
            }
        }
    }

    /// The type of a column. In SQLite's strict tables ANY keeps integers and doubles as they are, and the digits of
    /// other numbers as text.
    func type(_ type: ColumnType) -> String {
        switch (self, type.form) {
        case (.sqlite, .string), (.sqlite, .decimal), (.sqlite, .date), (.sqlite, .uuid), (.sqlite, .json): "TEXT"
        case (.sqlite, .boolean): "INTEGER"
        case (.sqlite, .number): "ANY"
        case (.postgres, .string), (.postgres, .uuid): "text COLLATE \"C\""
        case (.postgres, .number), (.postgres, .decimal): "numeric"
        case (.postgres, .boolean): "boolean"
        case (.postgres, .date): "timestamptz"
        case (.postgres, .json): "json"
        }
    }

    /// The decimals of a second that a date can have.
    var dateDecimals: UInt8 { self == .sqlite ? 9 : 6 }

    var bigInteger: String { self == .sqlite ? "INTEGER" : "bigint" }

    /// The function for the larger of two numbers.
    var larger: String { self == .sqlite ? "max" : "greatest" }

    /// Makes strings be compared by their bytes.
    var byBytes: String { self == .sqlite ? " COLLATE BINARY" : " COLLATE \"C\"" }

    /// The function by which an SQLite connection reads a moment that is stored as text.
    static let momentFunction = "syncline_moment"

    /// The function by which an SQLite connection reads a moment with all its decimals.
    static let instantFunction = "syncline_instant"

    /// The function by which an SQLite connection makes bytes of a number, in the order of the numbers.
    static let numberFunction = "syncline_number"

    /// A column of UUIDs, whose case does not matter.
    func uuid(_ column: String, isNative: Bool) -> String {
        self == .sqlite ? column + " COLLATE NOCASE" : isNative ? column : "lower(\(column)\(byBytes))"
    }

    /// A column of any type as text, in the order of its bytes.
    private func text(_ column: String) -> String {
        self == .sqlite ? "CAST(\(column) AS TEXT)" : "\(column)::text COLLATE \"C\""
    }

    /// The expression by which a column is sorted. PostgreSQL defines no order of JSON. Columns that the database sorts
    /// differently from the engine, or stores in more than one form, are sorted as clients see them.
    func sortable(_ column: String, _ kind: SortKind, _ name: String, _ schema: ServedTable) -> String {
        let traits = schema.traits
        let isOpaque = traits.opaque.contains(name)
        switch (self, kind) {
        case (.sqlite, .decimal): return "\(SQLDialect.numberFunction)(\(column))"
        case (.sqlite, .number) where schema.isOwn:
            // The database asks once, and calls no function if every number is one of its own.
            let table = SQLDialect.quoted(schema.definition.source)
            return "CASE WHEN EXISTS (SELECT 1 FROM \(table) WHERE typeof(\(column)) = 'text') "
                + "THEN \(SQLDialect.numberFunction)(\(column)) ELSE \(column) END"
        case (_, .uuid): return uuid(column, isNative: traits.native.contains(name))
        case (.postgres, .json): return text(column)
        case (.postgres, .string) where isOpaque, (_, .id) where isOpaque: return text(column)
        case (_, .string) where traits.collated.contains(name), (_, .id) where traits.collated.contains(name):
            return column + byBytes
        case (.sqlite, .date): return "coalesce(\(SQLDialect.instantFunction)(\(column)), \(column))"
        case (.sqlite, .time) where isOpaque:
            return "coalesce(\(SQLDialect.momentFunction)(\(column)), \(column))"
        case (.postgres, .time) where traits.fine.contains(name): return "date_trunc('milliseconds', \(column))"
        default: return column
        }
    }

    /// What a column is sorted as.
    enum SortKind: Hashable {
        case id, string, number, decimal, date, uuid, json, time, other

        init(_ type: ColumnType) {
            switch type.form {
            case .string: self = .string
            case .number: self = .number
            case .decimal: self = .decimal
            case .date: self = .date
            case .uuid: self = .uuid
            case .json: self = .json
            case .boolean: self = .other
            }
        }

        init(_ column: SystemColumn) {
            switch column {
            case .id: self = .id
            case .createdAt, .updatedAt: self = .time
            case .version, .deleted: self = .other
            }
        }
    }

    /// The SQL that puts null first in an ascending order, and last in a descending one.
    func nulls(isDescending: Bool) -> String {
        switch self {
        case .sqlite: ""
        case .postgres: isDescending ? " NULLS LAST" : " NULLS FIRST"
        }
    }
}

extension SQLValue {
    /// A number from a database. JSON has no numbers that are not finite: they become strings.
    init(number: Double) {
        self =
            number.isFinite ? .double(number) : .text(number.isNaN ? "NaN" : number < 0 ? "-Infinity" : "Infinity")
    }
}

extension ColumnType {
    /// A checked value in the form in which it is bound.
    func bound(_ value: Value) -> SQLValue {
        switch (form, value) {
        case (_, .null): .null
        case (.json, _): .json(value.json)
        case (.decimal, _): .decimal(value.decimalText ?? value.json)
        case (_, .bool(let flag)): .bool(flag)
        case (_, .integer(let number)): .integer(number)
        case (_, .double(let number)): .double(number)
        case (_, .number(let number)): .decimal(number.spelling)
        case (_, .string(let text)): .text(text)
        case (_, .date(let date)): .date(date.instant)
        default: .json(value.json)
        }
    }

    /// A stored value as a value for clients.
    func value(_ stored: SQLValue) -> Value {
        switch (form, stored) {
        case (_, .null): return .null
        case (.boolean, .integer(let number)): return .bool(number != 0)
        case (.date, .text(let text)):
            return Timestamp(stored: text).map { .date(Timestamp(kept: $0.instant)) } ?? .string(text)
        case (.number, .decimal(let text)), (.number, .text(let text)):
            return Value(number: text)?.number() ?? .string(text)
        case (.decimal, .integer(let number)) where self == .decimalString: return .string(String(number))
        case (.decimal, .double(let number)) where self == .decimalString:
            return .string(NumberDigits(shortest: number)?.plain() ?? "\(number)")
        case (.decimal, .decimal(let text)), (.decimal, .text(let text)):
            return self == .decimalString ? .string(text) : Value(number: text) ?? .string(text)
        case (.json, .text(let text)), (.json, .json(let text)):
            return (try? Value(json: text.utf8)) ?? .string(text)
        case (_, .bool(let flag)): return .bool(flag)
        case (_, .integer(let number)): return .integer(number)
        case (_, .double(let number)): return .double(number)
        case (_, .text(let text)), (_, .json(let text)), (_, .decimal(let text)), (_, .uuid(let text)):
            return .string(text)
        case (_, .date(let instant)): return .date(Timestamp(kept: instant))
        }
    }
}
