// SQL and typed queries over a store, compared with SQLite's own tables with the same rows and indexes: each is run in turn
// by the store and by each shape of those tables, and the answers are compared.

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
        let peers = try NativeTables.shapes.map { try NativeTables($0, directory, rows: options.rows, lists: lists) }
        defer { for peer in peers { peer.close() } }
        try await fill(database)
        for question in SQLQuestion.all where options.statements?.contains(question.name) ?? true {
            show(
                try await measure(question.name, question.text, peers) {
                    try await database.sql(question.text)
                } texts: { rows in
                    rows.map { $0.values.map(SQLBench.text) }
                })
        }
        // The types of the models' columns make new indexes. The store of an app has them in its checkpoint.
        _ = (try database.table(SQLItem.self), try database.table(SQLList.self))
        try await database.checkpoint()
        for question in TypedQuestion.all where options.statements?.contains(question.name) ?? true {
            show(
                try await measure(question.name, question.text, peers, isKept: true) {
                    try await question.answer(database)
                } texts: { texts in
                    texts()
                })
        }
        if options.statements == nil { try await search(database, peers, show) }
        try await database.close()
    }

    private func search(
        _ database: SyncDatabase, _ peers: [NativeTables], _ show: (SQLMeasurement) -> Void
    ) async throws {
        let search = FullText(database, [FullTextIndex("item", columns: ["title"])])
        try await search.update()
        let native =
            "select t.id from words join item t on t.rowid = words.rowid where words match 'w7' "
            + "order by words.rank, t.id limit 50"
        show(
            try await measure("full text, 50 of all matches", native, peers.filter(\.hasWords)) {
                try await search.search("item", TextQuery("w7", lastIsPrefix: false))
            } texts: { matches in
                matches.map { [$0.row.id] }
            })
    }

    /// How long a statement is run at least, by all together.
    private static let leastTime: UInt64 = 400_000_000

    /// - Parameters:
    ///   - isKept: Whether SQLite prepares the statement only once.
    ///   - texts: The values of an answer as strings, to compare them. It is not timed: both sides are timed until they have
    ///     a value for each column of each row.
    private func measure<Answer>(
        _ name: String, _ statement: String, _ peers: [NativeTables], isKept: Bool = false,
        _ ours: () async throws -> Answer, texts: (Answer) -> [[String]]
    ) async throws -> SQLMeasurement {
        var times: [Double] = []
        var peerTimes = peers.map { _ in [Double]() }
        var rows = 0
        var (round, spent) = (0, 0.0)
        // The first round is not counted. Short statements run more often, because a few runs are mostly cold caches.
        while round <= options.rounds || spent < Double(SQLBench.leastTime) / 1e6 && round <= 1000 {
            defer { round += 1 }
            let start = monotonicNanoseconds()
            let answer = try await ours()
            let time = Double(monotonicNanoseconds() - start) / 1e6
            let found = texts(answer)
            rows = found.count
            spent += time
            if round > 0 { times.append(time) }
            for (index, peer) in peers.enumerated() {
                let start = monotonicNanoseconds()
                let expected = try peer.rows(statement, isKept: isKept)
                let time = Double(monotonicNanoseconds() - start) / 1e6
                guard found == expected else { throw BenchError("\(name): the answer of \(peer.name) differs") }
                spent += time
                if round > 0 { peerTimes[index].append(time) }
            }
        }
        let medians = zip(peers, peerTimes).map { ($0.name, median($1)) }
        guard let fastest = medians.min(by: { $0.1 < $1.1 }) else {
            throw BenchError("\(name): nothing to compare with")
        }
        return SQLMeasurement(
            statement: name, rows: rows, milliseconds: median(times), nativeMilliseconds: fastest.1, fastest: fastest.0)
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
                            .init("origin", .string(item.origin)),
                        ]))
                }
            }
        }
        try await database.transaction { transaction in
            for number in 0..<lists {
                let list = SQLList(number)
                let columns = SynclineCore.Row([.init("name", .string(list.name)), .init("kind", .integer(list.kind))])
                try transaction.insert("list", id: list.id, columns: columns)
            }
        }
        try await database.checkpoint()
    }
}
