// The library and SQL choose the same index for the same question.

import Foundation
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineSQL

@Suite struct IndexChoiceTests {
    private static let count = Seeds.some(1000).count

    /// A question, for the library and for SQL.
    private struct Question {
        var filter: String
        var condition: String
        var order: [RowQuery.Key]
        var limit: Int?
        var select: [String]
        /// The columns that equal one value.
        var pinned: Set<String>

        func rowQuery() throws -> RowQuery {
            var query = RowQuery(table: "t")
            query.filter = filter.isEmpty ? nil : try FilterExpression(parsing: filter)
            (query.order, query.top, query.select) = (order, limit, select)
            return query
        }

        /// Without an order, rows of the library come by their ids.
        var sql: String {
            let keys = order.map { "\"\($0.column)\"" + ($0.isDescending ? " desc" : "") }
            return "select \(select.map { "\"\($0)\"" }.joined(separator: ", ")) from t"
                + (condition.isEmpty ? "" : " where " + condition)
                + " order by " + (keys.isEmpty ? "id" : keys.joined(separator: ", "))
                + (limit.map { " limit \($0)" } ?? "")
        }
    }

    private static let columns = ["a", "b", "c", "d", "e"]

    /// A value of a column, as the library and as SQL spell it.
    private static func value(_ column: String, _ chance: inout Chance) -> (filter: String, sql: String) {
        let number = 10 + chance.below(20)
        switch column {
        case "a", "d": return ("\(number)", "\(number)")
        case "b": return ("'w\(number)'", "'w\(number)'")
        case "c":
            let day = "2026-01-\(number)T00:00:00.000Z"
            return ("datetimeoffset'\(day)'", "'\(day)'")
        default:
            let digits = "0000000\(number % 10)-0000-4000-8000-000000000000"
            return ("'\(digits)'", "'\(digits)'")
        }
    }

    private static func question(_ chance: inout Chance) -> Question {
        var (filters, conditions, pinned): ([String], [String], Set<String>) = ([], [], [])
        for column in columns.shuffled(using: &chance).prefix(chance.below(4)) {
            let (one, other) = (value(column, &chance), value(column, &chance))
            // SQL compares UUIDs in a range by their strings.
            switch chance.below(column == "e" ? 3 : 6) {
            case 0, 1:
                filters.append("\(column) eq \(one.filter)")
                conditions.append("\(column) = \(one.sql)")
                pinned.insert(column)
            case 2:
                guard one != other else { continue }
                filters.append("\(column) in (\(one.filter), \(other.filter))")
                conditions.append("\(column) in (\(one.sql), \(other.sql))")
            case 3:
                filters.append("\(column) gt \(one.filter)")
                conditions.append("\(column) > \(one.sql)")
            case 4:
                filters.append("\(column) le \(one.filter)")
                conditions.append("\(column) <= \(one.sql)")
            default:
                guard one != other else { continue }
                let (low, high) = one.filter < other.filter ? (one, other) : (other, one)
                filters.append("\(column) ge \(low.filter) and \(column) lt \(high.filter)")
                conditions.append("\(column) >= \(low.sql) and \(column) < \(high.sql)")
            }
        }
        // An order by a column with one value is none.
        let isDescending = chance.once(in: 2)
        let order = columns.filter { !pinned.contains($0) && $0 != "e" }.shuffled(using: &chance)
            .prefix(chance.below(3)).map { RowQuery.Key($0, descending: isDescending) }
        return Question(
            filter: filters.joined(separator: " and "), condition: conditions.joined(separator: " and "), order: order,
            limit: chance.once(in: 2) ? 1 + chance.below(30) : nil,
            // Keys of entries have the values for SQL and not for the library.
            select: ["z"] + (chance.once(in: 2) ? [chance.pick(columns)] : []), pinned: pinned)
    }

    private static func store(_ chance: inout Chance) async throws -> SyncDatabase {
        let database = try await SyncDatabase.open(MemoryStorage())
        try await database.declareColumns(
            table: "t", ["a": .integer, "b": .string, "c": .date, "d": .integer, "e": .uuid, "z": .integer])
        for _ in 0..<2 + chance.below(3) {
            let sorted = Array(columns.shuffled(using: &chance).prefix(1 + chance.below(3)))
            let including = chance.below(3) == 0 ? ["z"] + columns.filter { !sorted.contains($0) } : []
            try await database.declareIndex(table: "t", columns: sorted, including: including)
        }
        var values: [Value] = []
        for row in 0..<200 {
            values.append([
                "id": .string("r\(row)"), "a": .integer(Int64(10 + chance.below(20))),
                "b": .string("w\(10 + chance.below(20))"),
                "c": .date(Timestamp(.init(seconds: 1_767_225_600 + Int64(chance.below(20)) * 86_400))),
                "d": .integer(Int64(10 + chance.below(20))),
                "e": .string("0000000\(chance.below(10))-0000-4000-8000-000000000000"), "z": .integer(1),
            ])
        }
        let rows = values
        try await database.transaction { transaction in
            for row in rows { _ = try transaction.insert("t", row) }
        }
        return database
    }

    /// The columns of the index that a plan of SQLite names.
    private static func index(_ details: [String]) -> String {
        for detail in details {
            if let name = detail.range(of: "the index on ") {
                return String(detail[name.upperBound...].prefix { $0 != ":" }).replacing(/, in order.*/, with: "")
            }
        }
        return "the whole table"
    }

    @Test func `the library and SQL choose the same index`() async throws {
        var chance = Chance(seed: 45)
        var (asked, indexed, skipped) = (0, 0, 0)
        while asked < IndexChoiceTests.count {
            let database = try await IndexChoiceTests.store(&chance)
            let reader = try database.present.reader
            for _ in 0..<200 {
                let question = IndexChoiceTests.question(&chance)
                let plan = try reader.explain(question.rowQuery()).plan
                var wanted = "the whole table"
                if case .index(let columns, let isOrdered, _) = plan.access {
                    // The library also uses an index that decides only the first keys of an order.
                    let left = columns.drop { question.pinned.contains($0) }
                    if isOrdered, !left.starts(with: question.order.map(\.column)) {
                        skipped += 1
                        continue
                    }
                    wanted = columns.joined(separator: ", ")
                    indexed += 1
                }
                let details = try await database.sql("explain query plan " + question.sql).map {
                    if case .string(let text)? = $0["detail"] { text } else { "" }
                }
                let indexes = try reader.indexes(of: "t").map { "\($0.columns) + \($0.including)" }
                try #require(
                    IndexChoiceTests.index(details) == wanted,
                    "\(question.sql): the library \(plan), SQL \(details), of \(indexes)")
                asked += 1
            }
        }
        #expect(indexed > asked / 2 && skipped < asked / 4)
    }
}
