// What a file that follows a store is made of: full-text indexes or a mirror.

import SynclineCore

/// What a file is made of.
protocol FileContent: Sendable {
    /// The format, and all that the content depends on besides the events. A file with another form is made again.
    func form(_ source: SQLSource) throws(StateError) -> String
    /// Whether rows of a table are in the file.
    func includes(_ table: String) -> Bool
    /// A writer for one transaction.
    func writer(_ file: FileConnection, _ ids: IDComparison) -> any FileWriter
}

/// Writes rows into a file, as part of a transaction.
protocol FileWriter: AnyObject {
    /// Removes everything, and creates what an empty file has.
    func recreate() throws(FileFailure)
    /// Writes a row, which may be there already.
    func put(_ row: StoredRow, of table: String) throws(FileFailure)
    /// Removes a row, if it is there.
    func remove(_ id: String, of table: String) throws(FileFailure)
    /// Removes all rows of a table.
    func removeAll(of table: String) throws(FileFailure)
    /// Called after all rows are written.
    func finish(_ source: SQLSource) throws(FileFailure)
}
