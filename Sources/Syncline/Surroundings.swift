// The door to time and chance: what an event takes from the world before it is written. A test owns both.

import Foundation
import SegmentLog

/// The clock and the source of ids.
public protocol Surroundings: Sendable {
    /// Milliseconds since 1970.
    func now() -> Int64
    /// A new id, unlike any other.
    func newID() -> String
}

/// The system's clock, and upper-case UUIDs.
public struct SystemSurroundings: Surroundings {
    public init() {}

    public func now() -> Int64 { SystemClock().now().rawValue }

    public func newID() -> String { UUID().uuidString }
}
