// Runs a model's decoder without a row: it answers each request with a made-up value of the requested type, and
// notes the keys. Reads and writes no store.

import SynclineCore

/// What a model's decoder requested.
final class ProbeNotes {
    /// For each type of coding keys that the model uses, whether it has a name.
    var keys: [@Sendable (String) -> Bool] = []
    var names: Set<String> = []
}

/// A type for which no value can be made up.
private struct Unknown: Error {}

struct Probe: Decoder {
    /// Nil below a property: nested values have no columns.
    let notes: ProbeNotes?
    let depth: Int
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        notes?.keys.append { Key(stringValue: $0) != nil }
        return KeyedDecodingContainer(ProbeColumns<Key>(notes: notes, depth: depth))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { ProbeElements(depth: depth) }
    func singleValueContainer() -> any SingleValueDecodingContainer { ProbeValue(depth: depth) }

    /// Returns a probe for a value nested in this one.
    fileprivate static func below(_ depth: Int) -> Probe { Probe(notes: nil, depth: depth + 1) }

    /// Limits the depth of recursive types.
    private static let depthLimit = 8

    /// Sample values; one of them suits most types.
    private static let values: [Value] =
        ["a", 0, false, .date(Timestamp(.init(seconds: 0))), .bytes([]), [], [:], .null]
        + ["00000000-0000-0000-0000-000000000000", ""] + (1...16).map { .integer($0) }

    /// Makes up a value of a type.
    fileprivate static func make<Made: Decodable>(_ type: Made.Type, below depth: Int) throws -> Made {
        if let cases = type as? any CaseIterable.Type, let made = first(of: cases) as? Made { return made }
        for value in values {
            if let made = try? ValueDecoder.decodeAny(type, value, path: []) { return made }
        }
        guard depth < depthLimit else { throw Unknown() }
        return try Made(from: Probe.below(depth))
    }

    private static func first<Cases: CaseIterable>(of type: Cases.Type) -> Any? { type.allCases.first }
}

private struct ProbeColumns<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let notes: ProbeNotes?
    let depth: Int
    let codingPath: [any CodingKey] = []
    var allKeys: [Key] { [] }

    private func note(_ key: Key) { notes?.names.insert(key.stringValue) }

    func contains(_ key: Key) -> Bool {
        note(key)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool {
        note(key)
        return true
    }

    func decode<Made: Decodable>(_ type: Made.Type, forKey key: Key) throws -> Made {
        note(key)
        return try Probe.make(type, below: depth)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        note(key)
        return Probe.below(depth).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer {
        note(key)
        return Probe.below(depth).unkeyedContainer()
    }

    func superDecoder() -> any Decoder { Probe.below(depth) }

    func superDecoder(forKey key: Key) -> any Decoder {
        note(key)
        return Probe.below(depth)
    }
}

private struct ProbeElements: UnkeyedDecodingContainer {
    let depth: Int
    let codingPath: [any CodingKey] = []
    let count: Int? = 0
    let isAtEnd = true
    let currentIndex = 0

    func decodeNil() -> Bool { true }
    func decode<Made: Decodable>(_ type: Made.Type) throws -> Made { try Probe.make(type, below: depth) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
        Probe.below(depth).container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { Probe.below(depth).unkeyedContainer() }
    func superDecoder() -> any Decoder { Probe.below(depth) }
}

private struct ProbeValue: SingleValueDecodingContainer {
    let depth: Int
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool { true }
    func decode<Made: Decodable>(_ type: Made.Type) throws -> Made { try Probe.make(type, below: depth) }
}
