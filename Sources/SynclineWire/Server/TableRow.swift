// A row as a server stores it: its times with all the precision the store has, which filters and orders see and the wire
// does not.

package import SynclineCore

package struct TableRow: Hashable, Sendable {
    package var id: String
    /// The columns that clients set.
    package var columns: Row
    package var createdAt: Timestamp.Instant
    package var updatedAt: Timestamp.Instant
    package var version: String
    package var isDeleted: Bool

    package init(
        id: String, columns: Row, createdAt: Timestamp.Instant, updatedAt: Timestamp.Instant, version: String,
        isDeleted: Bool = false
    ) {
        self.id = id
        self.columns = columns
        self.createdAt = createdAt
        self.updatedAt = updatedAt
        self.version = version
        self.isDeleted = isDeleted
    }

    /// The row as a protocol shows it: times to the millisecond, rounded towards the past.
    package func members(_ serverProtocol: ServerProtocol, selecting select: [String]? = nil) -> [Value.Member] {
        var members = [Value.Member("id", .string(id))] + columns.members
        if serverProtocol == .zumo2 { members.append(.init("createdAt", .date(Timestamp(createdAt)))) }
        members.append(.init("updatedAt", .date(Timestamp(updatedAt))))
        members.append(.init("version", .string(version)))
        members.append(.init("deleted", .bool(isDeleted)))
        guard let select else { return members }
        return members.filter { select.contains($0.name) }
    }
}

extension TableRow: FilterSubject {
    package func value(ofColumn name: String) -> Value {
        switch name {
        case "id": .string(id)
        case "createdAt": .date(Timestamp(createdAt, decimals: 9))
        case "updatedAt": .date(Timestamp(updatedAt, decimals: 9))
        case "version": .string(version)
        case "deleted": .bool(isDeleted)
        default: columns.value(ofColumn: name)
        }
    }
}
