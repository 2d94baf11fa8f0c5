// A connection that runs nothing. It shows the statement that a read would begin with.

import SynclineTables

final class FirstStatement: SQLConnection {
    private(set) var statement: SQLStatement?
    private static let refusal = StoreFailure.broken("nothing is run here")

    func run(_ statement: SQLStatement, _ each: (any SQLRow) -> Bool) throws(StoreFailure) {
        if self.statement == nil { self.statement = statement }
        throw FirstStatement.refusal
    }

    func change(_ statement: SQLStatement) throws(StoreFailure) -> Int { throw FirstStatement.refusal }
    func execute(_ text: String) throws(StoreFailure) { throw FirstStatement.refusal }
    func tables(_ names: [String]) throws(StoreFailure) -> [String: DatabaseTable] { throw FirstStatement.refusal }
    func facts() throws(StoreFailure) -> DatabaseFacts { throw FirstStatement.refusal }
}
