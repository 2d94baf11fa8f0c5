// Gives new numbers and times to rows that have none, or that the server could not have given: then they are among the
// changes. Servers may run meanwhile.

import SynclineTables

extension SQLStore {
    /// The number of rows in a transaction; others wait for it.
    private static let portion = 5000

    /// Returns the number of rows that were changed.
    func number(_ table: String) throws(StoreFailure) -> Int {
        guard let statements = currentCatalogue.tables[table] else { throw tableChanged(table) }
        var total = 0
        while true {
            let count = try database.write { connection throws(StoreFailure) in
                try connection.transaction(dialect.beginWriting) { () throws(StoreFailure) in
                    (try numberSome(statements, connection), true)
                }
            }
            if count == 0 { return total }
            total += count
        }
    }

    private func numberSome(_ statements: TableSQL, _ connection: any SQLConnection) throws(StoreFailure) -> Int {
        let (portion, definition) = (SQLStore.portion, statements.schema.definition)
        var numbers = try IssuedNumbers(portion, self, connection)
        let ids = try connection.all(statements.unnumbered(self.numbers, limit: portion)) { $0.value(0).text }
        for id in ids {
            let stamp = try numbers.next(connection)
            if try connection.change(statements.number(id: id, stamp)) != 1 {
                throw SchemaInstaller.refusal(
                    "rows-not-numbered",
                    "row \(id) of table \(definition.source) can't be changed: a trigger or a rule skips it")
            }
        }
        return ids.count
    }
}
