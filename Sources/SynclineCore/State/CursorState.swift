// The position of an incremental pull, stored for each query of a table.

package import SynclineGround

/// The position of an incremental pull, and its query.
public struct CursorState: Hashable, Sendable {
    /// The position, in one of two ways.
    public enum Place: Hashable, Sendable {
        /// By the time of its rows: the newest moment seen. If one moment spans several pages, also the id after which
        /// the pull continues.
        case time(Timestamp, drain: String? = nil)
        /// By the change numbers of a server: the server's cursor, and whether rows may have disappeared without a
        /// change.
        case changes(String, isAuditDue: Bool = false)
    }

    /// The position.
    public var place: Place
    /// The canonical form of the query; another query with the same id is refused.
    public var query: String
    /// When it last changed, in milliseconds since 1970.
    package var updated: Int64

    package init(_ place: Place, query: String, updated: Int64) {
        self.place = place
        self.query = query
        self.updated = updated
    }

    /// The newest moment seen, or the server's cursor, as text.
    public var position: String {
        switch place {
        case .time(let moment, _): moment.description
        case .changes(let cursor, _): cursor
        }
    }

    /// The millisecond of a cursor by time; nil for a cursor by changes.
    package var moment: Int64? {
        if case .time(let moment, _) = place { moment.instant.milliseconds } else { nil }
    }

    /// The server's cursor, if the query is read by changes and has begun; nil if it is read by time.
    package var change: String? {
        if case .changes(let cursor, _) = place, !cursor.isEmpty { cursor } else { nil }
    }

    /// For a query that is read by changes: whether rows may have disappeared without a change.
    package var isAuditDue: Bool {
        if case .changes(_, isAuditDue: true) = place { true } else { false }
    }

    /// The same place, from which an audit is due.
    package var auditDue: CursorState {
        guard case .changes(let cursor, _) = place else { return self }
        return CursorState(.changes(cursor, isAuditDue: true), query: query, updated: updated)
    }
}

// MARK: Its bytes

extension ByteWriter {
    package mutating func append(cursor: CursorState) {
        append(text: cursor.position)
        append(text: cursor.query)
        switch cursor.place {
        case .time(_, let drain): append(value: drain.map { .string($0) } ?? .null)
        case .changes(_, let isAuditDue): append(value: isAuditDue ? .string(CursorState.auditMark) : .null)
        }
        append(zigzag: cursor.updated)
    }
}

extension ByteReader {
    package mutating func cursor() throws(MalformedBytes) -> CursorState {
        let position = try text()
        let query = try text()
        let mark: String?
        switch try value() {
        case .null: mark = nil
        case .string(let text): mark = text
        default: throw MalformedBytes()
        }
        let place: CursorState.Place
        // A server's cursor has no moment.
        if let moment = Timestamp(position) {
            place = .time(moment, drain: mark)
        } else if mark == nil || mark == CursorState.auditMark {
            place = .changes(position, isAuditDue: mark != nil)
        } else {
            throw MalformedBytes()
        }
        return CursorState(place, query: query, updated: try zigzag())
    }
}

extension CursorState {
    /// Takes the place of an id while an audit is due.
    fileprivate static let auditMark = "audit"
}
