// What a reading client asks for: a page of changes, then a row of it, and from the end again from the beginning.

import SynclineCore

struct LoadReading: Sendable {
    private let table: String
    private var cursor = ""
    /// A row of the latest page.
    private var row: String?
    private var wasPage = false

    init(_ table: String) { self.table = table }

    /// - Parameter other: A row to ask for if the page has only tombstones.
    mutating func next(other: String?) -> (LoadKind, ServerRequest) {
        wasPage.toggle()
        if !wasPage, let id = row ?? other {
            row = nil
            return (.row, .row(table: table, id: id))
        }
        wasPage = true
        return (.page, .changes(ChangesRequest(table: table, since: cursor, filter: nil, top: 50)))
    }

    /// Takes the answer; returns how many rows it has.
    mutating func take(_ answer: LoadAnswer) -> Int {
        guard case .success(let reply) = answer else { return 0 }
        switch reply.content {
        case .row: return 1
        case .changes(let changes):
            row = changes.rows.last { !$0.isDeleted && !$0.hasLeft }?.id
            cursor = changes.hasMore || !changes.rows.isEmpty ? changes.cursor : ""
            return changes.rows.count
        default:
            // The cursor may be refused because the database is another one.
            cursor = ""
            return 0
        }
    }
}
