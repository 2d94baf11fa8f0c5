// The keys by which rows are related to those of another table. They are read in the encoded rows, so that each model is
// decoded once, when the list is made.

import SynclineCore

struct RelatedKeys<Model: SyncModel>: Sendable {
    /// The keys of a row; nil if only its model tells them.
    private let ofRow: @Sendable (StoredRow, KeyPlaces) -> [Value]?
    private let ofModel: @Sendable (Model) -> [Value]

    func all(of rows: [StoredRow], table: String) -> [Value] {
        let places = KeyPlaces()
        var (keys, decoding): ([Value], KeyPlaces?) = ([], nil)
        keys.reserveCapacity(rows.count)
        for row in rows {
            if let found = ofRow(row, places) {
                keys += found
                continue
            }
            // The error of a row that the model can't decode is thrown when the list is made.
            let decoded = decoding ?? KeyPlaces()
            decoding = decoded
            if let model = try? ModelCoding<Model>.decode(row, table: table, decoded) { keys += ofModel(model) }
        }
        return keys
    }

    /// The ids of the rows that are referred to.
    static func references<Target: SyncModel>(_ relation: Relation<Model, Target>) -> RelatedKeys {
        let (name, isText) = (try? relation.column.get(), Target.ID.self == String.self)
        @Sendable func keys(_ id: Target.ID?) -> [Value] { id?.rowIDs.map { .string($0) } ?? [] }
        return RelatedKeys { row, places in
            var values = RowValues(row.columns)
            let place = name.flatMap { places.place(of: $0, in: values.row.shape) }
            let value = place.map { values.value(at: $0) }
            switch value ?? .null {
            case .null: return relation.isOptional ? [] : nil
            case .string(let text) where isText: return [.string(text)]
            case let value: return (try? ValueDecoder.decode(Target.ID.self, from: value)).map(keys)
            }
        } ofModel: {
            keys(relation.reference($0))
        }
    }

    /// What a column that refers to the rows has.
    static var ids: RelatedKeys {
        @Sendable func keys(_ id: Model.ID) -> [Value] {
            if let texts = id.columnTexts { return texts.map { .string($0) } }
            // An id that can't be encoded is in no row.
            return (try? ValueEncoder.encode(id)).map { [$0] } ?? []
        }
        let isText = Model.ID.self == String.self
        return RelatedKeys { row, _ in
            isText ? [.string(row.id)] : Model.ID(rowID: row.id).map(keys) ?? []
        } ofModel: {
            keys($0.id)
        }
    }
}
