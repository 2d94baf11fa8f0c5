// The door to time and chance: what an event takes from the world before it is written. A test owns both.

import SegmentLog
import SynclineCore

/// The clock and the source of ids.
public protocol Surroundings: Sendable {
    /// Milliseconds since 1970.
    func now() -> Int64
    /// A new id, unlike any other.
    func newID() -> String
    /// Lets some time go by; throws if the task is cancelled.
    func wait(milliseconds: Int64) async throws
    /// A number from 0 up to 1, without a pattern.
    func chance() -> Double
}

extension Surroundings {
    public func wait(milliseconds: Int64) async throws {
        try await Task.sleep(for: .milliseconds(milliseconds))
    }

    public func chance() -> Double { Double.random(in: 0..<1) }
}

/// The system's clock, and upper-case UUIDs that begin with its time (version 7).
public struct SystemSurroundings: Surroundings {
    /// The system's own.
    public init() {}

    public func now() -> Int64 { SystemClock().now().rawValue }

    public func newID() -> String {
        var generator = SystemRandomNumberGenerator()
        return TimedID.text(milliseconds: now(), chance: (generator.next(), generator.next()), isUpper: true)
    }
}
