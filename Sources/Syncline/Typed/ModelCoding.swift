// Models as rows, and rows as models. A row's id is a string; the model's id may have another type.

import SynclineCore
import SynclineGround

enum ModelCoding<Model: SyncModel> {
    /// Decodes a row of a table.
    static func decode(_ row: StoredRow, table: String) throws(SyncError) -> Model {
        var decoder = RowDecoder()
        return try decode(row, table: table, with: &decoder)
    }

    /// Decodes a row of a table.
    /// - Parameter decoder: The same for each of many rows.
    static func decode(
        _ row: StoredRow, table: String, with decoder: inout RowDecoder
    ) throws(SyncError) -> Model {
        // A model may keep its decoder.
        if !isKnownUniquelyReferenced(&decoder) { decoder = RowDecoder() }
        let rowID = row.id
        do throws(SyncError) {
            decoder.begin(row.columns, id: try Model.ID.encoded(rowID: rowID))
            let model = try ValueDecoder.decode(Model.self, from: decoder)
            guard model.id.isFound(by: rowID) else {
                throw SyncError(
                    .invalidItem, "id: the model's id is not the id of the row",
                    hint: "A model's id is the column \"id\", or one with the same value.")
            }
            return model
        } catch {
            var named = error
            named.address = "\(table)/\(rowID)"
            throw named
        }
    }

    /// Returns a model's columns and the row's id. The id is the model's `id`, whatever its coding key is.
    static func members(of model: Model, rowID: String? = nil) throws(SyncError) -> [Value.Member] {
        guard case .object(var members) = try ValueEncoder.encode(model) else {
            throw SyncError(.invalidItem, "\(Model.self) does not encode itself as an object with columns")
        }
        let id = Value.Member("id", .string(rowID ?? model.id.newRowID))
        guard let place = members.firstIndex(where: { $0.name == "id" }) else { return [id] + members }
        guard members[place].value == (try ValueEncoder.encode(model.id)) else {
            throw SyncError(
                .invalidID, "\(Model.self) encodes an \"id\" that is not its own",
                hint: "Give that property another coding key.")
        }
        members[place] = id
        return members
    }

    /// The version of a model that has one.
    static func version(in members: [Value.Member]) -> String? {
        switch members[member: "version"] {
        case .string(let text)?: text
        case .bytes(let bytes)?: Base64.encode(bytes)
        default: nil
        }
    }
}
