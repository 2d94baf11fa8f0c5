// The values for the parameters of a statement. Values are always bound; they are never part of its text.

public import SynclineCore

/// The values for a statement's parameters: `["milk", 3]` for `?`, or `["text": "milk"]` for `:text`.
public struct SQLArguments: Hashable, Sendable {
    /// The values for parameters without a name, in order.
    public var values: [Value]
    /// The values for parameters with a name, which is given without its colon.
    public var named: [String: Value]

    /// Creates arguments.
    public init(_ values: [Value] = [], named: [String: Value] = [:]) {
        self.values = values
        self.named = named
    }
}

extension SQLArguments: ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral {
    /// Creates arguments for parameters without names.
    public init(arrayLiteral elements: Value...) {
        self.init(elements)
    }

    /// Creates arguments for parameters with names. If a name is given twice, the last value counts.
    public init(dictionaryLiteral elements: (String, Value)...) {
        self.init(named: Dictionary(elements) { $1 })
    }
}
