// Reads the rules about rows in a table's part of the configuration. A setting with spaces is a rule, one word is a
// permission.

import SynclineGround
import SynclineTables

extension RowRule {
    init(_ text: String, _ place: String) throws(StartFailure) {
        do throws(RuleError) {
            self = try RowRule(text)
        } catch {
            throw StartFailure("\(place) is not a rule: \(error)")
        }
    }
}

extension TableRules {
    /// Takes the setting of an operation, if it is a rule.
    mutating func take(_ text: String, _ operation: TableOperation, _ place: String) throws(StartFailure) -> Bool {
        guard text.contains(" ") else { return false }
        let rule = try RowRule(text, place)
        if let write = RuleOperation(rawValue: operation.rawValue) { writes[write] = rule } else { read = rule }
        return true
    }
}
