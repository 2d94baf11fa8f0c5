// Decides whether a database is still the one that a server knew, or an older copy of it: a standby that was promoted
// before it had received everything, or a backup. Such a copy would issue numbers again that clients have seen.

import SynclineTables
import SynclineWire

/// What a database says about itself.
struct DatabaseState: Hashable, Sendable {
    /// How the database compares with the one in which the epoch began.
    enum Origin: Int64, Sendable {
        /// Another database, or one with another history.
        case other = 0
        case same = 1
        /// A standby, which follows a database and may lack its latest changes.
        case standby = 2
    }

    var epoch: String
    /// The latest change before which none is missing.
    var change: Int64
    var purged: Int64 = 0
    var origin: Origin
    /// The latest number that was issued.
    var issued: Int64
    /// The latest number that a tick covers, even if it is not complete.
    var ticked: Int64
    /// No change has or will have a time up to this one and a number after `change`. Nil: each time is closed.
    var closed: ClosedInstant?

    init(epoch: String, change: Int64, purged: Int64 = 0, origin: Origin) {
        (self.epoch, self.change, self.purged, self.origin) = (epoch, change, purged, origin)
        (issued, ticked) = (change, change)
    }

    /// The latest number that was issued, if readers don't see all changes up to it.
    /// - Parameter wanted: The number that they want to see; nil: all.
    func late(for wanted: Int64?) -> Int64? { origin != .standby && change < wanted ?? issued ? issued : nil }

    var mark: ChangeMark { ChangeMark(epoch: epoch, change: change, purged: purged) }
}

/// The latest change that is known to be committed.
struct Continuity: Hashable, Sendable {
    enum Verdict: Hashable, Sendable {
        case continues
        /// A new epoch must begin; the reason is a sentence.
        case older(String)
        /// A standby that lacks changes which were committed.
        case lagging
    }

    private var epoch = ""
    private var change: Int64 = 0

    mutating func note(_ state: DatabaseState) {
        change = state.epoch == epoch ? max(change, state.change) : state.change
        epoch = state.epoch
    }

    /// Judges a state that was read after everything that is known here was committed.
    func judge(_ state: DatabaseState) -> Verdict {
        let latest = state.origin == .standby ? state.change : state.issued
        let lacksChanges = state.epoch == epoch && latest < change
        switch state.origin {
        case .standby: return lacksChanges ? .lagging : .continues
        case .other: return .older("it was promoted, restored or copied since its epoch began")
        case .same where lacksChanges:
            return .older("its latest change is \(latest), but \(change) was committed before")
        case .same: return .continues
        }
    }

    /// What an operator is told about a new epoch.
    static func note(_ reason: String) -> String {
        "the database is an older copy, so a new epoch began and clients read everything again: \(reason)"
    }

    func check(_ state: DatabaseState) throws(StoreFailure) {
        switch judge(state) {
        case .continues: return
        case .older(let reason): throw .replaced(FailureReason(.other, "the database is an older copy: \(reason)"))
        case .lagging: throw .busy(FailureReason(.readOnly, "the standby has not received all changes yet"))
        }
    }
}
