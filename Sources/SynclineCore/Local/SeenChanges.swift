// Decides whether a change of another process meets something that the process had not seen: the row is gone, or has
// another value in a column that the change sets. Values decide, so a column that was set away and back does not count.

import SynclineGround

struct SeenChanges {
    /// The columns that earlier changes of the transaction set, by the row's key; nil for the whole row.
    private var made: [[UInt8]: Set<ExactString>?] = [:]

    /// - Parameter local: Columns that never leave the device. The last process that sets them wins.
    mutating func isMet(
        _ change: LocalChange, _ key: [UInt8], _ local: Set<ExactString>, by current: Row?, _ types: TableTypes
    ) -> Bool {
        let columns = change.kind == .update ? change.columns.columns.exact : nil
        guard let earlier = made[key] else {
            made[key] = columns
            return SeenChanges.isMet(change, local, by: current, types)
        }
        // A row that the transaction itself made or removed is compared once.
        guard let earlier else { return false }
        made[key] = columns.map { $0.union(earlier) }
        return SeenChanges.isMet(change, local.union(earlier), by: current, types)
    }

    private static func isMet(
        _ change: LocalChange, _ ignored: Set<ExactString>, by current: Row?, _ types: TableTypes
    ) -> Bool {
        switch (change.kind, current) {
        case (.insert, nil), (.delete, nil): return false
        case (.update, nil): return true
        case (.insert, let current?), (.update, let current?):
            let columns = change.columns.without(ignored)
            return !columns.collidingColumns(with: current, since: change.seen, types).isEmpty
        case (.delete, let current?):
            guard let seen = change.seen else { return true }
            let names = seen.own.columns.exact.union(current.own.columns.exact).subtracting(ignored)
            return names.contains { !types[$0.text].areSame(seen[$0.text] ?? .null, current[$0.text] ?? .null) }
        }
    }
}
