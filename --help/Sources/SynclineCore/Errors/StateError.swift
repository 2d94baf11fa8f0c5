// Why the state can't be read or an event can't be folded into it. The state is derived data; such an error does not
// mean that the log is damaged.

package enum StateError: Error, Hashable, Sendable {
    /// A block of a checkpoint could not be read or written; the error has the reason and the place.
    case failed(SyncError)
    /// Bytes of the state or of an event are not valid.
    case malformed(String)
    /// An event was written by a newer version.
    case newer(String)
    /// The entries in the runs are not the ones that were folded.
    case untrue
}
