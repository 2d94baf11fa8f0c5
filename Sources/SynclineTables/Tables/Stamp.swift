// When a write happened.

package import SynclineCore

/// A position in the order of changes.
package struct Stamp: Hashable, Sendable {
    package var change: Int64
    /// Milliseconds since 1970.
    package var time: Int64

    package init(change: Int64, time: Int64) { (self.change, self.time) = (change, time) }

    package var instant: Timestamp.Instant { .init(milliseconds: time) }
}

extension Timestamp {
    /// A moment as text. Those of whole milliseconds have the same length, so that they sort in the order of the moments.
    package static func text(milliseconds: Int64) -> String {
        Timestamp(.init(milliseconds: milliseconds)).description
    }
}
