// The steps of a scenario that use a server: a scripted one, or the simulated one.

import Syncline
import SynclineWire

/// The network of a scenario: every request goes to the scenario.
struct ScenarioNetwork: HTTPTransport {
    let runner: ScenarioRunner

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        if Task.isCancelled { throw .cancelled }
        guard let response = await runner.answer(request) else { throw .offline("the connection was closed") }
        return response
    }
}

extension ScenarioRunner {
    // MARK: The server's side

    /// Returns the response to a request; nil for a closed connection.
    func answer(_ request: HTTPRequest) async -> HTTPResponse? {
        do {
            try request.checkForm(scenario.serverProtocol)
            countRequest(request)
            guard script != nil else { return server.handle(request) }
            guard let exchange = nextExchange() else {
                throw ScenarioFailure("unexpected request: \(request.method) \(request.path)")
            }
            try check(exchange, request)
            for step in exchange.during { try await run(step) }
            return exchange.response
        } catch {
            fail(error)
            return nil
        }
    }

    // MARK: Steps

    func push(_ value: Value) async throws {
        var settings = PushSettings()
        settings.retries = number(value, "retries") ?? 0
        settings.concurrency = number(value, "concurrency") ?? 1
        if let tables = value[member: "tables"] { settings.tables = Set(tables.elements.compactMap(\.text)) }
        switch value[member: "policy"]?.text {
        case nil, "fail": break
        case "server-wins": settings.policy = .serverWins
        case "client-wins": settings.policy = .clientWins
        case "merge": settings.policy = .merge
        case let policy?: throw ScenarioFailure("there is no policy \(policy)")
        }
        let (database, wanted) = (database, settings)
        let report = try await talking(value) { try await database.push(wanted) }
        guard let report else { return }
        try expectOutcome(value, report.outcome.name, report.reason?.code.rawValue)
        guard let expected = value[member: "operations"]?.elements else { return }
        let found = report.operations.map { Value($0) }
        for operation in expected where !found.contains(where: { $0.hasFields(of: operation) }) {
            throw ScenarioFailure("no operation like \(operation.json) in \(Value.array(found).json)")
        }
    }

    func pull(_ value: Value) async throws {
        let code = value[member: "error"]?.text
        var settings = PullSettings()
        settings.retries = number(value, "retries") ?? 0
        settings.queryID = value[member: "queryId"]?.text
        settings.top = number(value, "top")
        settings.skip = number(value, "skip") ?? 0
        settings.pageSize = number(value, "pageSize")
        settings.reconciles = value[member: "reconcile"] == .bool(true)
        settings.pushesFirst = value[member: "noPush"] != .bool(true)
        switch value[member: "overlap"]?.unspelled {
        case .integer(let seconds)?: settings.overlap = .seconds(seconds)
        case .double(let seconds)?: settings.overlap = .seconds(seconds)
        default: break
        }
        let report: PullReport?
        do {
            settings.filter = try filter(value)
            if let order = value[member: "orderby"]?.text { settings.order = try RowQuery.Key.list(parsing: order) }
            let (database, table, wanted) = (database, try table(value), settings)
            report = try await talking(value) { try await database.pull(table, wanted) }
        } catch let error as SyncError where error.code.rawValue == code {
            return
        } catch is FilterError where code == "invalid-query" {
            return
        }
        if let code { throw ScenarioFailure("succeeded, expected \(code)") }
        guard let report else { return }
        try expectOutcome(value, report.reason == nil ? "complete" : "stopped", report.reason?.code.rawValue)
        try expectCounts(
            value,
            [
                "received": report.received, "changed": report.changed, "deleted": report.deleted,
                "conflicts": report.conflicts,
            ])
        if let limit = number(value, "maxRequests"), requestCount > limit {
            throw ScenarioFailure("\(requestCount) requests, expected at most \(limit)")
        }
    }

    private func expectOutcome(_ value: Value, _ outcome: String, _ reason: String?) throws {
        if let expected = value[member: "outcome"]?.text, expected != outcome {
            throw ScenarioFailure("\(outcome) (\(reason ?? "no reason")), expected \(expected)")
        }
        if let expected = value[member: "reason"]?.text, expected != reason {
            throw ScenarioFailure("the reason is \(reason ?? "none"), expected \(expected)")
        }
    }

    func setTable(_ value: Value) throws {
        let mutations = try (value[member: "mutations"]?.elements ?? []).map { mutation in
            guard let request = number(mutation, "afterRequest") else {
                throw ScenarioFailure("a mutation names the request it comes after")
            }
            return SimulatedServer.Mutation(
                afterRequest: request, upsert: mutation[member: "upsert"]?.elements ?? [],
                remove: (mutation[member: "remove"]?.elements ?? []).compactMap(\.text))
        }
        server.setTable(
            try table(value), rows: value[member: "rows"]?.elements ?? [], pageLimit: number(value, "pageLimit"),
            precision: value[member: "precision"]?.text == "us" ? .microseconds : .milliseconds, mutations: mutations)
    }

    func resolve(_ value: Value) async throws {
        let decision: ConflictDecision
        switch value[member: "with"]?.text {
        case "take-server", "discard": decision = .takeServer
        case "keep-mine": decision = .keepMine
        case "merge": decision = .merge
        case "row":
            let kind = value[member: "as"]?.text.flatMap { name in
                OperationKind.allCases.first { "\($0)" == name }
            }
            decision = .row(try Item(value[member: "row"] ?? .null).columns, as: kind)
        default: throw ScenarioFailure("there is no such resolution")
        }
        try await database.resolve(table: table(value), id: text(value, "id"), decision)
    }
}

extension Value {
    init(_ report: OperationReport) {
        self = .object([
            .init("table", .string(report.table)), .init("id", .string(report.id)),
            .init("kind", .string("\(report.kind)")), .init("outcome", .string(report.outcome.rawValue)),
            .init("status", report.status.map { .integer(Int64($0)) } ?? .null),
            .init("code", report.reason.map { .string($0.code) } ?? .null),
        ])
    }

    init(_ conflict: Conflict) {
        func row(_ row: Row?) -> Value { row.map { Value(StoredRow(id: conflict.id, columns: $0)) } ?? .null }
        self = .object([
            .init("table", .string(conflict.table)), .init("id", .string(conflict.id)),
            .init("kind", .string("\(conflict.kind)")), .init("state", .string(conflict.state.rawValue)),
            .init("status", conflict.status.map { .integer(Int64($0)) } ?? .null),
            .init("code", .string(conflict.reason.rawValue)),
            .init("message", conflict.message.map { .string($0) } ?? .null),
            .init("base", row(conflict.base)), .init("mine", row(conflict.mine)),
            .init("server", row(conflict.server)),
        ])
    }
}
