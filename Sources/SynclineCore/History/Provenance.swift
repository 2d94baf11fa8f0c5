// The cause of a field's value in an event: the decision and its reason.

import SynclineGround

/// The cause of a field's value.
public enum Provenance: Hashable, Sendable {
    /// A transaction of this app: which change of the event, from 1, and of how many.
    case transaction(change: Int, of: Int)
    /// A pull: its query id, if it has one, and the number of the page among that query's pages in the log, from 1.
    case pull(queryID: String?, page: Int)
    /// The server's answer to an operation.
    case push(operationID: String, status: Int)
    /// A decision about a conflict or a parked operation, such as `take-server`, and the policy that made it; nil if
    /// the app did.
    case resolution(choice: String, policy: String?)
    /// A transaction was undone, which restored the earlier value.
    case undo(of: EventNumber)
    /// Rows were removed without telling the server.
    case purge
    /// The pending operations of the row were dropped.
    case discard
    /// The app's schema was migrated to this version.
    case migration(version: UInt32)
    /// The value is older than the retained history.
    case beginning
    /// An event that should not affect a row.
    case other
}

extension Provenance: CustomStringConvertible {
    public var description: String {
        switch self {
        case .transaction(let change, let count):
            count == 1 ? "written by this app" : "written by this app, change \(change) of \(count)"
        case .pull(let queryID, let page):
            queryID.map { "page \(page) of the pull \($0)" } ?? "page \(page) of pulls without a query id"
        case .push(let operationID, let status): "answer \(status) to the operation \(operationID)"
        case .resolution(let choice, let policy):
            "\(choice), " + (policy.map { "decided by the policy \($0)" } ?? "decided by the app")
        case .undo(let event): "undid @\(event)"
        case .purge: "purge"
        case .discard: "dropped by the app"
        case .migration(let version): "migration to schema \(version)"
        case .beginning: "before the start of the history"
        case .other: "–"
        }
    }
}

extension Resolution.Choice {
    /// The name that `resolve` uses.
    package var word: String {
        switch self {
        case .takeServer: "take-server"
        case .keepMine: "keep-mine"
        case .merge: "merge"
        case .row: "row"
        }
    }
}

extension Provenance {
    /// - Parameter page: Which page of its query a page is.
    init(_ event: Event, row: RowFocus, page: Int) {
        self =
            switch event.body {
            case .local(let transaction):
                .transaction(
                    change: 1
                        + (transaction.changes.lastIndex {
                            $0.table == row.table && $0.id.hasSameBytes(as: row.id)
                        } ?? 0),
                    of: transaction.changes.count)
            case .page(let pulled): .pull(queryID: pulled.queryID, page: page)
            case .answered(let answer): .push(operationID: answer.operationID, status: answer.status)
            case .resolved(let resolution): .resolution(choice: resolution.choice.word, policy: resolution.policy)
            case .undone(let event): .undo(of: EventNumber(rawValue: event))
            case .purged: .purge
            case .discarded: .discard
            case .declared(let declaration, _): .migration(version: declaration.version)
            case .opened, .configured, .indexed, .typed, .cursorReset, .sent, .serverWorked, .carried: .other
            }
    }
}
