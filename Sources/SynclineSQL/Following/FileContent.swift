// The content of a file that follows a store: full-text indexes or a mirror.

import SynclineCore

/// The content of a file.
protocol FileContent: Sendable {
    /// The format, and everything besides the events that the content depends on. A file with another form is made
    /// again.
    func form(_ source: SQLSource) throws(SyncError) -> String
    /// Whether the file has the rows of a table.
    func includes(_ table: String) -> Bool
    /// Returns a writer for one transaction.
    func writer(_ file: FileConnection, _ reader: StateReader) throws(SyncError) -> any FileWriter
}

/// Writes rows into a file, as part of a transaction.
protocol FileWriter: AnyObject {
    /// Removes all rows and tables, and creates the tables of an empty file.
    func recreate() throws(FileFailure)
    /// Inserts a row, or replaces it.
    func put(_ row: StoredRow, of table: String) throws(FileFailure)
    /// Removes a row if the file has it.
    func remove(_ id: String, of table: String) throws(FileFailure)
    /// Removes all rows of a table.
    func removeAll(of table: String) throws(FileFailure)
    /// Removes the remains of removed rows besides the rows themselves.
    func scrub() throws(FileFailure)
    /// Called after all rows are written.
    func finish(_ source: SQLSource) throws(FileFailure)
}
