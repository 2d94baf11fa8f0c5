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
    /// A decision is needed. The words say why, if the server does not.
    case parked(String? = nil)
    case unauthorized
    /// Retry later. `mayHaveArrived` tells whether the operation may have been applied nevertheless.
    case retry(mayHaveArrived: Bool)
    /// The result can't be known now.
    case unknown(String)

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
    private var types: TableTypes { request.types }

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
            if let verdict = otherCase(reply) { return verdict }
            guard let row = ownRow(of: reply) else { return .fetch }
            return row.isHidden ? written(row) : stored(row, reply.status)
        case 404, 410:
            switch request.kind {
            case .delete: return .done(gone)
            case .update: return rowGone
            case .insert: return .parked()
            }
        case 409, 412:
            if let verdict = otherCase(reply) { return verdict }
            // Some servers send back the client's own item: without a version it is not the server's row.
            guard let row = ownRow(of: reply), row.hasVersion else { return .fetch }
            return compare(row)
        case 401: return .unauthorized
        case 429: return .retry(mayHaveArrived: false)
        case 408, 500...: return .retry(mayHaveArrived: true)
        default: return .parked()
        }
    }

    /// Judges the server's row, fetched because a response did not include it.
    package func judge(fetched reply: ServerReply, after status: Int) -> Verdict {
        switch reply.status {
        case 200:
            if let verdict = otherCase(reply) { return verdict }
            if case .unreadableRow(let id, let reason) = reply.content, id.map({ ids.areEqual($0, request.id) }) ?? true
            {
                return .parked("the server answered \(status), and its row can't be read: \(reason)")
            }
            guard let row = ownRow(of: reply) else { return .unknown("the server's row could not be read") }
            return (200..<300).contains(status) ? stored(row, status) : compare(row)
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
        if case .bare(let tombstone?) = request.undelete, row.columns.own.difference(from: tombstone.own, types).isEmpty
        {
            return restored(row)
        }
        return request.kind != .delete && row.echoes(request.body, types)
            ? .done(row.pulled) : .conflict(server: row.columns, .changed)
    }

    /// Judges a row that the server says it has stored.
    private func stored(_ row: ServerRow, _ status: Int) -> Verdict {
        if case .bare = request.undelete { return row.isDeleted ? rowGone : restored(row) }
        if let version = request.version, row.columns.version == version, !row.echoes(request.changes, types) {
            return .parked("the server answered \(status) and did not write")
        }
        return row.isDeleted ? rowGone : .done(row.pulled)
    }

    /// Judges a row that the client may not read: the server has stored what was sent.
    private func written(_ row: ServerRow) -> Verdict {
        if case .bare(let tombstone) = request.undelete {
            let restored = (tombstone ?? .empty).merged(with: row.columns)
            return request.body.difference(from: restored, types).isEmpty
                ? .done(PulledRow(id: row.id, row: restored)) : .revived(PulledRow(id: row.id, row: restored))
        }
        let known = (request.ancestor ?? .empty).merged(with: request.changes).merged(with: row.columns)
        return .done(PulledRow(id: row.id, row: known))
    }

    /// Judges a row that was restored as it was.
    private func restored(_ row: ServerRow) -> Verdict {
        request.body.difference(from: row.columns, types).isEmpty ? .done(row.pulled) : .revived(row.pulled)
    }

    /// The verdict on a row that only the case of letters makes another one. Which of the two ids is right, only the
    /// app can know.
    private func otherCase(_ reply: ServerReply) -> Verdict? {
        let found: String? =
            switch reply.content {
            case .row(let row): row.id
            case .unreadableRow(let id, _): id
            default: nil
            }
        guard let found, ids == .exact, !ids.areEqual(found, request.id),
            IDComparison.ignoreCase.areEqual(found, request.id)
        else { return nil }
        return .parked(
            "the server answered with the id \"\(found)\", and \"\(request.id)\" was sent: it ignores the case of ids. "
                + "This store does so, too, if its setting `ids` is `ignore-case`")
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
    /// Whether a server that stored these columns may return this row.
    fileprivate func echoes(_ sent: Row, _ types: TableTypes) -> Bool {
        sent.members.allSatisfy { member in
            let (type, stored) = (types[member.name], columns[member.name] ?? .null)
            return type == .any ? member.value.isEcho(of: stored) : type.areSame(member.value, stored)
        }
    }

    var hasVersion: Bool { !(columns.versionValue ?? .null).isNull }

    package var pulled: PulledRow { PulledRow(id: id, row: isDeleted ? nil : columns) }
}

extension WriteRequest {
    /// Creates the request of an operation, the same each time.
    package init(
        _ frozen: FrozenOperation, table: String, id: String, _ server: ServerProtocol, _ types: TableTypes
    ) {
        // The newer protocol has no partial updates: the whole row is sent.
        let isWhole = frozen.kind == .update && server == .datasync3
        self.init(
            kind: frozen.kind, table: table, id: id,
            body: isWhole ? (frozen.ancestor ?? .empty).own.merged(with: frozen.columns) : frozen.columns,
            version: frozen.kind == .insert ? frozen.revival?.tombstone?.version : frozen.ancestor?.version,
            operationID: frozen.operationID)
        (changes, ancestor) = (frozen.columns, frozen.ancestor)
        self.types = types
        if let revival = frozen.revival {
            undelete = server == .zumo2 ? .bare(tombstone: revival.tombstone) : .whole
        }
    }

    /// The columns of decimals in which a server's row has another number than was sent.
    func rounded(in row: Row) -> [String] {
        changes.members.compactMap { member in
            let type = types[member.name]
            return type.isDecimal && !type.areSame(member.value, row[member.name] ?? .null) ? member.name : nil
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
