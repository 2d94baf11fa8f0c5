// A row of a result: values with the names of their columns.

public import Syncline
import SynclineGround

/// A row that a statement returned.
public struct SQLRow: Hashable, Sendable {
    /// The names of the columns. Of two columns with the name `n`, the second one is called `n:2`.
    public let columns: [String]
    /// The values of a few rows, one row after another, so that not each of them allocates an array.
    private let shared: [Value]
    private let start: Int

    init(columns: [String], of shared: [Value], from start: Int = 0) {
        (self.columns, self.shared, self.start) = (columns, shared, start)
    }

    private var slice: ArraySlice<Value> { shared[start..<start + columns.count] }

    /// The values in the order of the columns: null, integers, doubles, strings and bytes.
    public var values: [Value] { Array(slice) }

    /// The value of a column, by its position.
    public subscript(index: Int) -> Value { slice[start + index] }

    /// The value of the column with a name, or nil if there is none.
    public subscript(name: String) -> Value? {
        columns.firstIndex { $0.hasSameBytes(as: name) }.map { self[$0] }
    }

    public static func == (left: SQLRow, right: SQLRow) -> Bool {
        left.columns == right.columns && left.slice == right.slice
    }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(columns)
        hasher.combine(slice)
    }
}

extension SQLRow: CustomStringConvertible {
    /// The row as a JSON object.
    public var description: String { object.debugDescription }

    private var object: Value { .object(zip(columns, slice).map { .init($0, $1) }) }

    /// Decodes a model. A row of one column also decodes as a plain value, such as a number.
    func decode<Model: Decodable>(_ type: Model.Type) throws(SyncError) -> Model {
        if columns.count == 1, let plain = try? ValueDecoder.decode(type, from: self[0], .sql) { return plain }
        return try ValueDecoder.decode(type, from: object, .sql)
    }
}
