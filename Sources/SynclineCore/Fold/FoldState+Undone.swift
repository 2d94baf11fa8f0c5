// Keeps which undone transactions can be made again. A change of the app ends that, and so does what takes rows away or
// gives their columns other names.

import SynclineGround

extension FoldState {
    func note(undone event: UInt64, by undo: UInt64) throws(SyncError) {
        var writer = ByteWriter()
        writer.append(varint: event)
        try set(Keyspace.undone(by: undo), writer.bytes)
        firstUndone = min(firstUndone ?? undo, undo)
    }

    /// A transaction was made: what an undo took back, if it says so, otherwise a new one.
    func endRedo(after undo: UInt64?, hasMade: Bool) throws(SyncError) {
        if firstUndone == nil { return }
        if let undo { try set(Keyspace.undone(by: undo), nil) } else if hasMade { try endRedo() }
    }

    /// Nothing can be made again any more.
    func endRedo() throws(SyncError) {
        guard let first = firstUndone else { return }
        // Those before it were removed, and to pass over them takes time.
        for key in try keys(prefix: [Keyspace.undone], from: Keyspace.undone(by: first)) { try set(key, nil) }
        firstUndone = nil
    }
}
