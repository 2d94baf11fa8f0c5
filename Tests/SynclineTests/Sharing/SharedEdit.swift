// An edit of rows that several processes change, with what its process saw before.

import SegmentLog
import SynclineCore
import SynclineTesting

@testable import Syncline

struct SharedEdit: Sendable {
    struct Change: Sendable {
        var kind: OperationKind
        var id: String
        /// The columns that it sets, and the row that the process saw, under the letters of the columns.
        var columns: [Character: Value]
        var seen: [Character: Value]?
    }

    /// Is in each row that it sets, and in a row of its own if it deletes one.
    var mark: String
    /// The time of its event, which no other event has.
    var time: Int64 = 0
    var changes: [Change]

    /// Whether one of its changes meets a row that is not what the process saw; nil if it inserts a row that is there. If
    /// the process saw that row deleted, its insert also clears the other columns.
    func isMet(by current: (String) throws -> [Character: Value]?) rethrows -> Bool? {
        for change in changes where change.kind == .insert {
            if try current(change.id) != nil { return nil }
        }
        for change in changes {
            let now = try current(change.id)
            switch (change.kind, now) {
            case (.insert, _), (.delete, nil): break
            case (.update, nil): return true
            case (.delete, let now?): if now != change.seen { return true }
            case (.update, let now?):
                for (name, value) in change.columns where now[name] != change.seen?[name] && now[name] != value {
                    return true
                }
            }
        }
        return false
    }
}

/// The rows in common. Their first column is renamed by every migration of the app: `x1`, `x2`, …
enum CommonRows {
    static let table = "common"
    static let ids = ["a", "b", "c"]

    static func name(_ letter: Character, _ version: UInt32) -> String {
        letter == "x" ? "x\(version)" : String(letter)
    }

    static func columns(_ row: Row?) -> [Character: Value]? {
        row.map { row in
            var columns: [Character: Value] = [:]
            for member in row.own.members where !member.value.isNull {
                if let letter = member.name.first { columns[letter] = member.value }
            }
            return columns
        }
    }

    static func schema(_ version: UInt32) -> SyncSchema {
        let migrations = (1...version).dropFirst().map { number in
            Migration(
                to: number, steps: [.renameColumn(table: table, from: name("x", number - 1), to: name("x", number))])
        }
        let column = ColumnSchema(name("x", version), onServer: "x")
        return SyncSchema(
            version: version, tables: [TableSchema(table, columns: [column])], migrations: Array(migrations))
    }
}

extension LocalTransactionWriter {
    /// Makes a random edit of one or two rows; returns it if there is anything to store.
    mutating func edit(
        _ mark: String, _ reader: StateReader, _ version: UInt32, _ chance: inout Chance
    ) throws(SyncError) -> SharedEdit? {
        var edit = SharedEdit(mark: mark, changes: [])
        var deletes = false
        for id in Set([CommonRows.ids[chance.below(3)], CommonRows.ids[chance.below(3)]]).sorted() {
            let row = try reader.row(CommonRows.table, id)
            let seen = CommonRows.columns(row?.columns)
            var letters: [Character] = [chance.once(in: 2) ? "x" : "y"]
            if chance.once(in: 4) { letters = ["x", "y"] }
            let isDelete = seen != nil && chance.once(in: 5)
            let columns = isDelete ? [:] : Dictionary(letters.map { ($0, Value.string(mark)) }) { $1 }
            let members = columns.map { Value.Member(CommonRows.name($0.key, version), $0.value) }
            let kind: OperationKind = isDelete ? .delete : seen == nil ? .insert : .update
            do throws(SyncError) {
                try change(kind, CommonRows.table, id, Row(members.sorted { $0.name < $1.name }))
            } catch {
                // The row was deleted, and that is in conflict.
                return nil
            }
            edit.changes.append(.init(kind: kind, id: id, columns: columns, seen: seen))
            deletes = deletes || isDelete
        }
        if deletes {
            try change(.insert, CommonRows.table, mark, Row([.init("y", .string(mark))]))
            edit.changes.append(.init(kind: .insert, id: mark, columns: ["y": .string(mark)], seen: nil))
        }
        return edit
    }
}
