// A store whose tables are a value in memory: nothing of it outlives its process.

import SynclineGround
package import SynclineWire

/// Tables that a store in memory shares.
package protocol SharedTables: Sendable {
    var memory: MemoryTables { get }
    mutating func list(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome
    func changes(_ plan: ChangePlan) throws(StoreFailure) -> ChangeOutcome
    mutating func write(
        _ groups: [[TableWrite]], stopsAtRefusal: Bool, wantsRows: Bool, now: Int64
    ) -> [[WriteOutcome]]
}

package final class MemoryTableStore<Tables: SharedTables>: TableStore {
    private let tables: Mutex<Tables>
    private let environment: any ServerEnvironment

    package init(_ tables: Tables, _ environment: any ServerEnvironment) {
        self.tables = Mutex(tables)
        self.environment = environment
    }

    /// Reads or changes everything at once.
    package func change<Result: Sendable>(_ body: (inout Tables) -> Result) -> Result {
        tables.withLock { body(&$0) }
    }

    package var findsRowsAtOnce: Bool { true }
    package var epoch: String { mark().epoch }

    package func schema(_ table: String) -> ServedTable? { change { $0.memory.schema(table) } }

    package func row(_ table: String, id: String) -> TableRow? { change { $0.memory.row(table, id: id) } }

    package func row(_ table: String, id: String, seenBy caller: Caller?) throws(StoreFailure) -> TableRow? {
        let memory = change { $0.memory }
        return try memory.row(table, id: id).flatMap { row throws(StoreFailure) in
            try memory.judge(table, caller)?.sight(of: row) ?? nil
        }
    }

    package func permitted(
        _ table: String, id: String, to caller: Caller?
    ) throws(StoreFailure) -> Set<RuleOperation>? {
        let memory = change { $0.memory }
        return try memory.row(table, id: id).flatMap { row throws(StoreFailure) in
            try memory.judge(table, caller)?.permitted(on: row) ?? nil
        }
    }

    package func list(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome {
        try tables.withLock { tables throws(StoreFailure) in try tables.list(plan) }
    }

    package func write(_ groups: [[TableWrite]], stopsAtRefusal: Bool, wantsRows: Bool) -> [[WriteOutcome]] {
        let now = environment.now()
        return change { $0.write(groups, stopsAtRefusal: stopsAtRefusal, wantsRows: wantsRows, now: now) }
    }

    package func changes(_ plan: ChangePlan) throws(StoreFailure) -> ChangeOutcome {
        try change { $0 }.changes(plan)
    }

    package func mark() -> ChangeMark { change { $0.memory.mark } }

    package func check() {}
    package func checkWrites() {}
}
