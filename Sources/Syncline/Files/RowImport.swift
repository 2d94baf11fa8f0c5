// Inserts the rows of a file. A file with few rows is one transaction. A larger one is read twice, a part at a time: first
// each part is inserted in a transaction that is given up, which finds all that is wrong. Rows that are there already, as
// after an import that was interrupted, are left as they are.

import SynclineCore

struct RowImport {
    private let database: SyncDatabase
    private let table: String?
    private let file: FilePlace
    private let format: RowFormat
    /// About how many bytes the rows of a transaction take at most.
    private let partSize: Int

    private struct Part {
        var rows: [FileRow] = []
        var isLast = false
    }

    /// The error by which a transaction is given up.
    private struct GivenUp: Error {}

    init(
        _ database: SyncDatabase, _ table: String?, _ file: FilePlace, _ format: RowFormat, partSize: Int = 4 << 20
    ) {
        (self.database, self.table, self.file, self.format) = (database, table, file, format)
        self.partSize = partSize
    }

    func run() async throws(SyncError) -> Int {
        let rows = try format.files.rows(in: file, of: table)
        let first = try part(of: rows)
        if first.isLast {
            var known = try KnownRows(database)
            try known.add(first.rows)
            return try await insert(first)
        }
        try await check(first, rows)
        return try await insertAll()
    }

    /// Reads the next part of the file.
    private func part(of rows: any RowFileReading) throws(SyncError) -> Part {
        if Task.isCancelled { throw SyncError(.cancelled, "the import was cancelled") }
        var part = Part()
        var size = 0
        while size < partSize {
            guard let row = try rows.next() else {
                part.isLast = true
                break
            }
            part.rows.append(row)
            size += row.size + 64
        }
        return part
    }

    /// Throws if a row can't be inserted.
    private func check(_ first: Part, _ rows: any RowFileReading) async throws(SyncError) {
        var known = try KnownRows(database)
        var part = first
        while true {
            try await insert(part, isGivenUp: true)
            try known.add(part.rows)
            if part.isLast { return }
            part = try self.part(of: rows)
        }
    }

    private func insertAll() async throws(SyncError) -> Int {
        let rows = try format.files.rows(in: file, of: table)
        var count = 0
        do throws(SyncError) {
            while true {
                let part = try part(of: rows)
                count += try await insert(part)
                if part.isLast { return count }
            }
        } catch {
            if count == 0 { throw error }
            throw SyncError(
                error.code, "\(error.message); \(count) rows before were inserted", hint: error.hint,
                address: error.address, cause: error.cause)
        }
    }

    /// Inserts the rows that are not there, and returns how many these were.
    @discardableResult
    private func insert(_ part: Part, isGivenUp: Bool = false) async throws(SyncError) -> Int {
        let rows = part.rows
        do {
            return try await database.transaction { transaction in
                var count = 0
                for row in rows where try transaction.insertIfAbsent(row.table, row.item) { count += 1 }
                if isGivenUp { throw GivenUp() }
                return count
            }
        } catch is GivenUp {
            return 0
        } catch {
            throw error as? SyncError ?? SyncError(.internalError, "\(error)")
        }
    }
}

/// The ids of a file's rows, of which none may come twice.
private struct KnownRows {
    private let ids: IDComparison
    private var known: Set<[UInt8]> = []

    init(_ database: SyncDatabase) throws(SyncError) { ids = try database.present.reader.idComparison }

    mutating func add(_ rows: [FileRow]) throws(SyncError) {
        for row in rows {
            guard case .string(let id)? = row.item[member: "id"] else { continue }
            guard known.insert(RowKey.bytes(row.table, id, ids)).inserted else {
                throw LocalDecision.rowExists(row.table, id)
            }
        }
    }
}

extension SyncTransaction {
    /// Inserts a row; returns false if it is there and has the values of the item.
    fileprivate func insertIfAbsent(_ table: String, _ item: Value) throws(SyncError) -> Bool {
        do throws(SyncError) {
            try insert(table, item)
            return true
        } catch {
            guard error.code == .rowExists, try has(table, try Item(item)) else { throw error }
            return false
        }
    }
}
