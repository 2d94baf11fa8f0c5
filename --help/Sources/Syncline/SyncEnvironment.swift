// The clock and the source of randomness, as a protocol so that tests can control both.

public import Foundation
import SynclineCore
import SynclineGround

/// A clock and a source of ids.
public protocol SyncEnvironment: Sendable {
    /// The current time. The store records it to the millisecond.
    func now() -> Date
    /// Returns a new unique id.
    func newID() -> String
    /// Waits; throws if the task is cancelled.
    func wait(for duration: Duration) async throws
    /// Returns a random number in 0..<1.
    func chance() -> Double
}

extension SyncEnvironment {
    public func wait(for duration: Duration) async throws { try await Task.sleep(for: duration) }

    public func chance() -> Double { SystemSource.fraction() }

    /// The current time in milliseconds since 1970.
    package func milliseconds() -> Int64 { now().milliseconds }
}

/// The system's clock, and upper-case version 7 UUIDs, which begin with the time.
public struct SystemEnvironment: SyncEnvironment {
    /// Creates the system environment.
    public init() {}

    public func now() -> Date { Date(milliseconds: SystemSource.milliseconds()) }

    public func newID() -> String {
        TimedID.text(milliseconds: SystemSource.milliseconds(), chance: SystemSource.chance(), isUpper: true)
    }
}
