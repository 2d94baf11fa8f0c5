// Writes to an SQLite file that another program has locked.

import SynclineCore
import SynclineTables
import SynclineTesting
import Testing

@testable import SynclineServer

@Suite struct LockWaitTests {
    @Test
    func `no write waits for another program's lock once the server stops, and nothing of it is written`() throws {
        let folder = try TemporaryFolder()
        let path = folder.path + "/test.db"
        let database = try SQLiteDatabase(path: path)
        let table = TableDefinition("t", columns: [Column("text", .string)])
        let store = try SQLStore(database, [table], StillEnvironment())
        func write(_ id: String) throws -> [[WriteOutcome]] {
            let row = Row([.init("text", .string("x"))])
            return try store.write(
                [[TableWrite(.insert(row), table: "t", id: id, serverProtocol: .zumo2)]], stopsAtRefusal: true)
        }
        #expect(try !write("before")[0][0].isRefused)
        let asks = {
            try database.write { connection throws(StoreFailure) in
                (connection as? SQLiteConnection)?.waitsForLock(0)
            }
        }
        #expect(try asks() == true)
        let other = try SQLiteConnection(path: path, isReader: false)
        try other.execute("BEGIN IMMEDIATE")
        store.interrupt()
        for number in 0..<3 {
            #expect {
                try write("n\(number)")
            } throws: { error in
                guard case .busy? = error as? StoreFailure else { return false }
                return true
            }
        }
        try other.execute("ROLLBACK")
        #expect(try asks() == false)
        #expect(try !write("after")[0][0].isRefused)
        let count: SQLStatement = "SELECT count(*) FROM \"t\""
        try database.read { connection throws(StoreFailure) in
            #expect(try connection.first(count, count: 1)?[0].integer == 2)
        }
        store.close()
    }
}
