// What listeners are told: the latest change mark, and the tables that changed since an earlier one.

import SynclineGround
package import SynclineWire

package struct ChangeNews: Hashable, Sendable {
    package var mark: ChangeMark
    /// The tables with changes; nil: any may have some.
    package var tables: Set<String>?

    package init(_ mark: ChangeMark, _ tables: Set<String>? = nil) { (self.mark, self.tables) = (mark, tables) }

    package var cursor: String { ChangeCursor(epoch: mark.epoch, change: mark.change).text }
}

extension ChangeMark {
    /// Whether both are the same place in the order of changes.
    package func isAt(_ other: ChangeMark) -> Bool { change == other.change && epoch == other.epoch }
}

extension TableStore {
    package func news(since known: ChangeMark?, isWhole: Bool) throws(StoreFailure) -> ChangeNews {
        ChangeNews(try mark())
    }
}
