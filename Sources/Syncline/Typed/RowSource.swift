// The values of a row as a model asks for them by its keys.

import SynclineCore

struct RowSource<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let row: RowDecoder

    /// The same in general.
    private var whole: KeyedSource<Key> { KeyedSource(.row(row), .row, []) }

    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { whole.allKeys }
    func contains(_ key: Key) -> Bool { row.contains(key.stringValue) }
    func decodeNil(forKey key: Key) -> Bool { row.value(key.stringValue)?.isNull ?? true }

    // The generic functions do the same for each type, and take longer. So does what converts values and makes errors.
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool {
        if case .bool(let value)? = row.value(key.stringValue) { return value }
        return try whole.decode(type, forKey: key)
    }

    func decode(_ type: String.Type, forKey key: Key) throws -> String {
        if case .string(let value)? = row.value(key.stringValue) { return value }
        return try whole.decode(type, forKey: key)
    }

    func decode(_ type: Double.Type, forKey key: Key) throws -> Double {
        if case .double(let value)? = row.value(key.stringValue) { return value }
        return try whole.decode(type, forKey: key)
    }

    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 {
        if case .integer(let value)? = row.value(key.stringValue) { return value }
        return try whole.decode(type, forKey: key)
    }

    func decode(_ type: Int.Type, forKey key: Key) throws -> Int {
        if case .integer(let number)? = row.value(key.stringValue), let value = Int(exactly: number) { return value }
        return try whole.decode(type, forKey: key)
    }

    func decode<Model: Decodable>(_ type: Model.Type, forKey key: Key) throws -> Model {
        try whole.decode(type, forKey: key)
    }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? {
        switch row.value(key.stringValue) {
        case .bool(let value)?: value
        case .null?, nil: nil
        default: try whole.decodeIfPresent(type, forKey: key)
        }
    }

    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? {
        switch row.value(key.stringValue) {
        case .string(let value)?: value
        case .null?, nil: nil
        default: try whole.decodeIfPresent(type, forKey: key)
        }
    }

    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? {
        switch row.value(key.stringValue) {
        case .double(let value)?: value
        case .null?, nil: nil
        default: try whole.decodeIfPresent(type, forKey: key)
        }
    }

    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? {
        switch row.value(key.stringValue) {
        case .integer(let value)?: value
        case .null?, nil: nil
        default: try whole.decodeIfPresent(type, forKey: key)
        }
    }

    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? {
        try whole.decodeIfPresent(type, forKey: key)
    }

    func decodeIfPresent<Model: Decodable>(_ type: Model.Type, forKey key: Key) throws -> Model? {
        try whole.decodeIfPresent(type, forKey: key)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        try whole.nestedContainer(keyedBy: type, forKey: key)
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try whole.nestedUnkeyedContainer(forKey: key)
    }

    func superDecoder() throws -> any Decoder { try whole.superDecoder() }
    func superDecoder(forKey key: Key) throws -> any Decoder { try whole.superDecoder(forKey: key) }
}
