// Compares a mirror and full-text indexes with the state of a store at the event in their stamp.

import Foundation
import SynclineCore
import Testing

@testable import Syncline
@testable import SynclineSQL

/// A directory that is removed with the object.
final class TemporaryDirectory {
    let path: String

    init() throws {
        path = FileManager.default.temporaryDirectory.path + "/syncline-sql-" + UUID().uuidString
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }
}

enum FollowingFiles {
    /// The event that a file is at; nil if it has no stamp.
    static func event(_ file: PlainSQLite) throws -> UInt64? {
        guard try !file.run("select 1 from sqlite_schema where name = 'syncline_stamp'").isEmpty,
            case .integer(let event)? = try file.run("select event from syncline_stamp").first?.first
        else { return nil }
        return UInt64(event)
    }

    /// Checks that a mirror has exactly the rows of the state at its event, and returns the event. A file that may be new
    /// may have no stamp.
    @discardableResult
    static func checkMirror(
        _ path: String, _ database: SyncDatabase, _ comment: String, mayBeNew: Bool = false
    ) async throws -> UInt64? {
        let file = try PlainSQLite(path)
        guard let event = try event(file) else {
            #expect(mayBeNew, "\(comment): the mirror has no stamp")
            return nil
        }
        let state = try await database.history(at: EventNumber(rawValue: event))
        #expect(try file.run("pragma integrity_check") == [["ok"]], "\(comment)")
        var names: [String: [String: String]] = [:]
        for row in try file.run("select \"table\", \"column\", sql_table, sql_column from syncline_columns") {
            names["\(row[0])", default: [:]]["\(row[1])"] = "\(row[3])"
        }
        for table in Set(try state.reader.tables() + names.keys) {
            let expected = try await state.query(RowQuery(table: table)).rows
            guard let columns = names[table] else {
                #expect(expected.isEmpty, "\(comment): the mirror lacks \(table)")
                continue
            }
            let order = columns.keys.sorted()
            let list = order.map { "\"\(columns[$0] ?? "")\"" }.joined(separator: ", ")
            let found = try file.run("select \(list) from \"\(table)\" order by id collate binary")
            let types = try state.reader.types(of: table)
            let wanted = expected.sorted { $0.id < $1.id }.map { row in
                order.map { column in
                    let value = column == "id" ? .string(row.id) : row.columns[column] ?? .null
                    return plain(value.inSQL(as: types[column]))
                }
            }
            let isSame = found == wanted
            #expect(isSame, "\(comment), @\(event), \(table):\n\(found)\n\(wanted)")
        }
        return event
    }

    /// Checks that the index on `item.text` has exactly the rows of the state at its event, and returns the event.
    @discardableResult
    static func checkText(
        _ path: String, _ database: SyncDatabase, _ comment: String, mayBeNew: Bool = false
    ) async throws -> UInt64? {
        guard FileManager.default.fileExists(atPath: path), case let file = try PlainSQLite(path),
            let event = try event(file)
        else {
            #expect(mayBeNew, "\(comment): the index has no stamp")
            return nil
        }
        let rows = try await database.history(at: EventNumber(rawValue: event)).query(RowQuery(table: "item")).rows
            .sorted { $0.id < $1.id }
        let wanted = rows.map { [Value.string($0.id), text($0)] }
        let found = try file.run("select i.id, t.c0 from ids_0 i join text_0 t on t.rowid = i.number order by i.id")
        #expect(found == wanted, "\(comment), @\(event)")
        #expect(try file.run("select count(*) from text_0") == [[.integer(Int64(rows.count))]], "\(comment)")
        // FTS5 compares its index with its rows, and fails if they differ.
        try file.run("insert into text_0 (text_0, rank) values ('integrity-check', 1)")
        let matches = try file.run("select count(*) from text_0 where text_0 match 'milk'")
        let count = wanted.count { row in "\(row[1])".split(separator: " ").contains("milk") }
        #expect(matches == [[.integer(Int64(count))]], "\(comment), @\(event)")
        return event
    }

    private static func text(_ row: StoredRow) -> Value {
        if case .string(let text)? = row.columns["text"] { .string(text) } else { .string("") }
    }

    private static func plain(_ value: Value) -> Value {
        switch value {
        case .bool(let flag): .integer(flag ? 1 : 0)
        case .number(let number): .double(number.rounded)
        case .date(let date): .string(Timestamp(.init(milliseconds: date.instant.milliseconds)).description)
        case .array(let elements): .string("[\(elements.map(\.debugDescription).joined(separator: ","))]")
        default: value
        }
    }
}
