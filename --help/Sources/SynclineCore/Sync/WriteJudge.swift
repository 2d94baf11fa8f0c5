// The meaning of a response to a write: one table, read from the top. It depends only on the request and the
// response.

import SynclineGround

/// What happens to an operation after a response.
package enum Verdict: Hashable, Sendable {
    /// The server has applied it. The row is nil if it is gone.
    case done(PulledRow)
    /// The server's row must be fetched before the result is known.
    case fetch
    case conflict(server: Row?, ConflictReason)
    /// The server keeps a tombstone of the row, which it may have returned; the insert must restore the row.
    case tombstone(Row?)
    /// The row was restored as it was; the differences must be sent as an update.
    case revived(PulledRow)
    /// The server does not restore rows.
    case refused
    case parked
    case unauthorized
    /// Retry later. `mayHaveArrived` tells whether the operation may have been applied nevertheless.
    case retry(mayHaveArrived: Bool)
    /// The result can't be known now.
    case unknown(String)
}

extension Verdict {
    /// Whether this verdict shows that the server works.
    var isAnswer: Bool {
        switch self {
        case .done, .fetch, .conflict, .tombstone, .revived, .refused, .parked: true
        case .unauthorized, .retry, .unknown: false
        }
    }
}

package struct WriteJudge: Sendable {
    package let request: WriteRequest
    package let ids: IDComparison
    /// Whether an insert that meets a tombstone restores the row.
    package let mayRevive: Bool

    package init(_ request: WriteRequest, ids: IDComparison, mayRevive: Bool = false) {
        self.request = request
        self.ids = ids
        self.mayRevive = mayRevive
    }

    /// Judges the response to the write.
    package func judge(_ reply: ServerReply) -> Verdict {
        if request.undelete != nil, [403, 404, 405, 410, 501].contains(reply.status) { return .refused }
        switch reply.status {
        case 200..<300:
            if request.kind == .delete { return .done(gone) }
            guard let row = ownRow(of: reply) else { return .fetch }
            return stored(row)
        case 404, 410:
            switch request.kind {
            case .delete: return .done(gone)
            case .update: return rowGone
            case .insert: return .parked
            }
        case 409, 412:
            // Some servers send back the client's own item: without a version it is not the server's row.
            guard let row = ownRow(of: reply), row.hasVersion else { return .fetch }
            return compare(row)
        case 401: return .unauthorized
        case 429: return .retry(mayHaveArrived: false)
        case 408, 500...: return .retry(mayHaveArrived: true)
        default: return .parked
        }
    }

    /// Judges the server's row, fetched because a response did not include it.
    package func judge(fetched reply: ServerReply, after status: Int) -> Verdict {
        switch reply.status {
        case 200:
            guard let row = ownRow(of: reply) else { return .unknown("the server's row could not be read") }
            return (200..<300).contains(status) ? stored(row) : compare(row)
        case 404, 410:
            if request.kind == .delete { return .done(gone) }
            return (200..<300).contains(status) ? rowGone : tombstone(nil)
        case 401: return .unauthorized
        default: return .unknown(reply.message ?? "the server answered \(reply.status) when asked for the row")
        }
    }

    /// Compares a row that is not the one the write was made on: it is either the result of the write, or a
    /// conflict.
    private func compare(_ row: ServerRow) -> Verdict {
        if row.isDeleted { return request.kind == .delete ? .done(gone) : tombstone(row.columns) }
        // Another undelete, or our own whose response was lost, has restored the row as it was.
        if case .bare(let tombstone?) = request.undelete, row.columns.own.difference(from: tombstone.own).isEmpty {
            return stored(row)
        }
        let isOurs =
            request.kind != .delete
            && request.body.members.allSatisfy { $0.value.isEcho(of: row.columns[$0.name] ?? .null) }
        return isOurs ? .done(row.pulled) : .conflict(server: row.columns, .changed)
    }

    /// Judges a row that the server says it has stored.
    private func stored(_ row: ServerRow) -> Verdict {
        if row.isDeleted { return rowGone }
        guard case .bare = request.undelete else { return .done(row.pulled) }
        return request.body.difference(from: row.columns).isEmpty ? .done(row.pulled) : .revived(row.pulled)
    }

    /// Judges a deleted row, which may be unknown, where the write was to be stored.
    private func tombstone(_ row: Row?) -> Verdict {
        guard request.kind == .insert, mayRevive else { return rowGone }
        // An undelete with a version has met another tombstone, or one that is hidden now.
        if request.undelete != nil, row == nil { return rowGone }
        return .tombstone(row)
    }

    private var rowGone: Verdict { .conflict(server: nil, .gone) }

    private var gone: PulledRow { PulledRow(id: request.id, row: nil) }

    private func ownRow(of reply: ServerReply) -> ServerRow? {
        guard case .row(let row) = reply.content, ids.areEqual(row.id, request.id) else { return nil }
        return row
    }
}

extension Value {
    /// Returns whether a server that stored one of the two may return the other: as in `means`, and two date strings
    /// as instants.
    fileprivate func isEcho(of other: Value) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)):
            if left.hasSameBytes(as: right) { return true }
            guard let left = Timestamp(left), let right = Timestamp(right) else { return false }
            return left.instant == right.instant
        case (.array(let left), .array(let right)):
            return left.count == right.count && zip(left, right).allSatisfy { $0.isEcho(of: $1) }
        default: return means(other)
        }
    }
}

extension ServerRow {
    var hasVersion: Bool { !(columns.versionValue ?? .null).isNull }

    package var pulled: PulledRow { PulledRow(id: id, row: isDeleted ? nil : columns) }
}

extension WriteRequest {
    /// Creates the request of an operation, the same each time.
    package init(_ frozen: FrozenOperation, table: String, id: String, _ server: ServerProtocol) {
        // The newer protocol has no partial updates: the whole row is sent.
        let isWhole = frozen.kind == .update && server == .datasync3
        self.init(
            kind: frozen.kind, table: table, id: id,
            body: isWhole ? (frozen.ancestor ?? .empty).own.merged(with: frozen.columns) : frozen.columns,
            version: frozen.kind == .insert ? frozen.revival?.tombstone?.version : frozen.ancestor?.version,
            operationID: frozen.operationID)
        if let revival = frozen.revival {
            undelete = server == .zumo2 ? .bare(tombstone: revival.tombstone) : .whole
        }
    }
}

extension Row {
    /// The version a server gave it.
    package var version: String? {
        switch versionValue {
        case .string(let text)?: text
        case .integer(let number)?: String(number)
        default: nil
        }
    }
}
