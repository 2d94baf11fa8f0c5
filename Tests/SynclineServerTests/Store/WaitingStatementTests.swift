// Statements for PostgreSQL that wait for the next one: what they do and how they fail is as if each had been sent by itself.

import SynclineCore
import SynclineGround
import SynclineTables
import Testing

@testable import SynclineServer

@Suite struct WaitingStatementTests {
    private static let isThere = TestBackend.available.contains(.postgres)

    private struct Desk {
        let connection: PostgresConnection
        let url: String
        private let keeper: AnyObject

        init() throws {
            (url, keeper) = try TestBackend.postgres.store()
            connection = try PostgresConnection(url: url)
            try connection.execute("CREATE TABLE w (n bigint PRIMARY KEY, t varchar(3))")
        }

        func count() throws -> Int64? { try PostgresConnection(url: url).first(statement("SELECT count(*) FROM w")) }
    }

    private static func insert(_ numbers: ClosedRange<Int>) -> SQLStatement {
        statement("INSERT INTO w SELECT generate_series(\(numbers.lowerBound), \(numbers.upperBound))")
    }

    @Test(.enabled(if: isThere)) func `all is there after the commit, and nothing after a rollback`() throws {
        let desk = try Desk()
        for (end, wanted) in [("ROLLBACK", 0), ("COMMIT", 5)] as [(String, Int64)] {
            var seen: [Int64] = []
            try desk.connection.begin("BEGIN; SELECT set_config('jit', 'off', true)")
            try desk.connection.later(Self.insert(1...3), changes: 3)
            try desk.connection.later(statement("SELECT n FROM w ORDER BY n")) { seen.append($0.value(0).integer) }
            #expect(seen == [], "it waits")
            #expect(try desk.connection.change(Self.insert(4...5)) == 2)
            #expect(seen == [1, 2, 3])
            try desk.connection.execute(end)
            #expect(try desk.count() == wanted)
            #expect(desk.connection.isGood)
        }
        // Waiting statements are run before the end, and undone ones are not run.
        try desk.connection.begin("BEGIN")
        try desk.connection.later(Self.insert(6...6), changes: 1)
        try desk.connection.execute("COMMIT")
        try desk.connection.begin("BEGIN")
        try desk.connection.later(Self.insert(7...7), changes: 1)
        try desk.connection.execute("ROLLBACK")
        try desk.connection.begin("BEGIN")
        try desk.connection.run(Self.insert(8...8))
        try desk.connection.execute("SAVEPOINT s")
        try desk.connection.later(Self.insert(8...8))
        try desk.connection.execute("ROLLBACK TO SAVEPOINT s")
        try desk.connection.execute("COMMIT")
        #expect(try desk.count() == 7)
    }

    @Test(.enabled(if: isThere)) func `the first failure is told, and nothing after it is run`() throws {
        let desk = try Desk()
        _ = try desk.connection.change(Self.insert(1...2))
        let column = Column("t", .string)
        let tooLong = SQLStatement(
            prepared: "INSERT INTO w VALUES ($1, $2)", values: [.integer(9)],
            columns: BoundColumns(values: Row([.init("t", .string("long"))]), columns: [column]))
        let failures: [(SQLStatement, Int?, String)] = [
            (Self.insert(2...3), nil, "w_pkey"), (Self.insert(3...4), 3, "another transaction"),
            (statement("SELECT 1 / 0"), nil, "invalid-value"), (statement("SELECT x FROM w"), nil, "42703"),
            (tooLong, nil, "22001"),
        ]
        for (failing, count, reason) in failures {
            var isRun = false
            let failure = #expect(throws: StoreFailure.self) {
                try desk.connection.transaction("BEGIN") { () throws(StoreFailure) in
                    if let count {
                        try desk.connection.later(failing, changes: count)
                    } else {
                        try desk.connection.later(failing)
                    }
                    try desk.connection.later(statement("SELECT 1")) { _ in isRun = count == nil }
                    try desk.connection.run(Self.insert(5...6)) { _ in true }
                    return ((), true)
                }
            }
            let told = failure.map { "\($0)" } ?? ""
            #expect(told.contains(reason) || told.contains("invalid-value"), "\(told)")
            #expect(!isRun && desk.connection.isGood)
            #expect(try desk.count() == 2)
        }
    }

    @Test(.enabled(if: isThere)) func `more statements than a connection keeps are prepared again`() throws {
        let desk = try Desk()
        for number in 0..<150 {
            var before: Int64 = 0
            let after = try desk.connection.reading(.postgres) { () throws(StoreFailure) in
                try desk.connection.later(statement("SELECT \(number)")) { before = $0.value(0).integer }
                try desk.connection.later(statement("SELECT 1")) { _ in }
                return try desk.connection.first(statement("SELECT -\(number)"))
            }
            #expect(before == Int64(number) && after == -before)
        }
        let kept = try desk.connection.first(statement("SELECT count(*) FROM pg_prepared_statements"))
        #expect(try #require(kept) <= 200)
    }

    @Test(.enabled(if: isThere)) func `rows stream together with the beginning, and may be stopped`() throws {
        let desk = try Desk()
        var many = statement("SELECT generate_series(1, 20000)")
        many.isLarge = true
        for wanted in [20_000, 10] {
            let got = try desk.connection.reading(.postgres) { () throws(StoreFailure) in
                var (count, before) = (0, 0 as Int64)
                try desk.connection.later(statement("SELECT 7")) { before = $0.value(0).integer }
                try desk.connection.run(many) { row in
                    count += before == 7 && row.value(0).integer == Int64(count + 1) ? 1 : 0
                    return count < wanted
                }
                return count
            }
            #expect(got == wanted)
            #expect(try desk.connection.first(statement("SELECT 8")) == 8)
        }
    }

    @Test(.enabled(if: isThere), arguments: [true, false])
    func `an expected statement is sent with those before it, and is read when it is run`(_ isLarge: Bool) throws {
        let desk = try Desk()
        var many = statement("SELECT generate_series(1, 20000)")
        many.isLarge = isLarge
        for wanted in [20_000, 10] {
            var (before, isRight) = (0 as Int64, nil as Bool?)
            let got = try desk.connection.reading(.postgres) { () throws(StoreFailure) in
                try desk.connection.later(statement("SELECT 7")) { before = $0.value(0).integer }
                desk.connection.expect(many) { isRight = $0 }
                let first = try desk.connection.first(statement("SELECT 6"))
                #expect(first == 6 && before == 7 && isRight == nil)
                try desk.connection.flush()
                var count = 0
                try desk.connection.run(many) { row in
                    count += row.value(0).integer == Int64(count + 1) ? 1 : 0
                    return count < wanted
                }
                return count
            }
            #expect(got == wanted && isRight == true && desk.connection.isGood)
            #expect(try desk.connection.first(statement("SELECT 8")) == 8)
        }
    }

    @Test(.enabled(if: isThere)) func `another one than the expected one is run as if none had been`() throws {
        let desk = try Desk()
        for expected in [statement("SELECT 1"), Self.insert(1...1)] {
            for end in ["COMMIT", "ROLLBACK", ""] {
                var isRight: Bool?
                try desk.connection.begin("BEGIN READ ONLY")
                desk.connection.expect(expected) { isRight = $0 }
                // An insert fails here, and the transaction with it.
                let fails = expected != statement("SELECT 1")
                #expect(try desk.connection.first(statement("SELECT 6")) == 6 && isRight == nil)
                if end.isEmpty {
                    let found = try? desk.connection.first(statement("SELECT 5"))
                    #expect(found == (fails ? nil : 5))
                    try desk.connection.execute("ROLLBACK")
                } else if fails {
                    _ = try? desk.connection.execute(end)
                    _ = try? desk.connection.execute("ROLLBACK")
                } else if end == "COMMIT" {
                    try desk.connection.endReading()
                } else {
                    try desk.connection.execute(end)
                }
                #expect(isRight == false && desk.connection.isGood, "\(end)")
                #expect(try desk.connection.first(statement("SELECT 8")) == 8)
            }
        }
        // What fails before it skips it.
        try desk.connection.begin("BEGIN")
        desk.connection.expect(Self.insert(2...2)) { _ in }
        #expect(throws: StoreFailure.self) { try desk.connection.first(statement("SELECT 1 / 0")) }
        try desk.connection.execute("ROLLBACK")
        #expect(try desk.connection.first(statement("SELECT 8")) == 8 && desk.count() == 0)
        // Nothing was sent, so nothing is.
        try desk.connection.begin("BEGIN")
        desk.connection.expect(Self.insert(3...3)) { _ in }
        try desk.connection.execute("COMMIT")
        #expect(try desk.connection.first(statement("SELECT 8")) == 8 && desk.count() == 0)
    }

    @Test(.enabled(if: isThere)) func `the end of reads is not awaited, and a lost connection is noticed`() throws {
        let desk = try Desk()
        func read() throws -> Int64? {
            try desk.connection.reading(.postgres) { () throws(StoreFailure) in
                try desk.connection.first(statement("SELECT pg_backend_pid()"))
            }
        }
        let id = try #require(try read())
        #expect(try read() == id, "a transaction follows the other at once")
        #expect(try desk.connection.change(Self.insert(1...1)) == 1)
        #expect(try desk.count() == 1, "it is committed by itself")
        // Nothing was read: the database does not hear of the transaction.
        try desk.connection.reading(.postgres) { () throws(StoreFailure) in }
        #expect(desk.connection.isGood)
        _ = try read()
        let ended = try PostgresConnection(url: desk.url).first(
            statement("SELECT pg_terminate_backend(\(id), 60000)::int"))
        #expect(ended == 1)
        #expect(throws: StoreFailure.self) { try read() }
        #expect(!desk.connection.isGood && desk.connection.isLost)
    }
}

private func statement(_ text: String) -> SQLStatement { SQLStatement(prepared: text) }

extension SQLConnection {
    /// The number in the first row.
    fileprivate func first(_ statement: SQLStatement) throws(StoreFailure) -> Int64? {
        try first(statement) { $0.value(0).integer }
    }
}
