// Keeps the defaults of columns: a row whose column neither the server nor the app has set shows the default. It stands in
// the part of the row that never leaves the device, so it is not sent, is in no conflict, and gives way to a value.

extension Projector {
    /// Brings the defaults of a row in line with what is known of it now.
    func settleDefaults(_ entry: inout RowEntry, _ key: [UInt8]) throws(StateError) {
        guard let declaration, declaration.hasDefaults else { return }
        let table = try RowKey(malformed: key).table
        guard let defaults = declaration.defaults(of: table) else { return }
        entry.fill(defaults, localColumns: declaration.localColumns(of: table) ?? [])
    }

    /// Whether new rows of a table get columns that nobody set.
    func hasDefaults(_ table: String) -> Bool { declaration?.defaults(of: table) != nil }
}

extension RowEntry {
    /// Sets the default of each column that has no value, and takes away that of each which has one.
    mutating func fill(_ defaults: Row, localColumns: Set<String>) {
        let known = shared
        var builder = RowBuilder()
        for member in (local ?? .empty).members where localColumns.contains(member.name) {
            builder.set(member.name, member.value)
        }
        for member in defaults.members where known != nil && known?[member.name] == nil {
            if localColumns.contains(member.name), local?[member.name] != nil { continue }
            builder.set(member.name, member.value)
        }
        local = builder.row.isEmpty ? nil : builder.row
    }
}
