// Keeps which undone transactions can be made again. A change of the app ends that, and so does what takes rows away or
// gives their columns other names.

import SynclineGround

extension FoldState {
    func note(undone event: UInt64, by undo: UInt64) throws(SyncError) {
        var writer = ByteWriter()
        writer.append(varint: event)
        try set(Keyspace.undone(by: undo), writer.bytes)
        hasUndone = true
    }

    /// A transaction was made: what an undo took back, if it says so, otherwise a new one.
    func endRedo(after undo: UInt64?, hasMade: Bool) throws(SyncError) {
        if !hasUndone { return }
        if let undo { try set(Keyspace.undone(by: undo), nil) } else if hasMade { try endRedo() }
    }

    /// Nothing can be made again any more.
    func endRedo() throws(SyncError) {
        if !hasUndone { return }
        for key in try keys(prefix: [Keyspace.undone]) { try set(key, nil) }
        hasUndone = false
    }
}
