// Transactions that were undone and can be made again, until the app makes another change. The state has their numbers;
// the changes are in the log.
//
//   key    09 and the event of the undo
//   value  the event of the transaction

import SynclineGround

package struct UndoneTransaction: Hashable, Sendable {
    /// The event of the undo.
    package var undo: UInt64
    /// The event of the transaction.
    package var event: UInt64
}

extension Keyspace {
    static func undone(by undo: UInt64) -> [UInt8] {
        var key = ByteWriter()
        key.append(undone)
        key.append(ordered: undo)
        return key.bytes
    }
}

extension StateReader {
    /// The transactions that were undone, the one that was undone last first.
    package var undone: [UndoneTransaction] {
        get throws(SyncError) {
            var found: [UndoneTransaction] = []
            let first = facts.map(\.firstUndone) ?? 0
            guard let first else { return [] }
            // Those before it were removed, and to pass over them takes time.
            try snapshot.forEach(from: Keyspace.undone(by: first)) { key, value throws(SyncError) in
                guard key.first == Keyspace.undone else { return false }
                found.append(
                    try value.decoded(as: "an undone transaction") { reader throws(MalformedBytes) in
                        var number = ByteReader(UnsafeRawBufferPointer(rebasing: key[1...]))
                        return UndoneTransaction(undo: try number.ordered(), event: try reader.varint())
                    })
                return true
            }
            return found.reversed()
        }
    }
}
