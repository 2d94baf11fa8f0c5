// The content of a live query: computed from a state once, then kept up to date from the rows that changed.

package protocol LiveContent: SendableMetatype {
    associatedtype Result: Hashable & Sendable

    /// The tables, each once; nil for all tables.
    var tables: [String]? { get }
    /// The shown content.
    var result: Result { get }

    /// Computes the result from a state.
    mutating func load(_ reader: StateReader) throws(SyncError)

    /// Takes the changed rows of one table into account. Returns whether the result may have changed. Changes of several
    /// tables between the same two states are given one after the other, in the order of `tables`.
    mutating func update(_ changes: TableChanges) throws(SyncError) -> Bool
}
