// What the server lets the user do, for screens that offer no more than that. The server still decides about each request.

public import SynclineCore
import SynclineWire

/// What the present token may do to a table, or to one of its rows.
public struct SyncAccess: Hashable, Sendable {
    /// Whether an operation is permitted.
    public enum Permission: Hashable, Sendable {
        /// It is permitted.
        case granted
        /// It is not permitted, or the row does not exist for this user.
        case denied
        /// It depends on the row.
        case byRow
    }

    /// Whether rows may be read.
    public var read = Permission.denied
    /// Whether rows may be inserted; `denied` in the answer about a row.
    public var insert = Permission.denied
    /// Whether rows may be changed. A change that moves a row out of reach may still be refused.
    public var update = Permission.denied
    /// Whether rows may be deleted.
    public var delete = Permission.denied
    /// Whether deleted rows may be restored.
    public var undelete = Permission.denied
    /// The columns that the user may neither see nor set; none if nothing is permitted.
    public var hiddenColumns: Set<String> = []

    init(_ answer: Value, name: (String) -> String?) {
        func permission(_ name: String) -> Permission {
            switch answer[member: name] {
            case .bool(true)?: .granted
            case .string("rows")?: .byRow
            default: .denied
            }
        }
        (read, insert) = (permission("read"), permission("insert"))
        (update, delete, undelete) = (permission("update"), permission("delete"), permission("undelete"))
        guard case .array(let columns)? = answer[member: "hidden"] else { return }
        for case .string(let column) in columns {
            if let name = name(column) { hiddenColumns.insert(name) }
        }
    }
}

extension SyncDatabase {
    /// Asks the server what the present token may do to a table, or to a row of it; nil if the server does not say that,
    /// as servers other than Syncline's. A row that the user may not see is answered as one that does not exist.
    @concurrent
    public func access(to table: String, id: String? = nil) async throws(SyncError) -> SyncAccess? {
        try checkSynced(table)
        let channel = try await channel()
        try await admit(try await channel.currentToken())
        let response = try await channel.exchange(channel.codec.access(to: table, id: id))
        let reply = channel.codec.reply(response, to: .row(table: "", id: ""))
        if response.status == 401 { throw SyncError.unauthorized(reply) }
        if response.status >= 500 { throw SyncError(of: reply) }
        guard reply.capabilities.contains(.access) else { return nil }
        guard response.status == 200, let answer = try? Value(json: response.body) else {
            throw SyncError(.rejected, reply.message ?? "the server answered \(response.status)")
        }
        return SyncAccess(answer) { channel.names.received($0, of: table) }
    }
}
