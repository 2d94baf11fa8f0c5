// A copy of another client's file, which SQLite may recover and lock as it likes: the file itself is only read. SQLite
// keeps the copy open under no name, so that nothing of it is left however the process ends.

import CLibrary
import CSQLite
import Foundation
import SynclineCore

final class ForeignFile {
    /// The path of the file itself, for messages.
    let path: String
    private let connection: FileConnection

    /// The files that SQLite keeps beside a database: changes that are not in it yet, or that have to be undone in it.
    private static let companions = ["-wal", "-journal"]

    init(_ path: String) throws(SyncError) {
        self.path = path
        let folder = try ForeignFile.copy(path)
        defer { try? FileManager.default.removeItem(atPath: folder) }
        do throws(FileFailure) {
            connection = try FileConnection(folder + "/" + ForeignFile.name)
            // Everything comes into one file, which is then read without looking for it again.
            try connection.run("PRAGMA journal_mode = DELETE")
            try connection.run("PRAGMA locking_mode = EXCLUSIVE")
            let faults = try connection.run("PRAGMA integrity_check(1)")
            guard faults == [[.string("ok")]] else {
                throw .damaged(path: path, "\(faults.first?.first.map { "\($0)" } ?? "the integrity check failed")")
            }
        } catch {
            throw ForeignFile.error(error, path)
        }
    }

    private static let name = "copy.sqlite"

    // MARK: Copying

    /// Copies the file with its companions into a folder that only this user can read.
    private static func copy(_ path: String) throws(SyncError) -> String {
        var status = stat()
        guard stat(path, &status) == 0, status.st_mode & S_IFMT != S_IFDIR else {
            throw SyncError(.ioError, "there is no file \(path)", hint: "Check the path.")
        }
        // A pipe has no end while its writer waits.
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SyncError(.ioError, "\(path) is not a regular file", hint: "Give the path of a database file.")
        }
        let folder = try makeFolder()
        do {
            let before = stamps(path)
            for companion in [""] + companions where FileManager.default.fileExists(atPath: path + companion) {
                try FileManager.default.copyItem(atPath: path + companion, toPath: "\(folder)/\(name)\(companion)")
            }
            guard stamps(path) == before else {
                throw SyncError(
                    .storeLocked, "the file \(path) changed while it was read",
                    hint: "Import it when no other app has it open.")
            }
            return folder
        } catch {
            try? FileManager.default.removeItem(atPath: folder)
            throw error as? SyncError
                ?? SyncError(.ioError, "the file \(path) can't be copied: \(error.localizedDescription)")
        }
    }

    private static func makeFolder() throws(SyncError) -> String {
        var template = Array((FileManager.default.temporaryDirectory.path + "/syncline-import-XXXXXX").utf8CString)
        guard mkdtemp(&template) != nil else {
            throw SyncError(.ioError, "a temporary folder can't be created: \(String(cString: strerror(errno)))")
        }
        return template.withUnsafeBufferPointer {
            String(decoding: $0.dropLast().map(UInt8.init(bitPattern:)), as: UTF8.self)
        }
    }

    /// The size and the time of the last change of the file and its companions.
    private static func stamps(_ path: String) -> [String?] {
        ([""] + companions).map { companion in
            guard let attributes = try? FileManager.default.attributesOfItem(atPath: path + companion) else {
                return nil
            }
            return "\(attributes[.size] ?? 0) \((attributes[.modificationDate] as? Date)?.timeIntervalSince1970 ?? 0)"
        }
    }

    // MARK: Reading

    /// The columns of each table, with their declared types.
    func schema() throws(SyncError) -> [String: [(name: String, type: String)]] {
        var schema: [String: [(name: String, type: String)]] = [:]
        for row in try run(
            "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'")
        {
            guard case .string(let table)? = row.first else { continue }
            schema[table] = try run("SELECT name, type FROM pragma_table_info(?)", [.string(table)]).compactMap { row in
                guard case .string(let name) = row[0], case .string(let type) = row[1] else { return nil }
                return (name, type.uppercased())
            }
        }
        return schema
    }

    /// Tables that are not synced, without those that have no rows.
    func left(_ tables: [String]) throws(SyncError) -> [ForeignReport.Left] {
        var left: [ForeignReport.Left] = []
        for table in tables {
            let count = try run("SELECT count(*) FROM \(SQLName.quoted(table))")
            if case .integer(let rows)? = count.first?.first, rows > 0 {
                left.add(table, nil, .notSynced, count: Int(rows))
            }
        }
        return left
    }

    /// Runs a statement that reads.
    func run(_ text: String, _ values: [Value] = []) throws(SyncError) -> [[Value]] {
        do throws(FileFailure) { return try connection.run(text, values) } catch {
            throw ForeignFile.error(error, path)
        }
    }

    /// How many rows are read at a time.
    private static let batch = 500

    /// Returns the next rows of a table, and where the ones after them begin; nil if there are none.
    func rows(
        of table: FoundTable, after last: Int64?
    ) throws(SyncError) -> (rows: ArraySlice<[Value]>, last: Int64)? {
        let columns = table.columns.map { SQLName.quoted($0.sqlName) }.joined(separator: ", ")
        let entity = table.entity.map { " AND Z_ENT = \($0)" } ?? ""
        let found = try run(
            """
            SELECT _rowid_, \(columns) FROM \(SQLName.quoted(table.sqlName)) WHERE _rowid_ > ?\(entity) \
            ORDER BY _rowid_ LIMIT \(ForeignFile.batch)
            """, [.integer(last ?? .min)])
        guard case .integer(let end)? = found.last?.first else { return nil }
        return (found[...], end)
    }

    private static func error(_ failure: FileFailure, _ path: String) -> SyncError {
        switch failure {
        case .failed(let error): error
        case .damaged(_, let reason):
            SyncError(
                .storeCorrupt, "the file \(path) can't be read: \(reason)",
                hint: "It is damaged or not an SQLite file. Nothing was imported.")
        case .refused(_, let reason):
            SyncError(.storeCorrupt, "the file \(path) does not have the expected tables: \(reason)")
        }
    }
}
