// Runs a model's decoder without a row: it answers each request with a made-up value of the requested type, and
// notes the keys. Reads and writes no store.

import SynclineCore

/// What a model's decoder requested.
final class ProbeNotes {
    /// For each type of coding keys that the model uses, whether it has a name.
    var keys: [@Sendable (String) -> Bool] = []
    var names: Set<String> = []
    /// The known types of columns.
    var types: [String: ColumnType] = [:]
}

/// A type for which no value can be made up.
private struct Unknown: Error {}

/// Which values are made up a second way.
private enum Variation {
    case none, all
    /// The value at a path alone. What it is nested in is there.
    case path(ArraySlice<String>)

    func isVaried(_ key: any CodingKey) -> Bool {
        switch self {
        case .none: false
        case .all: true
        case .path(let names): names.count == 1 && key.stringValue == names.first
        }
    }

    /// The variation of a value whose members are varied in part; nil for another one.
    func below(_ key: any CodingKey) -> Variation? {
        guard case .path(let names) = self, names.count > 1, key.stringValue == names.first else { return nil }
        return .path(names.dropFirst())
    }
}

struct Probe: Decoder {
    /// Nil below a property: nested values have no columns.
    private let notes: ProbeNotes?
    private let depth: Int
    private let variation: Variation
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    init(notes: ProbeNotes) {
        self.init(notes, 0, .none)
    }

    /// Creates a probe that gives one column, or one member of it, another value than the first probe does.
    init(varying path: [String], notes: ProbeNotes) {
        self.init(notes, 0, .path(path[...]))
    }

    private init(_ notes: ProbeNotes?, _ depth: Int, _ variation: Variation) {
        self.notes = notes
        self.depth = depth
        self.variation = variation
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        notes?.keys.append { Key(stringValue: $0) != nil }
        return KeyedDecodingContainer(ProbeColumns<Key>(probe: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { ProbeElements(probe: self) }
    func singleValueContainer() -> any SingleValueDecodingContainer { ProbeValue(probe: self) }

    fileprivate func note(_ key: any CodingKey) { notes?.names.insert(key.stringValue) }
    fileprivate func note(_ type: Any.Type, _ key: any CodingKey) {
        notes?.types[key.stringValue] = PropertyType(type).column
    }
    fileprivate func isVaried(_ key: any CodingKey) -> Bool { variation.isVaried(key) }
    fileprivate var isVaried: Bool { if case .all = variation { true } else { false } }

    /// Returns a probe for a value at a key, if its members are varied in part.
    fileprivate func partly(_ key: any CodingKey) -> Probe? {
        variation.below(key).map { Probe(nil, depth + 1, $0) }
    }

    /// Returns a probe for a value nested in this one.
    fileprivate func below(varied: Bool) -> Probe { Probe(nil, depth + 1, varied ? .all : .none) }

    /// Limits the depth of recursive types.
    private static let depthLimit = 8

    /// Sample values; two of them suit most types.
    private static let values: [Value] =
        ["a", 0, false, true, .date(Timestamp(.init(seconds: 0))), .date(Timestamp(.init(seconds: 86_400)))]
        + [.bytes([]), .bytes([1]), [], [:], .null]
        + ["00000000-0000-0000-0000-000000000000", "00000000-0000-0000-0000-000000000001", ""]
        + (1...16).map { .integer($0) }

    /// Makes up a value of a type; with `varied`, another one than without.
    fileprivate func make<Made: Decodable>(_ type: Made.Type, varied: Bool) throws -> Made {
        if let cases = type as? any CaseIterable.Type, let made = Probe.member(of: cases, varied: varied) as? Made {
            return made
        }
        var first: Value?
        for value in Probe.values {
            guard let made = try? ValueDecoder.decodeAny(type, value, .row, path: []) else { continue }
            guard varied else { return made }
            // The value as a model encodes it shows whether it is another one.
            guard let encodable = made as? any Encodable, let encoded = try? ValueEncoder.encode(encodable) else {
                break
            }
            if let first, first != encoded { return made }
            first = encoded
        }
        guard depth < Probe.depthLimit else { throw Unknown() }
        return try Made(from: below(varied: varied))
    }

    private static func member<Cases: CaseIterable>(of type: Cases.Type, varied: Bool) -> Any? {
        varied ? type.allCases.dropFirst().first : type.allCases.first
    }
}

private struct ProbeColumns<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let probe: Probe
    let codingPath: [any CodingKey] = []
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool {
        probe.note(key)
        return true
    }

    func decodeNil(forKey key: Key) -> Bool {
        probe.note(key)
        return !probe.isVaried(key) && probe.partly(key) == nil
    }

    func decode<Made: Decodable>(_ type: Made.Type, forKey key: Key) throws -> Made {
        probe.note(key)
        probe.note(type, key)
        if let probe = probe.partly(key) { return try Made(from: probe) }
        return try probe.make(type, varied: probe.isVaried(key))
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedDecodingContainer<Nested> {
        nested(key).container(keyedBy: type)
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedDecodingContainer { nested(key).unkeyedContainer() }
    func superDecoder() -> any Decoder { probe.below(varied: false) }
    func superDecoder(forKey key: Key) -> any Decoder { nested(key) }

    private func nested(_ key: Key) -> Probe {
        probe.note(key)
        probe.note([Value].self, key)
        return probe.partly(key) ?? probe.below(varied: probe.isVaried(key))
    }
}

/// An array: empty, or with one element if it is varied.
private struct ProbeElements: UnkeyedDecodingContainer {
    let probe: Probe
    let codingPath: [any CodingKey] = []
    var currentIndex = 0
    var count: Int? { probe.isVaried ? 1 : 0 }
    var isAtEnd: Bool { currentIndex >= (probe.isVaried ? 1 : 0) }

    func decodeNil() -> Bool { false }

    mutating func decode<Made: Decodable>(_ type: Made.Type) throws -> Made {
        currentIndex += 1
        return try probe.make(type, varied: probe.isVaried)
    }

    mutating func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedDecodingContainer<Nested> {
        next().container(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() -> any UnkeyedDecodingContainer { next().unkeyedContainer() }
    mutating func superDecoder() -> any Decoder { next() }

    private mutating func next() -> Probe {
        currentIndex += 1
        return probe.below(varied: probe.isVaried)
    }
}

private struct ProbeValue: SingleValueDecodingContainer {
    let probe: Probe
    let codingPath: [any CodingKey] = []

    func decodeNil() -> Bool { !probe.isVaried }

    func decode<Made: Decodable>(_ type: Made.Type) throws -> Made {
        try probe.make(type, varied: probe.isVaried)
    }
}
