// A store whose tables are in memory: nothing of it outlives its process.

import SynclineGround
package import SynclineWire

package final class MemoryTableStore: TableStore {
    private let tables: Mutex<MemoryTables>
    private let environment: any ServerEnvironment
    package let epoch: String

    package init(
        _ definitions: [TableDefinition], _ environment: any ServerEnvironment, limits: RowLimits = RowLimits()
    ) {
        self.environment = environment
        epoch = environment.newEpoch()
        let mark = ChangeMark(epoch: epoch, change: RowVersion.firstChange(of: epoch), purged: 0)
        tables = Mutex(MemoryTables(definitions, limits: limits, mark))
    }

    /// A snapshot: reading does not keep others from writing.
    private var now: MemoryTables { tables.withLock { $0 } }

    package var findsRowsAtOnce: Bool { true }

    package func schema(_ table: String) -> ServedTable? { tables.withLock { $0.schema(table) } }

    package func row(_ table: String, id: String) -> TableRow? { tables.withLock { $0.row(table, id: id) } }

    package func list(_ plan: ListPlan) throws(StoreFailure) -> ListOutcome {
        let now = now
        return try now.list(plan, of: now.rows(of: plan.table))
    }

    package func write(_ groups: [[TableWrite]], stopsAtRefusal: Bool, wantsRows: Bool) -> [[WriteOutcome]] {
        let time = environment.now()
        return tables.withLock {
            $0.write(groups, stopsAtRefusal: stopsAtRefusal, wantsRows: wantsRows, now: time)
        }
    }

    package func changes(_ plan: ChangePlan) throws(StoreFailure) -> ChangeOutcome { try now.changes(plan) }

    package func mark() -> ChangeMark { tables.withLock { $0.mark } }

    package func check() {}

    package func checkWrites() {}
}
