// Inserts the rows of a file. A file with few rows is one transaction. A larger one is read twice, a part at a time: first
// each part is inserted in a transaction that is given up, which finds all that is wrong.

import SynclineCore
import SynclineGround

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
            try await insert(first)
            return first.rows.count
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
        let ids = try database.present.reader.idComparison
        var known: Set<[UInt8]> = []
        var part = first
        while true {
            try await insert(part, isGivenUp: true)
            for row in part.rows {
                guard case .string(let id)? = row.item[member: "id"] else { continue }
                // A transaction sees only the rows of its own part.
                guard known.insert(RowKey.bytes(row.table, id, ids)).inserted else {
                    throw LocalDecision.rowExists(row.table, id)
                }
            }
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
                try await insert(part)
                count += part.rows.count
                if part.isLast { return count }
            }
        } catch {
            if count == 0 { throw error }
            throw SyncError(
                error.code, "\(error.message); \(count) rows before were inserted", hint: error.hint,
                address: error.address, cause: error.cause)
        }
    }

    private func insert(_ part: Part, isGivenUp: Bool = false) async throws(SyncError) {
        let rows = part.rows
        do {
            try await database.transaction { transaction in
                for row in rows { try transaction.insert(row.table, row.item) }
                if isGivenUp { throw GivenUp() }
            }
        } catch is GivenUp {
        } catch {
            throw error as? SyncError ?? SyncError(.internalError, "\(error)")
        }
    }
}
