// Decodes an app's model from a row's values. Dates may be dates or date strings; data may be bytes or base64.

import Foundation
package import SynclineCore
import SynclineGround
import SynclineWire

package enum ValueDecoder {
    /// Where a value comes from.
    package enum Origin: Sendable {
        /// A row of the store.
        case row
        /// A result of SQL, which has no Booleans, arrays and objects: they are numbers, and JSON in strings.
        case sql
    }

    package static func decode<Model: Decodable>(
        _ type: Model.Type, from value: Value, _ origin: Origin = .row
    ) throws(SyncError) -> Model {
        do { return try decodeAny(type, value, origin, path: []) } catch { throw named(error, type) }
    }

    /// Decodes a model that is made of a row.
    static func decode<Model: Decodable>(_ type: Model.Type, from row: RowDecoder) throws(SyncError) -> Model {
        do { return try Model(from: row) } catch { throw named(error, type) }
    }

    /// Names the property in the error.
    private static func named(_ error: any Error, _ model: Any.Type) -> SyncError {
        switch error {
        case DecodingError.keyNotFound(let key, let context): missing(context.codingPath + [key])
        case DecodingError.valueNotFound(_, let context): mismatch(context.codingPath, "it is null")
        case DecodingError.typeMismatch(let type, let context):
            mismatch(context.codingPath, "it is not of type \(type)")
        case DecodingError.dataCorrupted(let context): undecodable(context.codingPath, context.debugDescription)
        default: SyncError(.invalidItem, "the row does not fit \(model): \(error)")
        }
    }

    private static func mismatch(_ path: [any CodingKey], _ what: String) -> SyncError {
        SyncError(
            .invalidItem, "\(ValueEncoder.name(path)): \(what)",
            hint: "Make the property optional, or read the table without a model.")
    }

    /// The value has the right type, but the property's type does not know it, such as a case that a newer app added.
    private static func undecodable(_ path: [any CodingKey], _ what: String) -> SyncError {
        SyncError(
            .invalidItem, "\(ValueEncoder.name(path)): \(what)",
            hint: """
                A newer app may have stored it: leave such rows out with `skippingUndecodable`, or decode the property \
                with a default for values that it does not know.
                """)
    }

    private static func missing(_ path: [any CodingKey]) -> SyncError {
        var error = mismatch(path, "the row does not have this column")
        if path.count == 1, Item.systemColumns.contains(path[0].stringValue) {
            error.hint = "The server sets it after the row is pushed: make the property optional."
        }
        return error
    }

    static func decodeAny<Model: Decodable>(
        _ type: Model.Type, _ value: Value, _ origin: Origin, path: [any CodingKey]
    ) throws -> Model {
        guard let special = special(type, value) else {
            return try Model(from: ValueSource(value: value, origin: origin, parentPath: path))
        }
        guard let model = special as? Model else {
            throw DecodingError.typeMismatch(type, .init(codingPath: path, debugDescription: ""))
        }
        return model
    }

    /// What a value is as a type that decodes in a way of its own: nil within it if it does not fit, nil for other types.
    private static func special(_ type: any Decodable.Type, _ value: Value) -> Any?? {
        if type == Date.self { return .some(date(value)) }
        if type == Data.self { return .some(data(value)) }
        if type == UUID.self { return .some(text(value).flatMap { UUID(uuidString: $0) }) }
        if type == Decimal.self { return .some(decimal(value)) }
        if type == URL.self { return .some(text(value).flatMap { URL(string: $0) }) }
        return type == Value.self ? .some(value) : nil
    }

    private static func text(_ value: Value) -> String? {
        if case .string(let text) = value { return text }
        return nil
    }

    private static func date(_ value: Value) -> Date? {
        switch value {
        case .date(let timestamp): timestamp.date
        case .string(let text): Timestamp(text)?.date
        default: nil
        }
    }

    /// Returns a number with the digits that it is printed with.
    private static func decimal(_ value: Value) -> Decimal? {
        switch value {
        case .integer(let number): Decimal(number)
        case .double(let number): Decimal(string: "\(number)", locale: nil)
        case .number(let number): Decimal(string: number.spelling, locale: nil)
        case .string(let text): Decimal(string: text, locale: nil)
        default: nil
        }
    }

    private static func data(_ value: Value) -> Data? {
        switch value {
        case .bytes(let bytes): Data(bytes)
        case .string(let text): Base64.decode(text).map { Data($0) }
        default: nil
        }
    }
}

/// A value being decoded.
struct ValueSource: Decoder {
    let value: Value
    let origin: ValueDecoder.Origin
    let parentPath: [any CodingKey]
    /// The key of the value in its parent; nil if it has none.
    var key: (any CodingKey)?

    var codingPath: [any CodingKey] { key.map { parentPath + [$0] } ?? parentPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// The value, read from JSON if it is an array or an object in a string.
    private var nested: Value {
        guard origin == .sql, case .string(let text) = value else { return value }
        return (try? Value(json: text.utf8)) ?? value
    }

    func mismatch(_ type: Any.Type) -> DecodingError {
        value.isNull
            ? .valueNotFound(type, .init(codingPath: codingPath, debugDescription: "null"))
            : .typeMismatch(type, .init(codingPath: codingPath, debugDescription: value.kindName))
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = nested else { throw mismatch([String: Any].self) }
        return KeyedDecodingContainer(KeyedSource<Key>(NamedValues(members), origin, codingPath))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = nested else { throw mismatch([Any].self) }
        return UnkeyedSource(elements: elements, origin: origin, codingPath: codingPath)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }
}

extension ValueSource: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value.isNull }

    func decode(_ type: Bool.Type) throws -> Bool {
        switch value {
        case .bool(let flag): return flag
        case .integer(let number) where origin == .sql && (0...1).contains(number): return number == 1
        default: throw mismatch(type)
        }
    }

    func decode(_ type: String.Type) throws -> String {
        switch value {
        case .string(let text): return text
        case .date(let date): return date.description
        default: throw mismatch(type)
        }
    }

    func decode(_ type: Double.Type) throws -> Double {
        switch value {
        case .double(let number): return number
        case .integer(let number): return Double(number)
        case .number(let number) where number.rounded.isFinite: return number.rounded
        default: throw mismatch(type)
        }
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

    func decode<Number: FixedWidthInteger & Decodable>(_ type: Number.Type) throws -> Number {
        switch value {
        case .integer(let number):
            if let exact = Number(exactly: number) { return exact }
        case .double(let number):
            if let exact = Number(exactly: number) { return exact }
        case .number(let number):
            if let exact = Number(number.spelling) { return exact }
            if number.isDouble, let exact = Number(exactly: number.rounded) { return exact }
        default: break
        }
        throw mismatch(type)
    }

    func decode<Model: Decodable>(_ type: Model.Type) throws -> Model {
        try ValueDecoder.decodeAny(type, value, origin, path: codingPath)
    }
}

/// Values by name.
enum NamedValues {
    /// Those of a row, which are read when they are asked for.
    case row(RowDecoder)
    case few([Value.Member])
    case many([ExactString: Value])

    init(_ members: [Value.Member]) {
        self =
            members.count > 32
            ? .many(Dictionary(members.map { (ExactString($0.name), $0.value) }) { $1 }) : .few(members)
    }

    subscript(name: String) -> Value? {
        switch self {
        case .row(let row): row.value(name)
        case .few(let members): members[member: name]
        case .many(let values): values[ExactString(name)]
        }
    }

    func contains(_ name: String) -> Bool {
        if case .row(let row) = self { row.contains(name) } else { self[name] != nil }
    }

    var names: [String] {
        switch self {
        case .row(let row): row.names
        case .few(let members): members.map(\.name).exact.map(\.text)
        case .many(let values): values.keys.map(\.text)
        }
    }
}

struct KeyedSource<Key: CodingKey>: KeyedDecodingContainerProtocol {
    private let values: NamedValues
    private let origin: ValueDecoder.Origin
    let codingPath: [any CodingKey]

    init(_ values: NamedValues, _ origin: ValueDecoder.Origin, _ path: [any CodingKey]) {
        (self.values, self.origin, codingPath) = (values, origin, path)
    }

    var allKeys: [Key] { values.names.compactMap { Key(stringValue: $0) } }
    func contains(_ key: Key) -> Bool { values.contains(key.stringValue) }
    func decodeNil(forKey key: Key) -> Bool { values[key.stringValue]?.isNull ?? true }

    private func source(_ key: any CodingKey) throws -> ValueSource {
        guard let value = values[key.stringValue] else {
            throw DecodingError.keyNotFound(key, .init(codingPath: codingPath, debugDescription: ""))
        }
        return ValueSource(value: value, origin: origin, parentPath: codingPath, key: key)
    }

    /// Nil for a value that is null or not there.
    private func present(_ key: Key) -> ValueSource? {
        guard let value = values[key.stringValue], !value.isNull else { return nil }
        return ValueSource(value: value, origin: origin, parentPath: codingPath, key: key)
    }

    // The generic functions do the same for each type, and take longer.
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try source(key).decode(type) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try source(key).decode(type) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try source(key).decode(type) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try source(key).decode(type) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try source(key).decode(type) }
    func decode<Model: Decodable>(_ type: Model.Type, forKey key: Key) throws -> Model { try source(key).decode(type) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try present(key)?.decode(type) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try present(key)?.decode(type) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try present(key)?.decode(type) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try present(key)?.decode(type) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try present(key)?.decode(type) }

    func decodeIfPresent<Model: Decodable>(_ type: Model.Type, forKey key: Key) throws -> Model? {
        try present(key)?.decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try source(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try source(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try source(NamedKey("super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try source(key) }
}

private struct UnkeyedSource: UnkeyedDecodingContainer {
    let elements: [Value]
    let origin: ValueDecoder.Origin
    let codingPath: [any CodingKey]
    var currentIndex = 0
    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    private mutating func next() throws -> ValueSource {
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                Any.self, .init(codingPath: codingPath, debugDescription: "the array has no more elements"))
        }
        defer { currentIndex += 1 }
        return ValueSource(value: elements[currentIndex], origin: origin, parentPath: codingPath)
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex].isNull else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Model: Decodable>(_ type: Model.Type) throws -> Model { try next().decode(type) }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try next().unkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try next() }
}
