// Runs the actions of the push machine: stores, sends and waits, and feeds the results back.

import SegmentLog
import SynclineCore
import SynclineGround

struct PushDriver {
    let database: SyncDatabase
    let channel: ServerChannel
    /// The interruptions of the store when the push began.
    let interruptions: Int
    let progress: @Sendable (SyncProgress) -> Void

    func run(_ plan: [PlannedOperation], _ options: PushSettings) async throws(SyncError) -> PushReport {
        let ids = try database.read { reader throws(SyncError) in try reader.idComparison }
        var machine = PushMachine(plan, ids: ids, options)
        do throws(SyncError) {
            // Before anything is recorded as sent.
            if plan.contains(where: \.isToBeSent) { try await database.admit(try await channel.currentToken()) }
        } catch {
            machine.refuse(error)
            return PushReport(machine.outcome, machine.items.map(\.report))
        }
        var warnings: Set<String> = []
        await withTaskGroup(of: [Outcome].self) { group in
            func begin(_ actions: [PushMachine.Action]) {
                database.onTheirWay.withLock { $0 = machine.rowsOnTheirWay }
                // Changes to be stored together share a commit.
                var recordings: [PushMachine.Recording] = []
                for action in actions {
                    if case .store(let storing) = action {
                        recordings.append(storing)
                    } else {
                        group.addTask { await perform(action) }
                    }
                }
                if !recordings.isEmpty { group.addTask { [recordings] in await store(recordings) } }
            }
            begin(machine.start())
            for await outcomes in group {
                var actions: [PushMachine.Action] = []
                for outcome in outcomes {
                    if let warning = outcome.warning { warnings.insert(warning) }
                    actions += machine.handle(outcome.input)
                }
                begin(actions)
                progress(.pushing(done: machine.finishedCount, total: machine.total))
            }
        }
        database.onTheirWay.withLock { $0 = [] }
        return PushReport(machine.outcome, machine.items.map(\.report), warnings: warnings.sorted())
    }

    /// The result of an action.
    private struct Outcome: Sendable {
        var input: PushMachine.Input
        var warning: String?
    }

    private func perform(_ action: PushMachine.Action) async -> [Outcome] {
        switch action {
        case .store(let storing): return await store([storing])
        case .send(let index, let request):
            return await send([index], request) { .replied(index, $0) }
        case .sendTogether(let indices, let requests):
            return await send(indices, .batch(requests)) { .repliedTogether(indices, $0) }
        case .wait(let index, let attempt, let after):
            let isOver = await database.wait(attempt: attempt, after, channel.limits)
            return [Outcome(input: isOver ? .waited(index) : .cancelled(index))]
        case .refreshCredentials:
            return [Outcome(input: .refreshed(await channel.renewCredentials()))]
        }
    }

    private func send(
        _ indices: [Int], _ request: ServerRequest, _ replied: (ServerReply) -> PushMachine.Input
    ) async -> [Outcome] {
        if Task.isCancelled { return indices.map { Outcome(input: .cancelled($0)) } }
        do throws(NetworkFailure) {
            return [Outcome(input: replied(try await channel.send(request)))]
        } catch {
            return indices.map { Outcome(input: .failed($0, error)) }
        }
    }

    // MARK: The store

    private func store(_ recordings: [PushMachine.Recording]) async -> [Outcome] {
        do throws(SyncError) {
            return try await database.perform(.durable) { engine throws(SyncError) in
                try engine.checkUninterrupted(since: interruptions)
                var outcomes: [Outcome] = []
                for storing in recordings {
                    switch storing {
                    case .freeze(let index, let operation, let position, let through):
                        let freezing = try freeze(operation, position, through, id: engine.environment.newID(), engine)
                        outcomes.append(Outcome(input: .frozen(index, freezing)))
                    case .record(let index, let answer, let operation):
                        outcomes.append(try record(answer, index, operation, engine))
                    case .resolve(let index, let resolution):
                        let event = try engine.record(.resolved(resolution))
                        let place = resolution.choice == .row ? Position(event: event) : nil
                        outcomes.append(Outcome(input: .resolved(index, at: place)))
                    case .noteServerWorks: try engine.record(.serverWorked)
                    }
                }
                return outcomes
            }
        } catch {
            return [Outcome(input: .broken(error))]
        }
    }

    /// Fixes the content of an operation before it is sent, so that a retry after a crash sends the same.
    private func freeze(
        _ operation: PlannedOperation, _ position: Position, _ through: Position, id: String, _ engine: StoreEngine
    ) throws(SyncError) -> PushMachine.Freezing {
        func entry() throws(SyncError) -> RowEntry? {
            try engine.reader.entry(key: operation.rowKey)
        }
        let (table, rowID) = operation.address
        let types = engine.projector.state.types[table]
        func ready(_ frozen: FrozenOperation, _ entry: RowEntry?) -> PushMachine.Freezing {
            if let conflict = Conflict(table: table, id: rowID, frozen, types) { return .blocked(conflict) }
            return .ready(
                WriteRequest(frozen, table: table, id: rowID, channel.server, types), entry.map { .init($0) } ?? .init()
            )
        }
        let before = try entry()
        guard let pending = before?.pending else { return .nothing }
        let isHeld = try engine.reader.isHeld(operation.rowKey)
        if isHeld { return .held }
        if let frozen = pending.frozen { return ready(frozen, before) }
        guard let first = pending.operation?.first, first <= through else { return .nothing }
        try engine.record(
            .sent([
                SentOperation(table: table, id: rowID, operationID: id, position: position, through: through)
            ]))
        let after = try entry()
        guard let frozen = after?.pending?.frozen else { return .nothing }
        return ready(frozen, after)
    }

    private func record(
        _ answer: Answer, _ index: Int, _ operation: PlannedOperation, _ engine: StoreEngine
    ) throws(SyncError) -> Outcome {
        func cursors() throws(SyncError) -> [CursorState] {
            try engine.reader.cursors().filter { $0.table == answer.table }.map(\.state)
        }
        let before = try cursors()
        var answer = answer
        if answer.outcome.goesOn { answer.nextOperationID = engine.environment.newID() }
        try engine.record(.answered(answer))
        let entry = try engine.reader.entry(key: operation.rowKey)
        let frozen = entry?.pending?.frozen
        let types = engine.projector.state.types[operation.table]
        if answer.outcome.goesOn, let frozen {
            let request = WriteRequest(frozen, table: operation.table, id: operation.id, channel.server, types)
            return Outcome(input: .continued(index, request))
        }
        let conflict = frozen.flatMap { Conflict(table: operation.table, id: operation.id, $0, types) }
        let warning =
            try cursors() == before
            ? nil
            : "the server's clock went back in \(answer.table): its cursors were set back; the next pull reads again"
        return Outcome(input: .recorded(index, conflict, hasBase: entry?.base != nil), warning: warning)
    }
}
