// The migration of rows that earlier versions of the app stored.

import Syncline

extension FieldStore {
    /// Version 2 calls the column `who` of an inspection `inspector`, and gives each finding a severity.
    static let schema = SyncSchema(
        version: 2,
        tables: [
            // The server's column is still called `who`, and so are the requests of older apps.
            TableSchema(Inspection.table, columns: [.column("inspector", onServer: "who")]),
            TableSchema(Finding.table),
            TableSchema(Note.table),
            TableSchema(Draft.table, isLocal: true),
        ],
        isStrict: true,  // a misspelled table is an error
        migrations: [
            Migration(
                to: 2,
                steps: [
                    .renameColumn(table: Inspection.table, from: "who", to: "inspector"),
                    .addColumn(table: Finding.table, column: "severity", default: "minor"),
                ])
        ])
}
