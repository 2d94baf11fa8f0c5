// Which columns a model has: it is asked to decode a row that notes what is asked for. So a filter over a column the model
// does not have is an error, not a filter that no row matches.

import SynclineCore

enum ModelColumns {
    /// The names of a model's columns; nil if it decodes itself in a way that does not tell.
    static func names<Model: Decodable>(of type: Model.Type) -> Set<String>? {
        let notes = Notes()
        _ = try? Model(from: Probe(notes: notes))
        return notes.names.isEmpty ? nil : notes.names
    }

    /// The columns a filter names.
    static func names(in expression: Expression) -> Set<String> {
        switch expression {
        case .column(let path): [path[0]]
        case .literal: []
        case .compare(_, let left, let right), .arithmetic(_, let left, let right), .and(let left, let right),
            .or(let left, let right):
            names(in: left).union(names(in: right))
        case .negate(let inner), .not(let inner): names(in: inner)
        case .oneOf(let value, let choices): choices.reduce(into: names(in: value)) { $0.formUnion(names(in: $1)) }
        case .call(_, let arguments): arguments.reduce(into: []) { $0.formUnion(names(in: $1)) }
        }
    }
}

private final class Notes {
    var names: Set<String> = []
}

private struct Unknown: Error {}

/// Answers every question with a value of the type asked for, where it can.
private struct Probe: Decoder {
    let notes: Notes
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(ProbeColumns<Key>(notes: notes))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { throw Unknown() }
    func singleValueContainer() throws -> any SingleValueDecodingContainer { throw Unknown() }
}

private struct ProbeColumns<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let notes: Notes
    let codingPath: [any CodingKey] = []
    var allKeys: [Key] { [] }

    private func note(_ key: Key) { notes.names.insert(key.stringValue) }

    func contains(_ key: Key) -> Bool {
        note(key)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool {
        note(key)
        return true
    }

    func decode<Model: Decodable>(_ type: Model.Type, forKey key: Key) throws -> Model {
        note(key)
        for value in [
            Value.string("a"), .integer(0), .bool(false), .date(Timestamp(.init(seconds: 0))), .bytes([]), .array([]),
            .object([]),
        ] {
            if let model = try? ValueDecoder.decodeAny(type, value, path: []) { return model }
        }
        throw Unknown()
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> {
        note(key)
        throw Unknown()
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        note(key)
        throw Unknown()
    }

    func superDecoder() throws -> any Decoder { throw Unknown() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw Unknown() }
}
