// The decoder of a model from a row: it reads each value in the encoded row, at a place that is found once for rows of one
// shape.

import SynclineCore
import SynclineGround

/// The places of a model's keys in rows of one shape.
final class KeyPlaces {
    private var shape: RowShape?
    private var known: [(name: String, place: Int?)] = []
    private var next = 0

    /// A model asks for the same names in the same order, row after row.
    func place(of name: String, in shape: RowShape) -> Int? {
        if shape !== self.shape { (self.shape, known, next) = (shape, [], 0) }
        if next >= known.count || !known[next].name.hasSameBytes(as: name) {
            next = known.firstIndex { $0.name.hasSameBytes(as: name) } ?? known.count
            if next == known.count { known.append((name, shape.place(of: name))) }
        }
        defer { next = next + 1 == known.count ? 0 : next + 1 }
        return known[next].place
    }
}

/// A row while a model is made of it.
final class RowDecoder: Decoder {
    private var values: RowValues
    private let id: Value
    private let places: KeyPlaces
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// - Parameter id: The id as the model encodes it.
    init(_ row: Row, id: Value, _ places: KeyPlaces) {
        (values, self.id, self.places) = (RowValues(row), id, places)
    }

    func value(_ name: String) -> Value? {
        if name == "id" { return id }
        return places.place(of: name, in: values.row.shape).map { values.value(at: $0) }
    }

    func contains(_ name: String) -> Bool {
        name == "id" || places.place(of: name, in: values.row.shape) != nil
    }

    var names: [String] { ["id"] + values.row.columns }

    private var whole: ValueSource {
        ValueSource(value: .object([.init("id", id)] + values.row.members), origin: .row, parentPath: [])
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(KeyedSource<Key>(.row(self), .row, []))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try whole.unkeyedContainer() }
    func singleValueContainer() -> any SingleValueDecodingContainer { whole }
}
