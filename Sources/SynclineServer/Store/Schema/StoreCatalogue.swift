// The tables of a database as a server knows them, and findings about them for an operator.

import SynclineCore
import SynclineGround
import SynclineTables

/// The tables as of a schema number.
struct StoreCatalogue: Sendable {
    var tables: [String: TableSQL]
    var number: Int64
    var epoch: String
    /// The reasons why tables can't be served in their current form.
    var faults: [String: Refusal] = [:]
    /// What an operator should know about the tables.
    var findings: [Finding] = []
    /// The tables to which the server's role may add columns.
    var mayAlter: Set<String> = []
    /// Columns of a server's table that the server did not create.
    var unknownColumns: [String: [String]] = [:]
    /// What writes and reads need for the rules about rows.
    var rights: [String: TableRights] = [:]

    /// Takes tables out that have a part in rules while others are in force: hidden rows would be told, and no rights
    /// kept up to date.
    mutating func refuse(_ definitions: [TableDefinition]) {
        for definition in definitions {
            tables[definition.name] = nil
            faults[definition.name] = Refusal(
                503, "table-changed",
                "other rules about rows are in force in the database: start this server again with them")
        }
    }

    /// Messages for the operator about the difference from an earlier catalogue.
    func notes(since old: StoreCatalogue) -> [String] {
        var notes: [String] = []
        for (name, fault) in faults.sorted(by: { $0.key < $1.key }) where old.faults[name] != fault {
            notes.append("table \(name) can't be served: \(fault.message)")
        }
        for finding in findings where finding.weight == .warning && !old.findings.contains(finding) {
            notes.append(finding.text)
        }
        for (name, table) in old.tables.sorted(by: { $0.key < $1.key }) {
            guard let now = tables[name] else { continue }
            let gone = table.schema.columns.filter { now.schema.place(of: $0.name) == nil }.map(\.name)
            if !gone.isEmpty {
                notes.append("table \(name) no longer has \(gone.joined(separator: ", ")): dropped in the database")
            }
        }
        for (name, columns) in unknownColumns.sorted(by: { $0.key < $1.key }) {
            let new = columns.filter { old.unknownColumns[name]?.containsExactly($0) != true }
            if new.isEmpty { continue }
            notes.append(
                "table \(name) has \(new.joined(separator: ", ")), which the server did not make and does not serve")
        }
        for name in old.faults.keys.sorted() where faults[name] == nil { notes.append("table \(name) is served again") }
        return notes
    }
}
