// Rows in the formats of other programs.

import SynclineCore
import SynclineGround

/// Rows in the formats of other programs.
enum RowText {
    static func columns(_ rows: [StoredRow]) -> [String] {
        var names: [String] = []
        var known: Set<ExactString> = []
        for row in rows {
            for name in row.columns.columns where known.insert(ExactString(name)).inserted { names.append(name) }
        }
        return names
    }
}

extension StoredRow {
    /// The row with each value replaced by its type and length.
    var redacted: StoredRow {
        StoredRow(
            id: id,
            columns: Row(
                columns.members.map { member in
                    switch JSONValue(member.value).redacted {
                    case .string(let text): .init(member.name, .string(text))
                    case let other: .init(member.name, .string(other.text))
                    }
                }))
    }
}
