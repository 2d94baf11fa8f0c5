// A row of a result: values with the names of their columns.

import Syncline
public import SynclineCore

/// A row that a statement returned.
public struct SQLRow: Hashable, Sendable {
    /// The names of the columns. Of two columns with the name `n`, the second one is called `n:2`.
    public let columns: [String]
    /// The values in the order of the columns: null, integers, doubles, strings and bytes.
    public let values: [Value]

    /// The value of a column, by its position.
    public subscript(index: Int) -> Value { values[index] }

    /// The value of the column with a name, or nil if there is none.
    public subscript(name: String) -> Value? {
        columns.firstIndex(of: name).map { values[$0] }
    }
}

extension SQLRow: CustomStringConvertible {
    /// The row as a JSON object.
    public var description: String { object.debugDescription }

    private var object: Value { .object(zip(columns, values).map { .init($0, $1) }) }

    /// Decodes a model. A row of one column also decodes as a plain value, such as a number.
    func decode<Model: Decodable>(_ type: Model.Type) throws(SyncError) -> Model {
        if values.count == 1, let plain = try? ValueDecoder.decode(type, from: values[0], .sql) { return plain }
        return try ValueDecoder.decode(type, from: object, .sql)
    }
}
