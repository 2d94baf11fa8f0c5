// The decoder of models from rows: it reads each value in the encoded row, at a place that is found once for rows of one
// shape.

import SynclineCore
import SynclineGround

/// The places of a model's keys in rows of one shape.
struct KeyPlaces {
    private var shape: RowShape?
    private var known: [(name: String, place: Int?)] = []
    private var next = 0

    mutating func begin(_ shape: RowShape) {
        next = 0
        if shape !== self.shape { (self.shape, known) = (shape, []) }
    }

    /// A model asks for the same names in the same order, row after row.
    mutating func place(of name: String) -> Int? {
        if next >= known.count || !known[next].name.hasSameBytes(as: name) {
            next = known.firstIndex { $0.name.hasSameBytes(as: name) } ?? known.count
            if next == known.count { known.append((name, shape?.place(of: name))) }
        }
        defer { next = next + 1 == known.count ? 0 : next + 1 }
        return known[next].place
    }
}

/// A row while a model is made of it, and then the next row.
final class RowDecoder: Decoder {
    // Unchecked: one thread makes a model, and nothing here is called from within itself.
    @exclusivity(unchecked) private var values = RowValues(.empty)
    @exclusivity(unchecked) private var id = Value.null
    @exclusivity(unchecked) private var places = KeyPlaces()
    var codingPath: [any CodingKey] { [] }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    /// - Parameter id: The id as the model encodes it.
    func begin(_ row: Row, id: Value) {
        (values, self.id) = (RowValues(row), id)
        places.begin(row.shape)
    }

    func value(_ name: String) -> Value? {
        if name == "id" { return id }
        return places.place(of: name).map { values.value(at: $0) }
    }

    func contains(_ name: String) -> Bool {
        name == "id" || places.place(of: name) != nil
    }

    var names: [String] { ["id"] + values.row.columns }

    private var whole: ValueSource {
        ValueSource(value: .object([.init("id", id)] + values.row.members), origin: .row, parentPath: [])
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(RowSource<Key>(row: self))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer { try whole.unkeyedContainer() }
    func singleValueContainer() -> any SingleValueDecodingContainer { whole }
}
