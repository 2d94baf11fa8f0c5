// Configurations with many tables: a start asks the database a number of questions that does not grow with each table,
// and works within the locks of a PostgreSQL.

import SynclineCore
import SynclineGround
import SynclineTables
import Testing

@testable import SynclineServer

/// Counts what a connection is asked.
private final class CountingConnection: SQLConnection {
    private let inner: any SQLConnection
    private let counts: QuestionCounts

    init(_ inner: any SQLConnection, _ counts: QuestionCounts) { (self.inner, self.counts) = (inner, counts) }

    func run(_ statement: SQLStatement, _ each: (any SQLRow) -> Bool) throws(StoreFailure) {
        counts.statements.add(1, ordering: .relaxed)
        try inner.run(statement) { row in
            counts.rows.add(1, ordering: .relaxed)
            return each(row)
        }
    }

    func change(_ statement: SQLStatement) throws(StoreFailure) -> Int { try inner.change(statement) }

    func execute(_ text: String) throws(StoreFailure) {
        counts.statements.add(1, ordering: .relaxed)
        try inner.execute(text)
    }

    func begin(_ text: String) throws(StoreFailure) { try inner.begin(text) }

    func tables(_ names: [String]) throws(StoreFailure) -> [String: DatabaseTable] {
        counts.descriptions.add(1, ordering: .relaxed)
        return try inner.tables(names)
    }

    func facts() throws(StoreFailure) -> DatabaseFacts { try inner.facts() }
}

final class QuestionCounts: Sendable {
    let rows = Atomic(0)
    let statements = Atomic(0)
    let descriptions = Atomic(0)
}

struct CountingDatabase: SQLDatabase {
    let inner: any SQLDatabase
    let counts = QuestionCounts()

    var dialect: SQLDialect { inner.dialect }
    var pools: [PoolUse] { inner.pools }

    func read<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        try inner.read { connection throws(StoreFailure) in try body(CountingConnection(connection, counts)) }
    }

    func write<Result>(_ body: (any SQLConnection) throws(StoreFailure) -> Result) throws(StoreFailure) -> Result {
        try inner.write { connection throws(StoreFailure) in try body(CountingConnection(connection, counts)) }
    }

    func check() throws(StoreFailure) { try inner.check() }
    func checkWrites() throws(StoreFailure) { try inner.checkWrites() }
    func interrupt() { inner.interrupt() }
    func close() { inner.close() }
}

@Suite struct ManyTablesTests {
    /// The questions of a start: statements, and descriptions of tables.
    private func start(_ inner: any SQLDatabase, _ count: Int) throws -> (statements: Int, descriptions: Int) {
        let tables = (0..<count).map { #""table\#($0)":{"columns":{"text":"string"}}"# }.joined(separator: ",")
        let database = CountingDatabase(inner: inner)
        let settings = try configuration("{\"tables\":{\(tables)}}")
        let store = try SQLStore(database, settings.tables, StillEnvironment())
        #expect(store.currentCatalogue.tables.count == count)
        return (
            database.counts.statements.load(ordering: .relaxed), database.counts.descriptions.load(ordering: .relaxed)
        )
    }

    @Test(arguments: TestBackend.available)
    func `a start asks few questions, however many tables there are`(_ backend: TestBackend) throws {
        let (database, keeper) = try backend.database()
        let few = try start(database, 10)
        let many = try start(database, 610)
        #expect(few.descriptions <= 10 && many.descriptions <= 10, "\(few) \(many)")
        // A table is made by one statement, and recorded by three. The source of numbers takes a few.
        #expect(few.statements <= 10 * 4 + 40 && many.statements <= 600 * 4 + 40, "\(few) \(many)")
        let again = try start(database, 610)
        #expect(again.descriptions <= 3 && again.statements <= 15, "\(again)")
        withExtendedLifetime(keeper) {}
    }

    @Test(arguments: TestBackend.available)
    func `listeners cost few questions, however many tables there are`(_ backend: TestBackend) throws {
        let (inner, keeper) = try backend.database()
        let tables = (0..<250).map { #""table\#($0)":{"columns":{"text":"string"}}"# }.joined(separator: ",")
        let database = CountingDatabase(inner: inner)
        let store = try SQLStore(
            database, try configuration("{\"tables\":{\(tables)}}").tables, StillEnvironment())
        let mark = try store.mark()
        for table in ["table7", "table249"] {
            let write = TableWrite(.insert(Row([])), table: table, id: "a", serverProtocol: .zumo2)
            #expect(try store.write([[write]], stopsAtRefusal: false)[0][0].row != nil)
        }
        let end = try store.mark()
        let before = database.counts.statements.load(ordering: .relaxed)
        let news = try store.news(since: mark, isWhole: false)
        #expect(news.tables == ["table7", "table249"] && news.mark == end)
        // One for the mark, three for the tables, and those of ticks.
        #expect(database.counts.statements.load(ordering: .relaxed) - before < 40)
        #expect(try store.news(since: end, isWhole: false).tables == [])
        withExtendedLifetime(keeper) {}
    }
}
