// Ids for rows that an app makes itself.

public import Foundation
import SynclineCore
import SynclineGround

/// Makes ids for rows: UUIDs of version 7, which begin with the time. Rows made one after another have neighbouring
/// ids, here and in a server's indexes, and sort by the time they were made.
public enum SyncID {
    /// The last id's milliseconds, and 12 bits below them that count within a millisecond.
    private static let last = Mutex<UInt64>(0)

    /// Returns a new id as an upper-case string. It is greater than all that this process made before.
    public static func make() -> String {
        uuid().uuidString
    }

    /// Returns a new id. It is greater than all that this process made before.
    public static func uuid() -> UUID {
        let (now, chance) = (SystemSource.milliseconds(), SystemSource.chance())
        let stamp = last.withLock { last in
            last = max(last + 1, UInt64(max(0, now)) << 12 | chance.high & 0x07ff)
            return last
        }
        let half = TimedID.halves(milliseconds: Int64(stamp >> 12), chance: (stamp & 0x0fff, chance.low))
        return UUID(uuid: withUnsafeBytes(of: half) { $0.loadUnaligned(as: uuid_t.self) })
    }
}
