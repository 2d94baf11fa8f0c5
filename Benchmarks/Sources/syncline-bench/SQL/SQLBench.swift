// SQL over a store, compared with SQLite's own tables with the same rows and indexes: each statement is run by both in turn,
// and their answers are compared.

import CBenchSupport
import Foundation
import Syncline
import SynclineCore
import SynclineSQL

struct SQLBench {
    let options: SQLOptions
    let directory: String

    /// Runs everything, and shows each measurement. Not on the main actor: going from there to the thread of a statement and
    /// back takes as long as a small statement.
    @concurrent
    func run(_ show: @Sendable (SQLMeasurement) -> Void) async throws -> [SQLMeasurement] {
        var measurements: [SQLMeasurement] = []
        try await measureAll { measurement in
            show(measurement)
            measurements.append(measurement)
        }
        return measurements
    }

    private func measureAll(_ show: (SQLMeasurement) -> Void) async throws {
        let database = try await SyncDatabase.open(at: directory + "/store")
        let native = try SQLiteConnection(directory + "/native.sqlite")
        defer { native.close() }
        try await fill(database)
        try fill(native)
        for question in SQLQuestion.all where options.statements?.contains(question.name) ?? true {
            show(
                try await measure(question.name) {
                    try await database.sql(question.text).map { $0.values.map(SQLBench.text) }
                } native: {
                    try native.rows(question.text)
                })
        }
        if options.statements == nil { try await search(database, native, show) }
        try await database.close()
    }

    private func search(
        _ database: SyncDatabase, _ native: SQLiteConnection, _ show: (SQLMeasurement) -> Void
    ) async throws {
        let search = FullText(database, [FullTextIndex("item", columns: ["title"])])
        try await search.update()
        show(
            try await measure("full text, 50 of all matches") {
                try await search.search("item", TextQuery("w7", lastIsPrefix: false)).map { [$0.row.id] }
            } native: {
                try native.rows(
                    "select t.id from words join item t on t.rowid = words.rowid where words match 'w7' "
                        + "order by words.rank, t.id limit 50")
            })
    }

    /// How long a statement is run at least, by both together.
    private static let leastTime: UInt64 = 200_000_000

    private func measure(
        _ name: String, _ ours: () async throws -> [[String]], native: () throws -> [[String]]
    ) async throws -> SQLMeasurement {
        var times: (ours: [Double], native: [Double]) = ([], [])
        var rows = 0
        var (round, spent) = (0, UInt64(0))
        // The first round is not counted. Short statements run more often, because a few runs are mostly cold caches.
        while round <= options.rounds || spent < SQLBench.leastTime && round <= 1000 {
            defer { round += 1 }
            let start = monotonicNanoseconds()
            let found = try await ours()
            let middle = monotonicNanoseconds()
            let expected = try native()
            let end = monotonicNanoseconds()
            guard found == expected else { throw BenchError("\(name): the answers differ") }
            rows = found.count
            spent += end - start
            if round == 0 { continue }
            times.ours.append(Double(middle - start) / 1e6)
            times.native.append(Double(end - middle) / 1e6)
        }
        return SQLMeasurement(
            statement: name, rows: rows, milliseconds: median(times.ours), nativeMilliseconds: median(times.native))
    }

    private func median(_ times: [Double]) -> Double { times.sorted()[times.count / 2] }

    private static func text(_ value: Value) -> String {
        switch value {
        case .string(let text): text
        case .integer(let number): "\(number)"
        default: "\(value)"
        }
    }

    // MARK: Rows

    private var lists: Int { max(1, options.rows / 100) }

    private func fill(_ database: SyncDatabase) async throws {
        try await database.declareIndex(table: "item", column: "list")
        try await database.declareIndex(table: "item", column: "due")
        for first in stride(from: 0, to: options.rows, by: 1000) {
            try await database.transaction { transaction in
                for number in first..<min(first + 1000, options.rows) {
                    let item = SQLItem(number, lists)
                    try transaction.insert(
                        "item", id: item.id,
                        columns: SynclineCore.Row([
                            .init("list", .string(item.list)), .init("due", .integer(item.due)),
                            .init("done", .integer(item.done)), .init("title", .string(item.title)),
                        ]))
                }
            }
        }
        try await database.transaction { transaction in
            for number in 0..<lists {
                let columns = SynclineCore.Row([
                    .init("name", .string("list \(number)")), .init("kind", .integer(Int64(number % 7))),
                ])
                try transaction.insert("list", id: SQLItem.list(number), columns: columns)
            }
        }
        try await database.checkpoint()
    }

    private func fill(_ native: SQLiteConnection) throws {
        try native.run(
            """
            create table item (id text primary key not null, list text, due integer, done integer, title text);
            create table list (id text primary key not null, name text, kind integer);
            create index lists on item (list); create index dues on item (due);
            create virtual table words using fts5 (title, content = '', tokenize = 'unicode61 remove_diacritics 2');
            begin
            """)
        let addItem = try native.insertion("insert into item values (?1, ?2, ?3, ?4, ?5)")
        let addWords = try native.insertion("insert into words (rowid, title) values (last_insert_rowid(), ?1)")
        for number in 0..<options.rows {
            let item = SQLItem(number, lists)
            try addItem([
                .text(item.id), .text(item.list), .integer(item.due), .integer(item.done), .text(item.title),
            ])
            try addWords([.text(item.title)])
        }
        let addList = try native.insertion("insert into list values (?1, ?2, ?3)")
        for number in 0..<lists {
            try addList([.text(SQLItem.list(number)), .text("list \(number)"), .integer(Int64(number % 7))])
        }
        try native.run("commit; analyze")
    }
}

/// A row that follows from its number.
private struct SQLItem {
    let id: String
    let list: String
    let due: Int64
    let done: Int64
    let title: String

    init(_ number: Int, _ lists: Int) {
        var random = SplitMix64(seed: UInt64(number))
        id = "\(String(random.next(), radix: 16))-\(number)"
        list = SQLItem.list(random.below(UInt64(lists)))
        due = Int64(random.below(1_000_000_000))
        done = Int64(random.below(2))
        title = "w\(random.below(1000)) w\(random.below(1000)) \(number)"
    }

    static func list(_ number: Int) -> String { "l\(number)" }
}

/// A statement. Its rows have one order, so that answers can be compared.
struct SQLQuestion {
    let name: String
    let text: String

    static let all = [
        SQLQuestion(
            name: "join and group",
            text: "select l.name, count(*) c, sum(i.due) from item i join list l on l.id = i.list "
                + "group by l.id order by l.id"),
        SQLQuestion(
            name: "join of one list",
            text: "select i.id, i.title, l.name from list l join item i on i.list = l.id "
                + "where l.id = 'l7' order by i.id"),
        SQLQuestion(
            name: "join of a kind",
            text: "select l.id, max(i.due) from list l join item i on i.list = l.id "
                + "where l.kind = 3 and i.done = 1 group by l.id order by l.id"),
        SQLQuestion(name: "group", text: "select done, count(*), min(due), max(due) from item group by done"),
        SQLQuestion(name: "group of many", text: "select list, count(*) from item group by list order by list"),
        SQLQuestion(name: "count", text: "select count(*) from item where done = 1"),
        SQLQuestion(name: "order, all", text: "select id, due from item order by due, id"),
        SQLQuestion(name: "order, first 50", text: "select id, title from item order by title limit 50"),
        SQLQuestion(
            name: "order by an index, first 50", text: "select due, title from item order by due desc limit 50"),
        SQLQuestion(
            name: "range of an index",
            text: "select id, due from item where due between 5000000 and 6000000 order by id"),
        SQLQuestion(
            name: "window",
            text: "select list, id, rank() over (partition by list order by due, id) r from item "
                + "order by list, r limit 1000"),
        SQLQuestion(name: "id", text: "select name from list where id = 'l9'"),
    ]
}
