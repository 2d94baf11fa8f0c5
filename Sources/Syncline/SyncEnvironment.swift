// The clock and the source of randomness, as a protocol so that tests can control both.

import SynclineCore
import SynclineGround

/// A clock and a source of ids.
public protocol SyncEnvironment: Sendable {
    /// Milliseconds since 1970.
    func now() -> Int64
    /// Returns a new unique id.
    func newID() -> String
    /// Waits; throws if the task is cancelled.
    func wait(milliseconds: Int64) async throws
    /// Returns a random number in 0..<1.
    func chance() -> Double
}

extension SyncEnvironment {
    public func wait(milliseconds: Int64) async throws {
        try await Task.sleep(for: .milliseconds(milliseconds))
    }

    public func chance() -> Double { SystemSource.fraction() }
}

/// The system's clock, and upper-case version 7 UUIDs, which begin with the time.
public struct SystemEnvironment: SyncEnvironment {
    /// Creates the system environment.
    public init() {}

    public func now() -> Int64 { SystemSource.milliseconds() }

    public func newID() -> String {
        TimedID.text(milliseconds: now(), chance: SystemSource.chance(), isUpper: true)
    }
}
