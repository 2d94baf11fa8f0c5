// Why the state can't be read or an event can't be folded into it. The state is derived: whatever it says, the log is
// whole or says itself what it lost.

package enum StateError: Error, Hashable, Sendable {
    /// A block of a checkpoint could not be read or written; the error says why, and where.
    case failed(SyncError)
    /// Bytes of the state or of an event are not what this version writes.
    case malformed(String)
    /// An event was written by a newer version.
    case newer(String)
    /// The entries that the runs hold are not those that were folded.
    case untrue
}
