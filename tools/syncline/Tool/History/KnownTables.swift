// Tables that are misspelt.

import SynclineCore
import SynclineInspect

extension Context {
    /// Refuses a table that the store does not have if it has one with nearly that name. Any other name may be that of a table
    /// whose rows are still to come, of which only a word is said.
    func check(table: String, _ reader: StateReader) throws {
        try reader.declaration.check(table)
        let known = try reader.knownTables()
        if known.isEmpty || known.contains(table) { return }
        if let meant = Suggestion.nearest(to: table, in: known) {
            throw ToolError(
                "unknown-table", "the store has no table \(table)", hint: "Did you mean `\(meant)`?")
        }
        narration.warn("the store has no table \(table)")
    }
}
