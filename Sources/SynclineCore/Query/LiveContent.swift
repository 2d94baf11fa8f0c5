// What a live query shows of one table: computed from a state once, then kept up to date from the rows that changed.

package protocol LiveContent: SendableMetatype {
    associatedtype Result: Hashable & Sendable

    /// The table.
    var table: String { get }
    /// What is shown.
    var result: Result { get }

    /// Computes the result from a state.
    mutating func load(_ reader: StateReader) throws(StateError)

    /// Takes changed rows into account. Returns whether the result may have changed.
    mutating func update(_ changes: TableChanges) throws(StateError) -> Bool
}
