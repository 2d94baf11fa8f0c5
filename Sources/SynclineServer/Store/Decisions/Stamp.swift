// The number and time of a write.

import SynclineCore

/// A position in the order of changes.
struct Stamp: Hashable, Sendable {
    var change: Int64
    /// Milliseconds since 1970.
    var time: Int64

    var instant: Timestamp.Instant { .init(milliseconds: time) }
}
