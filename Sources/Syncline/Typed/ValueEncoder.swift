// Encodes an app's model as a row's values. A nil property becomes null, so that an update can clear a column.
// Foundation's dates, data, UUIDs and URLs get the forms that servers expect.

import Foundation
import SynclineCore
import SynclineGround

enum ValueEncoder {
    static func encode(_ model: some Encodable) throws(SyncError) -> Value {
        do {
            return try encodeAny(model, path: [])
        } catch let error as SyncError {
            throw error
        } catch let EncodingError.invalidValue(_, context) {
            throw SyncError(.invalidItem, "\(name(context.codingPath)): \(context.debugDescription)")
        } catch {
            throw SyncError(.invalidItem, "the item can't be encoded: \(error)")
        }
    }

    static func name(_ path: [any CodingKey]) -> String {
        path.isEmpty ? "the item" : path.map(\.stringValue).joined(separator: ".")
    }

    fileprivate static func encodeAny(_ model: some Encodable, path: [any CodingKey]) throws -> Value {
        switch model {
        case let date as Date: return .date(Timestamp(date))
        case let data as Data: return .bytes([UInt8](data))
        case let id as UUID: return .string(id.uuidString)
        case let url as URL: return .string(url.absoluteString)
        case let number as Decimal: return try decimal(number, path)
        case let value as Value: return value
        default:
            let encoder = Node(path)
            try model.encode(to: encoder)
            return encoder.value
        }
    }

    /// Encodes a decimal with its digits, without the noise of a double: the literal 0.07 is one, and
    /// `Decimal(0.07)` is 0.07000000000000001024.
    static func decimal(_ number: Decimal, _ path: [any CodingKey]) throws -> Value {
        guard let digits = NumberDigits(number: .string("\(number)")) else {
            throw SyncError(.invalidItem, "\(name(path)): the decimal is not a number", hint: "Store nil instead.")
        }
        let short = digits.rounded(to: 15)
        let isNoise = Double(short.text).map { Decimal($0) == number } ?? false
        return (isNoise ? short : digits).value
    }

    fileprivate static func integer(
        _ number: some BinaryInteger, _ path: @autoclosure () -> [any CodingKey]
    ) throws -> Value {
        if let integer = Int64(exactly: number) { return .integer(integer) }
        // A larger one may be what the row has already, which the store decides.
        guard let value = Value(number: "\(number)") else {
            throw SyncError(.internalError, "an integer could not be written as a number")
        }
        return value
    }

    fileprivate static func double(_ number: Double, _ path: [any CodingKey]) throws -> Value {
        guard number.isFinite else {
            throw SyncError(
                .invalidItem, "\(name(path)): the number is not finite",
                hint: "Rows hold no NaN and no infinity: make the property optional and store nil.")
        }
        return .double(number)
    }

    /// Encodes the digits that the number is printed with, so that it means the same to servers as to the app.
    fileprivate static func float(_ number: Float, _ path: [any CodingKey]) throws -> Value {
        try double(Double("\(number)") ?? Double(number), path)
    }
}

/// One level of the encoded value.
private final class Node: Encoder {
    let codingPath: [any CodingKey]
    let userInfo: [CodingUserInfoKey: Any] = [:]
    private var single: Value = .null
    private var members: [(name: String, value: () -> Value)]?
    private var elements: [() -> Value]?

    init(_ path: [any CodingKey]) {
        codingPath = path
    }

    var value: Value {
        if let members { return .object(members.map { Value.Member($0.name, $0.value()) }) }
        if let elements { return .array(elements.map { $0() }) }
        return single
    }

    func set(_ value: Value) { single = value }

    func set(_ key: any CodingKey, _ value: @escaping () -> Value) {
        let place = members?.firstIndex { $0.name.hasSameBytes(as: key.stringValue) }
        if let place {
            members?[place].value = value
        } else {
            members = (members ?? []) + [(key.stringValue, value)]
        }
    }

    func append(_ value: @escaping () -> Value) { elements = (elements ?? []) + [value] }
    var count: Int { elements?.count ?? 0 }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        members = members ?? []
        return KeyedEncodingContainer(Keyed<Key>(node: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        elements = elements ?? []
        return Unkeyed(node: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(node: self) }
}

private struct Keyed<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let node: Node
    var codingPath: [any CodingKey] { node.codingPath }

    private func put(_ value: Value, _ key: Key) { node.set(key) { value } }

    func encodeNil(forKey key: Key) { put(.null, key) }
    func encode(_ value: Bool, forKey key: Key) { put(.bool(value), key) }
    func encode(_ value: String, forKey key: Key) { put(.string(value), key) }
    func encode(_ value: Double, forKey key: Key) throws { put(try ValueEncoder.double(value, path(key)), key) }
    func encode(_ value: Float, forKey key: Key) throws { put(try ValueEncoder.float(value, path(key)), key) }
    func encode(_ value: some BinaryInteger & Encodable, forKey key: Key) throws {
        put(try ValueEncoder.integer(value, path(key)), key)
    }
    func encode(_ value: some Encodable, forKey key: Key) throws {
        put(try ValueEncoder.encodeAny(value, path: path(key)), key)
    }

    // Nil properties are encoded as null, not left out: an update clears their columns.
    func encodeIfPresent(_ value: Bool?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: String?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Double?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Float?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int8?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int16?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int32?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: Int64?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt8?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt16?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt32?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent(_ value: UInt64?, forKey key: Key) throws { try optional(value, key) }
    func encodeIfPresent<T: Encodable>(_ value: T?, forKey key: Key) throws { try optional(value, key) }

    private func optional(_ value: (some Encodable)?, _ key: Key) throws {
        if let value { put(try ValueEncoder.encodeAny(value, path: path(key)), key) } else { put(.null, key) }
    }

    private func path(_ key: any CodingKey) -> [any CodingKey] { codingPath + [key] }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer { nested(key).unkeyedContainer() }
    func superEncoder() -> any Encoder { nested(NamedKey("super")) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: any CodingKey) -> Node {
        let inner = Node(path(key))
        node.set(key) { inner.value }
        return inner
    }
}

private struct Unkeyed: UnkeyedEncodingContainer {
    let node: Node
    var codingPath: [any CodingKey] { node.codingPath }
    var count: Int { node.count }

    func encodeNil() { node.append { .null } }

    func encode(_ value: some Encodable) throws {
        let encoded = try ValueEncoder.encodeAny(value, path: codingPath)
        node.append { encoded }
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }

    private func nested() -> Node {
        let inner = Node(codingPath)
        node.append { inner.value }
        return inner
    }
}

private struct Single: SingleValueEncodingContainer {
    let node: Node
    var codingPath: [any CodingKey] { node.codingPath }

    func encodeNil() { node.set(.null) }
    func encode(_ value: Bool) { node.set(.bool(value)) }
    func encode(_ value: String) { node.set(.string(value)) }
    func encode(_ value: Double) throws { node.set(try ValueEncoder.double(value, codingPath)) }
    func encode(_ value: Float) throws { node.set(try ValueEncoder.float(value, codingPath)) }
    func encode(_ value: some BinaryInteger & Encodable) throws {
        node.set(try ValueEncoder.integer(value, codingPath))
    }
    func encode(_ value: some Encodable) throws { node.set(try ValueEncoder.encodeAny(value, path: codingPath)) }
}

/// A coding key with only a name.
struct NamedKey: CodingKey {
    let stringValue: String
    let intValue: Int?

    init(_ name: String) {
        stringValue = name
        intValue = nil
    }

    init?(stringValue: String) { self.init(stringValue) }

    init?(intValue: Int) {
        stringValue = "\(intValue)"
        self.intValue = intValue
    }
}

extension Timestamp {
    /// Midnight of the first day of the year 1, the least date of servers. `Date.distantPast` is two days before it, because
    /// Foundation counts the days of that time by the Julian calendar: it is stored as this moment, and read from it.
    private static let least = Instant(seconds: -62_135_596_800)

    /// Creates a timestamp, to the millisecond.
    init(_ date: Date) {
        self.init(date == .distantPast ? Timestamp.least : Instant(milliseconds: date.milliseconds))
    }

    var date: Date {
        instant == Timestamp.least
            ? .distantPast
            : Date(timeIntervalSince1970: Double(instant.seconds) + Double(instant.nanoseconds) / 1_000_000_000)
    }
}
