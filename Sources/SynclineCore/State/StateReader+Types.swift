// The types of columns as the state has them: among the settings, one for each table.

import SynclineGround

extension SettingName {
    /// The settings that hold the types of a table's columns. An app can't use such a name.
    package static let types = "types\0"
}

extension StateReader {
    /// The types of all tables with declared columns.
    package var types: TypeCatalog {
        get throws(SyncError) {
            if let facts { return facts.types }
            return try allTypes()
        }
    }

    /// The types of a table's columns.
    package func types(of table: String) throws(SyncError) -> TableTypes { try types[table] }

    private func allTypes() throws(SyncError) -> TypeCatalog {
        var catalog = TypeCatalog()
        let prefix = StateReader.settingKey(SettingName.types)
        try snapshot.forEach(prefix: prefix) { key, value throws(SyncError) in
            let stored = try value.decoded(as: "the types of a table") { reader throws(MalformedBytes) in
                try reader.value()
            }
            guard let types = TableTypes(stored) else { throw .malformed("the types of a table") }
            catalog[String(decoding: key[prefix.count...], as: UTF8.self)] = types
            return true
        }
        return catalog
    }
}
