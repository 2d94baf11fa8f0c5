// Runs a model's decoder without a row: every question is answered with a made-up value of the type asked for, and the keys
// that it asks with are noted. Nothing here reads or writes a store.

import SynclineCore

/// What a model asked for.
final class ProbeNotes {
    /// Each type of coding keys that the model asks with, as the question whether it has a name.
    var keys: [@Sendable (String) -> Bool] = []
    var names: Set<String> = []
}

/// A type whose values can't be made up.
private struct Unknown: Error {}

struct Probe: Decoder {
    /// Nil below a property: what is nested has no columns.
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

    /// A value below this one.
    fileprivate static func below(_ depth: Int) -> Probe { Probe(notes: nil, depth: depth + 1) }

    /// A type that holds itself ends here.
    private static let depthLimit = 8

    /// Values of which one suits most types.
    private static let values: [Value] =
        ["a", 0, false, .date(Timestamp(.init(seconds: 0))), .bytes([]), [], [:], .null]
        + ["00000000-0000-0000-0000-000000000000", ""] + (1...16).map { .integer($0) }

    /// Makes up a value.
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
