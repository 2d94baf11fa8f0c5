// Time and randomness: everything that the service takes from its environment besides requests and rows. Tests replace
// both.

package import SynclineCore
import SynclineGround

/// A clock and a source of randomness.
package protocol ServerEnvironment: Sendable {
    /// Milliseconds since 1970.
    func now() -> Int64
    /// Sixteen random bytes.
    func chance() -> (high: UInt64, low: UInt64)
    /// The time that a database uses in place of its own clock, for tests.
    var databaseClock: Int64? { get }
    /// How long a read waits for transactions that began before it.
    /// - Parameter isHeld: Whether one of them has run for long.
    func patience(isHeld: Bool) -> Duration
}

extension ServerEnvironment {
    package var databaseClock: Int64? { nil }

    package func patience(isHeld: Bool) -> Duration { isHeld ? .zero : .milliseconds(50) }

    /// 32 hexadecimal digits.
    package func newHexadecimal() -> String {
        let (high, low) = chance()
        return Hexadecimal.text(high, digits: 16) + Hexadecimal.text(low, digits: 16)
    }

    /// An id for a row, in the form of the protocol's servers: a UUID in lower case, or its digits alone.
    package func newID(_ serverProtocol: ServerProtocol) -> String {
        let id = TimedID.text(milliseconds: now(), chance: chance(), isUpper: false)
        return serverProtocol == .datasync3 ? id.filter { $0 != "-" } : id
    }

    package func newEpoch() -> String { String(newHexadecimal().suffix(16)) }
}
