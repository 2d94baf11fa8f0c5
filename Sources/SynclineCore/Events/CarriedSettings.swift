// The settings and the schema of a store as events, written again before the events that set them are removed. So the
// log still has them if no checkpoint can be read.

import SynclineGround

extension StateReader {
    /// Returns the events that set the present settings. Indexes are not among them: they only save work.
    package func settingEvents() throws(SyncError) -> [Event.Body] {
        var events: [Event.Body] = []
        try snapshot.forEach(prefix: [Keyspace.settings]) { key, stored throws(SyncError) in
            let name = String(decoding: key.dropFirst(), as: UTF8.self)
            if name.hasPrefix(SettingName.indexes) { return true }
            let value = try stored.decoded(as: "a setting") { reader throws(MalformedBytes) in try reader.value() }
            if name.hasPrefix(SettingName.types) { return true }
            events.append(
                name == SettingName.schema
                    ? .declared(try Declaration(value), steps: []) : .configured(name: name, value: value))
            return true
        }
        let types = try types
        return events
            + types.names.map { table in
                .typed(TypeDeclaration(table: table, columns: types[table].columns, isLocal: types[table].isLocal))
            }
    }
}
