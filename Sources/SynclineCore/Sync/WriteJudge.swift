// What an answer to a write means: one table, read from the top. It sees what was sent and what came back, nothing else.

/// What becomes of an operation after an answer.
package enum Verdict: Hashable, Sendable {
    /// The server has it. The row is nil where it is gone.
    case done(PulledRow)
    /// The server's row must be asked for before anything is known.
    case fetch
    case conflict(server: Row?, code: String)
    case parked
    case unauthorized
    /// Later, if at all. Whether the operation may have been done nevertheless.
    case retry(mayHaveArrived: Bool)
    /// Nothing can be known now.
    case unknown(String)
}

package struct WriteJudge: Sendable {
    package let request: WriteRequest
    package let ids: IDComparison

    package init(_ request: WriteRequest, ids: IDComparison) {
        self.request = request
        self.ids = ids
    }

    /// What the answer to the write means.
    package func judge(_ reply: ServerReply) -> Verdict {
        switch reply.status {
        case 200..<300:
            if request.kind == .delete { return .done(gone) }
            guard let row = ownRow(of: reply) else { return .fetch }
            return row.isDeleted ? .conflict(server: nil, code: "row-gone") : .done(row.pulled)
        case 404, 410:
            switch request.kind {
            case .delete: return .done(gone)
            case .update: return .conflict(server: nil, code: "row-gone")
            case .insert: return .parked
            }
        case 409, 412:
            // Some servers send back the client's own item: without a version it says nothing of theirs.
            guard let row = ownRow(of: reply), row.hasVersion else { return .fetch }
            return compare(row)
        case 401: return .unauthorized
        case 429: return .retry(mayHaveArrived: false)
        case 408, 500...: return .retry(mayHaveArrived: true)
        default: return .parked
        }
    }

    /// What the server's row, fetched because an answer did not tell it, means.
    package func judge(fetched reply: ServerReply, after status: Int) -> Verdict {
        switch reply.status {
        case 200:
            guard let row = ownRow(of: reply) else { return .unknown("the server's row could not be read") }
            if !(200..<300).contains(status) { return compare(row) }
            return row.isDeleted ? .conflict(server: nil, code: "row-gone") : .done(row.pulled)
        case 404, 410:
            return request.kind == .delete ? .done(gone) : .conflict(server: nil, code: "row-gone")
        case 401: return .unauthorized
        default: return .unknown(reply.message ?? "the server answered \(reply.status) when asked for the row")
        }
    }

    /// A row that is not the one the write was made on: ours after all, or a conflict.
    private func compare(_ row: ServerRow) -> Verdict {
        if row.isDeleted {
            return request.kind == .delete ? .done(gone) : .conflict(server: nil, code: "row-gone")
        }
        let isOurs =
            request.kind != .delete
            && request.body.members.allSatisfy { $0.value.isEcho(of: row.columns[$0.name] ?? .null) }
        return isOurs ? .done(row.pulled) : .conflict(server: row.columns, code: "conflict")
    }

    private var gone: PulledRow { PulledRow(id: request.id, row: nil) }

    private func ownRow(of reply: ServerReply) -> ServerRow? {
        guard case .row(let row) = reply.content, ids.areEqual(row.id, request.id) else { return nil }
        return row
    }
}

extension Value {
    /// Whether a server that stored one of the two may give the other: as `means`, and two texts of a date's form as
    /// instants.
    fileprivate func isEcho(of other: Value) -> Bool {
        switch (self, other) {
        case (.string(let left), .string(let right)):
            if left.utf8.elementsEqual(right.utf8) { return true }
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

extension IDComparison {
    package func areEqual(_ left: String, _ right: String) -> Bool {
        switch self {
        case .exact: left.utf8.elementsEqual(right.utf8)
        case .ignoreCase: left.utf8.map(IDComparison.lowered).elementsEqual(right.utf8.map(IDComparison.lowered))
        }
    }

    private static func lowered(_ byte: UInt8) -> UInt8 {
        byte &- 0x41 < 26 ? byte | 0x20 : byte
    }
}

extension WriteRequest {
    /// An operation as it is sent, each time the same.
    package init(_ frozen: FrozenOperation, table: String, id: String, _ server: ServerProtocol) {
        // The newer protocol knows no part of a row: it gets all of it.
        let isWhole = frozen.kind == .update && server == .datasync3
        self.init(
            kind: frozen.kind, table: table, id: id,
            body: isWhole ? (frozen.ancestor ?? .empty).own.merged(with: frozen.columns) : frozen.columns,
            version: frozen.kind == .insert ? nil : frozen.ancestor?.version, operationID: frozen.operationID)
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
