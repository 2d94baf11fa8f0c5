// The first entries of an index that has the order of a query. They alone say which rows come first, so no other row is
// looked up.

import SynclineGround

struct FirstEntries: ~Copyable {
    /// Whether another entry can be wanted, or it turned out that the entries do not say enough.
    enum Step {
        case more
        case done
        case unsure
    }

    /// How many are wanted.
    private let limit: Int
    private let isBackward: Bool
    /// Only entries after this place are wanted: the sort keys, and the id in the form that keys have. None with sort keys
    /// before these is offered.
    private let after: (sortKeys: [UInt8], id: [UInt8])?
    private var keys: RowKeys
    /// The sort keys of the last entry, and where those that have the same begin. Among them ids decide, which sort as keys
    /// do within one form.
    private var sortKeys = KeyBuffer()
    private var start = 0
    private var form: UInt8?

    init(_ keys: RowKeys, limit: Int, isBackward: Bool, after: (sortKeys: [UInt8], id: [UInt8])?) {
        (self.keys, self.limit, self.isBackward, self.after) = (keys, limit, isBackward, after)
    }

    /// Offers the next entry in the direction of the order.
    /// - Parameter haveOneForm: Whether all ids of the table have one form.
    mutating func offer(
        sortKeys next: Bytes, id: Bytes, haveOneForm: () throws(SyncError) -> Bool
    ) throws(SyncError) -> Step {
        if form == nil || !next.hasSameBytes(as: sortKeys.bytes) {
            endGroup()
            if keys.count >= limit { return .done }
            sortKeys.replace(after: 0, with: next)
            (start, form) = (keys.count, id.first)
        } else if id.first != form {
            return .unsure
        } else if !isBackward, keys.count >= limit {
            return try haveOneForm() ? .done : .unsure
        }
        if let after, after.sortKeys.withBytes({ next.hasSameBytes(as: $0) }) {
            if id.first != after.id.first { return .unsure }
            if after.id.withBytes({ id.compare($0) <= 0 }) { return .more }
        }
        keys.append(id: id)
        return .more
    }

    /// Entries with the same sort keys are in the order of their ids, whatever the direction is.
    private mutating func endGroup() {
        if isBackward { keys.reverse(from: start) }
        start = keys.count
    }

    /// The keys of their rows, in order.
    consuming func finish() -> RowKeys {
        endGroup()
        keys.cut(to: limit)
        return keys
    }
}
