// Applies the defaults of columns: a row shows the default of a column that neither the server nor the app has set. The
// default is stored with the local columns of the row, so it is not sent, causes no conflict, and gives way to a value.

import SynclineGround

extension FoldState {
    /// Updates the defaults of a row after a change.
    func settleDefaults(_ entry: inout RowEntry, _ key: [UInt8]) throws(SyncError) {
        guard let declaration, declaration.hasDefaults else { return }
        let table = try RowKey(malformed: key).table
        guard let defaults = declaration.defaults(of: table) else { return }
        entry.fill(defaults, localColumns: declaration.localColumns(of: table) ?? [])
    }

    /// Whether new rows of a table get columns that are not set explicitly.
    func hasDefaults(_ table: String) -> Bool { declaration?.defaults(of: table) != nil }
}

extension RowEntry {
    /// Sets the default of each column that has no value, and removes it from each column that has one.
    mutating func fill(_ defaults: Row, localColumns: Set<ExactString>) {
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
