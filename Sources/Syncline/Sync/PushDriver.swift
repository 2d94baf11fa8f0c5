// Does what the push machine says: stores, sends, waits, and tells it what came of it.

import SegmentLog
import Synchronization
import SynclineCore

struct PushDriver {
    let database: SyncDatabase
    let channel: ServerChannel
    let server: ServerProtocol
    let progress: @Sendable (SyncProgress) -> Void

    func run(_ plan: [PlannedOperation], _ options: PushOptions) async throws(SyncError) -> PushReport {
        let ids = try inAppWords { () throws(StateError) in try database.reader.idComparison }
        var machine = PushMachine(plan, ids: ids, options)
        let items = machine.items
        var warnings: Set<String> = []
        await withTaskGroup(of: (PushMachine.Input, warning: String?).self) { group in
            func begin(_ actions: [PushMachine.Action], _ places: [PushMachine.Item]) {
                for action in actions { group.addTask { await perform(action, places) } }
            }
            let first = machine.start()
            database.onTheirWay.withLock { $0 = Set(machine.active.map { machine.items[$0].operation.rowKey }) }
            begin(first, items)
            for await (input, warning) in group {
                if let warning { warnings.insert(warning) }
                let actions = machine.handle(input)
                database.onTheirWay.withLock { $0 = Set(machine.active.map { machine.items[$0].operation.rowKey }) }
                begin(actions, machine.items)
                progress(.pushing(done: machine.finishedCount, total: plan.count))
            }
        }
        database.onTheirWay.withLock { $0 = [] }
        return PushReport(machine.outcome, machine.items.map(\.report), warnings: warnings.sorted())
    }

    private func perform(
        _ action: PushMachine.Action, _ items: [PushMachine.Item]
    ) async -> (PushMachine.Input, warning: String?) {
        do throws(SyncError) {
            switch action {
            case .freeze(let index):
                if Task.isCancelled { return (.cancelled(index), nil) }
                return (.frozen(index, try await freeze(items[index])), nil)
            case .send(let index, let request):
                if Task.isCancelled { return (.cancelled(index), nil) }
                do throws(NetworkFailure) {
                    return (.replied(index, try await channel.send(request)), nil)
                } catch {
                    return (.failed(index, error), nil)
                }
            case .record(let index, let answer):
                return try await record(answer, index, items[index].operation)
            case .resolve(let index, let resolution):
                try await database.perform(.durable) { engine throws(SyncError) in
                    try engine.record(.resolved(resolution))
                    engine.touch(resolution.table)
                }
                return (.resolved(index), nil)
            case .wait(let index, let attempt, let after):
                let isOver = await database.wait(attempt: attempt, after)
                return (isOver ? .waited(index) : .cancelled(index), nil)
            case .refreshCredentials:
                return (.refreshed(await channel.renewToken()), nil)
            }
        } catch {
            return (.broken(error), nil)
        }
    }

    /// Makes sure that the operation is sent as it is now, also after a crash.
    private func freeze(_ item: PushMachine.Item) async throws(SyncError) -> PushMachine.Freezing {
        let operation = item.operation
        let (server, newID) = (server, database.configuration.surroundings.newID())
        return try await database.perform(.durable) { engine throws(SyncError) in
            func pending() throws(SyncError) -> PendingRow? {
                try inAppWords { () throws(StateError) in try engine.reader.entry(key: operation.rowKey)?.pending }
            }
            func ready(_ frozen: FrozenOperation) -> PushMachine.Freezing {
                if let conflict = Conflict(table: operation.table, id: operation.id, frozen) {
                    return .blocked(conflict)
                }
                return .ready(WriteRequest(frozen, table: operation.table, id: operation.id, server))
            }
            guard let before = try pending() else { return .nothing }
            if let frozen = before.frozen { return ready(frozen) }
            guard let first = before.operation?.first, first <= item.through else { return .nothing }
            try engine.record(
                .sent([
                    SentOperation(
                        table: operation.table, id: operation.id, operationID: newID, position: item.position,
                        through: item.through)
                ]))
            guard let frozen = try pending()?.frozen else { return .nothing }
            return ready(frozen)
        }
    }

    private func record(
        _ answer: Answer, _ index: Int, _ operation: PlannedOperation
    ) async throws(SyncError) -> (PushMachine.Input, warning: String?) {
        try await database.perform(.durable) { engine throws(SyncError) in
            func cursors() throws(SyncError) -> [CursorState] {
                try inAppWords { () throws(StateError) in
                    try engine.reader.cursors().filter { $0.table == answer.table }.map(\.state)
                }
            }
            let before = try cursors()
            try engine.record(.answered(answer))
            engine.touch(answer.table)
            let entry = try inAppWords { () throws(StateError) in try engine.reader.entry(key: operation.rowKey) }
            let conflict = entry?.pending?.frozen.flatMap {
                Conflict(table: operation.table, id: operation.id, $0)
            }
            let warning =
                try cursors() == before
                ? nil
                : "the server's clock went back in \(answer.table): its cursors were lowered, and the next pull reads again"
            return (.recorded(index, conflict, hasBase: entry?.base != nil), warning)
        }
    }
}
