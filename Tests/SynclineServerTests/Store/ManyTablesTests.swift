// Configurations with many tables: a start asks the database a number of questions that does not grow with each table,
// and works within the locks of a PostgreSQL.

import SynclineCore
import SynclineGround
import SynclineTables
import Testing

@testable import SynclineServer

@Suite struct ManyTablesTests {
    /// The questions of a start: all, and descriptions of tables.
    private func start(_ inner: any SQLDatabase, _ count: Int) throws -> (all: Int, descriptions: Int) {
        let tables = (0..<count).map { #""table\#($0)":{"columns":{"text":"string"}}"# }.joined(separator: ",")
        let database = CountingDatabase(inner: inner)
        let settings = try configuration("{\"tables\":{\(tables)}}")
        let store = try SQLStore(database, settings.tables, StillEnvironment())
        #expect(store.currentCatalogue.tables.count == count)
        return (
            database.counts.trips.load(ordering: .relaxed), database.counts.descriptions.load(ordering: .relaxed)
        )
    }

    @Test(arguments: TestBackend.available)
    func `a start asks few questions, however many tables there are`(_ backend: TestBackend) throws {
        let (database, keeper) = try backend.database()
        let few = try start(database, 10)
        let many = try start(database, 610)
        #expect(few.descriptions <= 10 && many.descriptions <= 10, "\(few) \(many)")
        // A table is made by one statement, and recorded by three. The source of numbers takes a few.
        #expect(few.all <= 10 * 4 + 40 && many.all <= 600 * 4 + 40, "\(few) \(many)")
        let again = try start(database, 610)
        #expect(again.descriptions <= 3 && again.all <= 20, "\(again)")
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
        let before = database.counts.trips.load(ordering: .relaxed)
        let news = try store.news(since: mark, isWhole: false)
        #expect(news.tables == ["table7", "table249"] && news.mark == end)
        // One for the mark, and a few for the tables.
        #expect(database.counts.trips.load(ordering: .relaxed) - before < 10)
        #expect(try store.news(since: end, isWhole: false).tables == [])
        withExtendedLifetime(keeper) {}
    }
}
