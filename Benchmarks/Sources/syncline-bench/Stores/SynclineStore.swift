// Syncline under test, with its defaults. A transaction's operations need no writing of their own: the outbox is a part
// of the state.

import SegmentLog
import Syncline
import SynclineCore

final class SynclineStore: Store {
    private let database: SyncDatabase
    private let table: RowTable
    private let durability: SegmentLog.Durability

    init(_ directory: String, _ durability: Durability) async throws {
        database = try await SyncDatabase.open(at: directory)
        table = database.table("todos")
        self.durability = durability == .durable ? .durable : .buffered
    }

    func insert(_ rows: TodoRows, _ range: Range<Int>) async throws {
        if range.count == 1 {
            let index = range.lowerBound
            let columns = SynclineCore.Row(Todo.shape, rows[index].values)
            return try await table.insert(id: rows.ids[index], columns: columns, durability: durability)
        }
        try await database.transaction(durability: durability) { transaction in
            for index in range {
                let columns = SynclineCore.Row(Todo.shape, rows[index].values)
                try transaction.insert("todos", id: rows.ids[index], columns: columns)
            }
        }
    }

    func get(_ rows: TodoRows, _ index: Int) async throws -> Int {
        guard let row = try await table.get(id: rows.ids[index]) else { throw BenchError("a row is missing") }
        return row.columns.columns.count
    }

    func filter() async throws -> Int {
        let filter = try FilterExpression(parsing: "done eq false and priority eq 3 and project eq 'travel'")
        return try await table.query(RowQuery(table: "todos", filter: filter)).rows.count
    }

    func index() async throws { try await database.declareIndex(table: "todos", column: "tag") }

    func find(tag: String) async throws -> Int {
        let filter = FilterExpression.compare(.equal, .column(["tag"]), .literal(.string(tag)))
        return try await table.query(RowQuery(table: "todos", filter: filter)).rows.count
    }

    func plan() async throws -> Int { try database.present.pending().count }

    func close() async throws { try await database.close() }
}
