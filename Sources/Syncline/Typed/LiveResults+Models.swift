// The difference between two results of a live typed query.

import SynclineCore

extension LiveResults where Element: RangeReplaceableCollection, Element.Element: SyncModel, Failure == SyncError {
    /// The same results, each with what differs from the one before, for lists that are updated row by row:
    /// `for try await change in try todos.observe().differences`. Only models whose rows are new, have moved or changed
    /// are decoded.
    public var differences: LiveResults<LiveDifference<Element, Element.Element>, SyncError> { differences(\.all) }
}

extension RangeReplaceableCollection {
    /// The elements.
    fileprivate var all: [Element] {
        get { Array(self) }
        set { self = Self(newValue) }
    }
}
