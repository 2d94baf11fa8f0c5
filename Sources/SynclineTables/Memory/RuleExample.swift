// An example of the rules: rows of several tables, and which of them each caller sees and may change. It shows that rules
// mean what their author wants.

import SynclineGround
package import SynclineWire

package struct RuleExample: Sendable {
    /// Ids by table, by caller.
    package typealias Expectation = [String: [String: Set<String>]]

    package var rows: [(table: String, row: TableRow)] = []
    /// The rows that callers see.
    package var sees: Expectation = [:]
    /// The rows that they may update.
    package var updates: Expectation = [:]
    /// The rows that they may delete.
    package var deletes: Expectation = [:]

    package init() {}

    /// What the rules of some tables do otherwise; nil if they do all that the example says.
    package func fault(_ definitions: [TableDefinition]) -> String? {
        let plan = RightsPlan(definitions)
        var rights = MemoryRights()
        for (table, row) in rows {
            if !definitions.contains(where: { $0.name.hasSameBytes(as: table) }) { return "there is no table \(table)" }
            let change = RightsChange(plan[table: table], from: nil, to: row)
            rights.note(change, row.id, table, Stamp(change: 1, time: 0))
        }
        for (expectation, verb) in [(sees, "see"), (updates, "update"), (deletes, "delete")] {
            for (caller, tables) in expectation.sorted(by: { $0.key < $1.key }) {
                for (name, ids) in tables.sorted(by: { $0.key < $1.key }) {
                    guard let table = definitions.first(where: { $0.name.hasSameBytes(as: name) }) else {
                        return "there is no table \(name)"
                    }
                    let judge = RightsJudge(table, plan[table: name], Caller(inExample: caller), rights)
                    let own = rows.filter { $0.table.hasSameBytes(as: name) }.map(\.row)
                    let found = Set(own.filter { Self.may(verb, $0, judge) }.map { ExactString($0.id) })
                    let wanted = Set(ids.map { ExactString($0) })
                    if let id = found.subtracting(wanted).min() {
                        return "\(caller) may \(verb) \(id.text) of \(name), but should not"
                    }
                    if let id = wanted.subtracting(found).min() {
                        return "\(caller) may not \(verb) \(id.text) of \(name), but should"
                    }
                }
            }
        }
        return nil
    }

    private static func may(_ verb: String, _ row: TableRow, _ judge: RightsJudge<MemoryRights>) -> Bool {
        // The rights are in memory, where nothing can fail.
        guard (try? judge.sight(of: row)) ?? nil != nil else { return false }
        guard let operation = RuleOperation(rawValue: verb) else { return true }
        return (try? judge.permits(operation, on: row)) ?? false
    }
}

extension Caller {
    /// A caller of an example: a name, and perhaps roles after it, as `ann role:hr`.
    fileprivate init(inExample text: String) {
        let words = text.split(separator: " ")
        let roles = words.filter { $0.hasPrefix("role:") }.map { String($0.dropFirst("role:".count)) }
        self.init(
            subject: words.filter { !$0.hasPrefix("role:") }.joined(separator: " "), roles: Set(roles))
    }
}
