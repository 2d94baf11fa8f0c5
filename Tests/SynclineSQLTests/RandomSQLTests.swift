// Random statements over random stores, at the present and at moments of the past: SQLite over copied tables gives the
// same answers. Each store has 72 statements.

import Foundation
import SynclineCore
import SynclineTesting
import Testing

@testable import Syncline
@testable import SynclineSQL

@Suite struct RandomSQLTests {
    @Test(arguments: Seeds.some(12))
    func `answers are those of SQLite with the same rows`(seed: UInt64) async throws {
        var store = try await RandomStore(seed: seed)
        try await store.live(steps: 40)
        let before = store.database.lastEvent
        try await store.live(steps: 40)
        let past = try await store.database.history(at: 1 + store.chance.below(Int(before.rawValue)))
        // The present, another moment, and both in one statement.
        for (place, (state, other)) in [
            (try store.database.present, nil), (past, nil), (try store.database.present, past),
        ]
        .enumerated() {
            try await compare(
                state, with: other, chance: Chance(seed: seed &* 3 &+ UInt64(place)), seed,
                hasWholeDoubles: store.hasWholeDoubles)
        }
        try await store.database.close()
    }

    private func compare(
        _ state: StoreSnapshot, with other: StoreSnapshot?, chance: Chance, _ seed: UInt64, hasWholeDoubles: Bool
    ) async throws {
        let plain = try PlainSQLite()
        var tables = try await copy(state, to: plain, suffix: "")
        if let other { tables += try await copy(other, to: plain, suffix: "@\(other.event)") }
        guard !tables.isEmpty else { return }
        var random = RandomSQL(chance: chance, tables: tables)
        random.indexes = try tables.filter { !$0.name.contains("@") }.flatMap { table in
            try state.reader.indexes(of: table.name).map { (table.name, $0.columns, $0.including) }
        }
        for _ in 0..<24 {
            let (text, isOrdered) = random.statement()
            let expected: [[Value]]
            do {
                expected = try plain.run(text)
            } catch let failure as PlainSQLite.Failure {
                // The sum of large integers overflows in both.
                let error = await #expect(throws: SyncError.self, "seed \(seed): \(text)") {
                    try await state.sql(text)
                }
                for words in [failure.description, error?.message ?? ""] {
                    #expect(words.contains("integer overflow"), "seed \(seed): \(text)")
                }
                continue
            }
            let found = try await state.sql(text).map(\.values)
            let isExact = isOrdered ? found == expected : sorted(found) == sorted(expected)
            let isSame = isExact || hasWholeDoubles && isSame(found, expected, isOrdered, text)
            #expect(isSame, "seed \(seed), @\(state.event): \(text)\n\(sorted(found))\n\(sorted(expected))")
        }
    }

    /// Whether the rows are the same if an integer may take the place of an equal double: anywhere in a statement that
    /// chooses one of several equal values, and otherwise in the order only.
    private func isSame(_ found: [[Value]], _ expected: [[Value]], _ isOrdered: Bool, _ text: String) -> Bool {
        let (some, others) = (found.map { $0.map(plain) }, expected.map { $0.map(plain) })
        guard isOrdered ? some == others : sorted(some) == sorted(others) else { return false }
        return RandomSQLTests.choosesValues(text) || sorted(found) == sorted(expected)
    }

    /// Whether SQLite takes one of several equal values, of which some may be integers and others doubles.
    private static func choosesValues(_ text: String) -> Bool {
        ["limit", "union", "except", "intersect", "distinct", "group by", "min(", "max("].contains { text.contains($0) }
    }

    /// The same number for an integer and an equal double.
    private func plain(_ value: Value) -> Value {
        guard case .double(let number) = value, let whole = Int64(exactly: number) else { return value }
        return .integer(whole)
    }

    private static let declared: [ColumnType: String] = [
        .string: "text", .date: "text", .integer: "integer", .number: "real", .boolean: "numeric",
    ]

    private func copy(
        _ state: StoreSnapshot, to plain: PlainSQLite, suffix: String
    ) async throws -> [(name: String, columns: [String])] {
        var tables: [(name: String, columns: [String])] = []
        for name in RandomStore.tables {
            let rows = try await state.query(RowQuery(table: name)).rows
            if rows.isEmpty { continue }
            let columns = ["id"] + Set(rows.flatMap(\.columns.columns)).sorted()
            let types = try state.reader.types(of: name)
            var declared = ["id": "text"]
            for column in columns.dropFirst() { declared[column] = RandomSQLTests.declared[types[column]] }
            try plain.add(
                name + suffix, columns: columns, types: declared,
                rows: rows.map { row in
                    columns.map { column in
                        let value = column == "id" ? .string(row.id) : row.columns[column] ?? .null
                        // SQLite itself converts a value that does not fit.
                        return Meaning(value, as: types[column]).fits ? value.inSQL(as: types[column]) : value
                    }
                })
            // Only some statements name n; a table without it would refuse them.
            if columns.contains("n") { tables.append((name + suffix, columns)) }
        }
        return tables
    }

    private func sorted(_ rows: [[Value]]) -> [String] { rows.map { "\($0)" }.sorted() }
}
