// What stands behind an event that gave a field its value: who decided it, and on what occasion.

/// What an event that gave a field its value came of.
public enum Provenance: Hashable, Sendable {
    /// This app: which change of the event, from 1, of how many.
    case transaction(change: Int, of: Int)
    /// A pull: its query id, if it has one, and which page of that query in what the log has, from 1.
    case pull(queryID: String?, page: Int)
    /// The server's answer to an operation.
    case push(operationID: String, status: Int)
    /// A decision about a conflict or a parked operation, as `take-server`, and the policy that made it; nil if the app did.
    case resolution(choice: String, policy: String?)
    /// A transaction was taken back, and what was before it showed again.
    case undo(of: UInt64)
    /// Rows were removed without telling the server.
    case purge
    /// What was pending on the row was dropped.
    case discard
    /// The app's schema became this version.
    case migration(version: UInt32)
    /// It was so before the history that is kept begins.
    case beginning
    /// An event that should have no effect on a row.
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
        case .undo(let event): "took back @\(event)"
        case .purge: "purge"
        case .discard: "dropped by the app"
        case .migration(let version): "migration to schema \(version)"
        case .beginning: "before the history begins"
        case .other: "–"
        }
    }
}

extension Resolution.Choice {
    /// As `resolve` says it.
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
                    change: 1 + (transaction.changes.lastIndex { $0.table == row.table && $0.id == row.id } ?? 0),
                    of: transaction.changes.count)
            case .page(let pulled): .pull(queryID: pulled.queryID, page: page)
            case .answered(let answer): .push(operationID: answer.operationID, status: answer.status)
            case .resolved(let resolution): .resolution(choice: resolution.choice.word, policy: resolution.policy)
            case .undone(let event): .undo(of: event)
            case .purged: .purge
            case .discarded: .discard
            case .declared(let declaration, _): .migration(version: declaration.version)
            case .opened, .configured, .indexed, .cursorReset, .sent, .serverWorked, .carried: .other
            }
    }
}
