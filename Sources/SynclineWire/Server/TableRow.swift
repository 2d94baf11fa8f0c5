// A row as a server stores it: its times have the store's full precision, which filters and orders use and the wire
// does not have.

package import SynclineCore
package import SynclineGround

package struct TableRow: Hashable, Sendable {
    package var id: String
    /// The columns that clients set.
    package var columns: Row
    package var createdAt: Timestamp.Instant
    package var updatedAt: Timestamp.Instant
    package var version: String
    package var isDeleted: Bool
    /// Whether its columns are left out, because they are too large for a response.
    package var isBare = false
    /// Whether its columns are left out, because the caller may not see them.
    package var isHidden = false

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

    /// Returns the row's members in a protocol, with dates not yet converted to strings.
    package func members(_ serverProtocol: ServerProtocol) -> [Value.Member] {
        var members = [Value.Member("id", .string(id))] + columns.members
        withSystemMembers(serverProtocol) { members.append(.init($0, $1)) }
        return members
    }

    /// Names the system columns after the others, with times rounded down to the millisecond.
    @inline(__always)
    fileprivate func withSystemMembers(_ serverProtocol: ServerProtocol, _ each: (String, Value) -> Void) {
        if serverProtocol == .zumo2 { each("createdAt", .date(Timestamp(createdAt))) }
        each("updatedAt", .date(Timestamp(updatedAt)))
        each("version", .string(version))
        each("deleted", .bool(isDeleted))
    }

    /// Returns the row's JSON in a protocol.
    package func json(_ serverProtocol: ServerProtocol) -> [UInt8] {
        var writer = JSONWriter()
        writer.write(self, serverProtocol)
        return writer.bytes
    }
}

extension JSONWriter {
    /// Writes a row in a protocol, with all members or those with some names.
    package mutating func write(
        _ row: TableRow, _ serverProtocol: ServerProtocol, selecting names: Set<ExactString>? = nil
    ) {
        var object = beginObject()
        if names?.contains("id") ?? true { write("id", .string(row.id), in: &object) }
        write(columns: row.columns, selecting: names, in: &object)
        row.withSystemMembers(serverProtocol) { name, value in
            if names?.contains(name) ?? true { write(name, value, in: &object) }
        }
        end(object)
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
