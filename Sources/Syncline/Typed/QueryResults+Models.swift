// The difference between two results of a live typed query.

import SynclineCore

extension QueryResults where Element: RangeReplaceableCollection, Element.Element: SyncModel {
    /// The same results, each with what differs from the one before, for lists that are updated row by row:
    /// `for try await change in try todos.observe().differences`. Only models whose rows are new, have moved or changed
    /// are decoded.
    public var differences: QueryDifferences<Element, Element.Element> {
        QueryDifferences(results: self, list: \.all)
    }
}

extension RangeReplaceableCollection {
    /// The elements.
    fileprivate var all: [Element] {
        get { Array(self) }
        set { self = Self(newValue) }
    }
}
