// Rows to files, and from files: an export of a snapshot, and an import as ordinary changes.

public import SynclineCore

extension StoreSnapshot {
    /// Writes the rows of tables to a file, and returns how many there were. The file appears, or replaces the one at the
    /// path, when it is complete; only its owner may read it.
    ///
    /// - Parameters:
    ///   - tables: The tables; nil for all that have rows. A CSV file has one table.
    ///   - format: The format of the file.
    ///   - path: The path of the file.
    @discardableResult
    @concurrent
    public func export(
        _ tables: [String]? = nil, as format: RowFormat, to path: String
    ) async throws(SyncError) -> Int {
        try export(tables, as: format, to: try FilePlace(replacing: path))
    }

    func export(_ tables: [String]?, as format: RowFormat, to file: FilePlace) throws(SyncError) -> Int {
        let reader = try reader
        for table in tables ?? [] { try reader.check(named: table) }
        let all = try reader.tables()
        let rows = (tables ?? all).map { ExportedTable($0, reader) }
        return try format.write(rows, replacing: file)
    }
}

extension RowFormat {
    /// Writes tables to a file, which appears, or replaces another one, when it is complete; returns the number of rows.
    package func write(_ tables: [ExportedTable], replacing file: FilePlace) throws(SyncError) -> Int {
        try file.replace { draft throws(SyncError) in try files.write(tables, to: draft) }
    }
}

extension SyncDatabase {
    /// Writes the present rows of tables to a file: the same function of ``present``.
    @discardableResult
    @concurrent
    public func export(
        _ tables: [String]? = nil, as format: RowFormat, to path: String
    ) async throws(SyncError) -> Int {
        try await present.export(tables, as: format, to: path)
    }

    /// Inserts the rows of a file, which are then pushed like any other changes, and returns how many it inserted: a row that
    /// the store has with the same values is left as it is. Throws and inserts none if the file is incomplete, has a row
    /// that is wrong, or one that the store has with other values.
    ///
    /// A file of more than 4 MiB is checked first, then inserted in several transactions. If one of these fails, for example
    /// because the disk is full, the error says how many rows were inserted before; a process that ends leaves them, too.
    /// Import the file again to insert the rest. Rows without ids would come twice.
    ///
    /// - Parameters:
    ///   - table: The table of the rows. Nil if the file names the tables, which a CSV file does not.
    ///   - path: The path of the file.
    ///   - format: The format of the file.
    @discardableResult
    @concurrent
    public func importRows(
        into table: String? = nil, from path: String, as format: RowFormat
    ) async throws(SyncError) -> Int {
        try await RowImport(self, table, FilePlace(path: path), format).run()
    }

    /// The same, in one transaction up to a size.
    @concurrent
    package func importRows(
        into table: String?, from path: String, as format: RowFormat, atOnce size: Int
    ) async throws(SyncError) -> Int {
        try await RowImport(self, table, FilePlace(path: path), format, partSize: size).run()
    }
}

extension StateReader {
    /// Throws if the store does not have a table but one with nearly that name. Returns whether it has the table: rows of
    /// any other name may still come.
    @discardableResult
    package func check(named table: String) throws(SyncError) -> Bool {
        try declaration.check(table)
        if try ids(of: table, limit: 1).first != nil { return true }
        let known = try knownTables()
        if known.isEmpty || known.contains(table) { return true }
        guard let meant = Suggestion.nearest(to: table, in: known) else { return false }
        throw SyncError(.unknownTable, "the store has no table \(table)", hint: "Did you mean `\(meant)`?")
    }
}
