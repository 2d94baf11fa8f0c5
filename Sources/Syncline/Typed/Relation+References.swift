// The ids by which rows are related to those of another table. They are read in the encoded rows, so that each model is
// decoded once, when the list is made.

import Foundation
import SynclineCore

extension Relation {
    /// Returns the ids to which the rows of a table refer.
    func references(of rows: [StoredRow], in table: String) -> RowReferences {
        var references = RowReferences()
        let (name, form) = (try? column.get(), Target.ID.form)
        references.append(name ?? "", of: rows, as: form, isOptional: isOptional && name != nil) { row, references in
            for id in ids(rows[row], name, table) { references.append(id, of: row) }
        }
        return references
    }

    /// Returns the ids to which a row refers, which may be those that one row has.
    private func ids(
        _ row: StoredRow, _ column: String?, _ table: String
    ) -> [String] {
        if let value = column.flatMap({ row.columns[$0] }), !value.isNull,
            let id = try? ValueDecoder.decode(Target.ID.self, from: value)
        {
            return id.rowIDs
        }
        // Only its model tells. The error of a row that the model can't decode is thrown when the list is made.
        let model = try? ModelCoding<Source>.decode(row, table: table)
        return model.flatMap(reference)?.rowIDs ?? []
    }
}

extension RowIdentifier {
    /// How a column holds such ids.
    fileprivate static var form: RowReferences.Form {
        if Self.self == String.self { return .text }
        return Self.self == UUID.self ? .uuid : .other
    }

    /// What a column that refers to rows has.
    static func values(of rows: [StoredRow]) -> [Value] {
        if Self.self == String.self { return rows.map { .string($0.id) } }
        return rows.flatMap { row -> [Value] in
            guard let id = Self(rowID: row.id) else { return [] }
            if let texts = id.columnTexts { return texts.map { .string($0) } }
            // An id that can't be encoded is in no row.
            return (try? ValueEncoder.encode(id)).map { [$0] } ?? []
        }
    }
}
