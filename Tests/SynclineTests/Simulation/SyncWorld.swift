// Runs a history of stores and a server, one step after another, and checks each result. What happens inside a
// request is in SyncWorld+Line.swift, what is true at the end in SyncWorld+Checks.swift.

import SegmentLog
import SynclineCore
import SynclineTesting
import SynclineWire

@testable import Syncline

actor SyncWorld {
    let plan: SyncPlan
    let server: SimulatedServer
    var clients: [SyncClient]
    private(set) var trace: [String] = []
    /// Values that a server's row ever had in a column, and rows that were ever gone.
    var history: Set<String> = []
    /// How often each operation changed the server's rows.
    var effects: [String: Int] = [:]
    private var lastNumber: Int64 = 0
    /// Whether lists show everything, as they do at the end.
    private var hasCaughtUp = false
    /// Violations found inside a request.
    var failure: SyncFailure?

    init(_ plan: SyncPlan) {
        self.plan = plan
        server = SimulatedServer(plan.server, options: plan.options)
        clients = plan.queries.indices.map { SyncClient($0) }
        for table in SyncPlan.tables {
            server.setTable(table, rows: [], pageLimit: plan.pageLimit, precision: plan.precision)
        }
        server.setTable("clock", rows: [])
    }

    func run() async throws {
        for client in clients.indices { try await open(client) }
        for (index, step) in plan.steps.enumerated() {
            do {
                try await play(step)
            } catch {
                throw SyncFailure("step \(index), \(step): \(error)")
            }
        }
        try await quiet()
        for client in clients.indices {
            try await end(client, isKill: false)
            try checkLog(of: client)
        }
        if let failure { throw failure }
    }

    func note(_ line: @autoclosure () -> String) { trace.append(line()) }

    /// A number that no other value has.
    func newNumber() -> Int64 {
        lastNumber += 1
        return lastNumber
    }

    // MARK: Steps

    private func play(_ step: SyncStep) async throws {
        note("\(step)")
        tick()
        let client = step.client
        clients[client].chance = Chance(seed: step.seed)
        clients[client].trouble = step.trouble
        clients[client].requests = 0
        if let call = step.trouble.disk {
            clients[client].disk.arm(FaultPlan(call: call, of: [.write, .sync, .resize, .rename], persists: true))
        }
        do {
            try await perform(step, client)
        } catch let error as SyncError {
            guard isAllowed(error, client) else { throw error }
            note("  \(error.code)")
        }
        clients[client].disk.disarm()
        if let failure { throw failure }
        if clients[client].hasEnded || step.trouble.disk != nil {
            if !clients[client].hasEnded { endDisk(client, isKill: clients[client].chance.once(in: 2)) }
            clients[client].hasEnded = false
            try await open(client)
        }
        try await look(at: client)
    }

    /// Whether this failure is allowed: because the store ended, its disk fails, or the request is impossible.
    private func isAllowed(_ error: SyncError, _ client: Int) -> Bool {
        if clients[client].hasEnded || clients[client].trouble.disk != nil { return error.code != .storeCorrupt }
        let refusals: [SyncError.Code] = [
            .rowExists, .rowDeleted, .operationNotFound, .pendingChanges, .mergeConflict,
        ]
        return refusals.contains(error.code)
    }

    private func perform(_ step: SyncStep, _ client: Int) async throws {
        guard let database = clients[client].database else { throw SyncFailure("client \(client) is not open") }
        switch step.action {
        case .change(let count, let isTransaction, let durability):
            try await change(client, count, isTransaction, durability)
        case .undo:
            let event = try await database.undo()
            note("  undid @\(event)")
        case .push(let policy, let concurrency, let table):
            var settings = PushSettings()
            settings.policy = SyncWorld.policy(policy)
            settings.concurrency = concurrency
            settings.tables = table.map { [$0] }
            try await push(client, settings)
        case .pull(let table, let reach, let reconciles, let pushesFirst):
            try await pull(client, settings(client, table, reach, reconciles, pushesFirst), table)
        case .others(let count):
            for _ in 0..<count { changeAsOther(client) }
        case .resolve: try await resolve(client)
        case .purge(let table, let isForced):
            let report = try await database.purge(table: table, force: isForced)
            note("  removed \(report.removed), dropped \(report.dropped)")
        case .resetCursor(let table): try await database.resetCursor(table: table, queryID: "q")
        case .drop(let isForced): try await drop(client, isForced)
        case .checkpoint: try await database.checkpoint()
        case .reopen:
            try await database.close()
            clients[client].durable = database.lastEvent.rawValue
            try await open(client)
        case .end:
            try await end(client, isKill: clients[client].chance.once(in: 2))
            try await open(client)
        }
    }

    /// Drops the pending operations of a row, if that is allowed.
    private func drop(_ client: Int, _ isForced: Bool) async throws {
        guard let database = clients[client].database else { return }
        let plan = try await database.pending()
        guard !plan.isEmpty else { return }
        let operation = clients[client].chance.pick(plan)
        let count = try await database.discard(table: operation.table, id: operation.id, force: isForced)
        note("  dropped \(count) of \(operation.table)/\(operation.id)")
    }

    static func policy(_ number: Int) -> ConflictPolicy {
        switch number {
        case 0, 1: .serverWins
        case 2: .clientWins
        case 3: .merge
        case 4:
            .custom(name: "own") { conflict in
                conflict.kind == .delete ? .takeServer : .row(conflict.mine ?? .empty)
            }
        default: .fail
        }
    }

    func push(_ client: Int, _ settings: PushSettings) async throws {
        guard let database = clients[client].database else { return }
        let before = database.lastEvent.rawValue
        let report = try await database.push(settings)
        note("  push \(report.outcome) \(report.operations.map { "\($0.table)/\($0.id) \($0.outcome)" })")
        if !clients[client].hasEnded, clients[client].trouble.disk == nil {
            if let code = report.reason?.code, ![.pushIncomplete, .offline, .unauthorized, .serverError].contains(code)
            {
                throw SyncFailure("a push stopped with \(report.reason.map { "\($0)" } ?? "")")
            }
            // A push with nothing to send made nothing durable.
            if plan.isConcurrent || database.lastEvent.rawValue == before { return }
            clients[client].durable = database.lastEvent.rawValue
        }
    }

    func pull(_ client: Int, _ settings: PullSettings, _ table: String) async throws {
        guard let database = clients[client].database else { return }
        let report = try await database.pull(table, settings)
        note("  pull \(report)")
        if !clients[client].hasEnded, clients[client].trouble.disk == nil, let code = report.reason?.code,
            ![.offline, .unauthorized, .serverError].contains(code)
        {
            throw SyncFailure("a pull stopped with \(report.reason.map { "\($0)" } ?? "")")
        }
        // A pull's rows are durable when it has ended, and everything before it; one that had to push first may not
        // have begun.
        if report.requests > 0, !clients[client].hasEnded, clients[client].trouble.disk == nil {
            clients[client].durable = max(clients[client].durable, database.lastEvent.rawValue)
        }
    }

    func settings(
        _ client: Int, _ table: String, _ reach: SyncStep.Reach, _ reconciles: Bool, _ pushesFirst: Bool
    ) throws -> PullSettings {
        var settings = PullSettings()
        guard let own = plan.queries[client][table] else { throw SyncFailure("no query of \(table)") }
        settings.pageSize = own.pageSize
        settings.pushesFirst = pushesFirst
        switch reach {
        case .own:
            settings.queryID = own.queryID
            settings.filter = try own.filter.map { try FilterExpression(parsing: $0) }
            settings.reconciles = reconciles && (plan.listsShowAll || hasCaughtUp)
            // Longer than any write was late.
            if plan.options.lateCommits != nil, own.queryID != nil { settings.overlap = .seconds(1_000_000) }
        case .all: break
        case .top: settings.top = own.pageSize + 2
        case .ordered: settings.order = [RowQuery.Key("name"), RowQuery.Key("kind", descending: true)]
        }
        return settings
    }

    /// Decides some of the waiting operations, in every possible way.
    func resolve(_ client: Int) async throws {
        guard let database = clients[client].database else { return }
        for conflict in try await database.conflicts() where !clients[client].chance.once(in: 3) {
            try await decide(conflict, client, database)
        }
    }

    private func decide(_ conflict: Conflict, _ client: Int, _ database: SyncDatabase) async throws {
        let decision: ConflictDecision
        switch clients[client].chance.below(6) {
        case 0, 1: decision = .takeServer
        case 2: decision = .keepMine
        case 3: decision = .merge
        default:
            let columns = columns(&clients[client].chance)
            let kind = clients[client].chance.pick([nil, nil] + OperationKind.allCases.map { $0 })
            decision = .row(Row(columns.sorted { $0.key < $1.key }.map { .init($0.key, $0.value) }), as: kind)
        }
        note("  \(conflict.table)/\(conflict.id) \(conflict.reason.rawValue): \(decision)")
        do {
            try await database.resolve(table: conflict.table, id: conflict.id, decision)
        } catch {
            guard error.code == .mergeConflict else { throw error }
            note("  can't be merged")
        }
    }

    // MARK: Quiet

    /// Nothing fails any more: everything is pushed and decided, and pulled twice.
    private func quiet() async throws {
        for round in 0..<60 {
            var isDone = true
            for client in clients.indices {
                clients[client].trouble = SyncTrouble()
                clients[client].chance = Chance(seed: plan.seed &+ UInt64(round))
                tick()
                guard let database = clients[client].database else { continue }
                try await push(client, PushSettings())
                if let failure { throw failure }
                for conflict in try await database.conflicts() {
                    isDone = false
                    if round < 8 {
                        try await decide(conflict, client, database)
                    } else {
                        try await database.resolve(table: conflict.table, id: conflict.id, .takeServer)
                    }
                }
                let left = try await database.pending()
                if !left.isEmpty { isDone = false }
            }
            if isDone { return try await pullAll() }
        }
        throw SyncFailure("sixty rounds of a healthy network left something to be pushed")
    }

    private func pullAll() async throws {
        server.catchUp()
        hasCaughtUp = true
        for client in clients.indices {
            for table in SyncPlan.tables {
                for _ in 0..<2 {
                    tick()
                    try await pull(client, settings(client, table, .own, true, true), table)
                }
                if let failure { throw failure }
            }
        }
        for client in clients.indices { try await checkRows(of: client) }
    }
}
