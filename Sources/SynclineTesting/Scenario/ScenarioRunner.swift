// Runs scenarios, each on a store of its own, over a simulated disk that can lose its process at any step.

import Syncline
import SynclineWire

/// The result of a scenario.
public enum ScenarioOutcome: Hashable, Sendable {
    /// Everything was as expected.
    case passed
    /// Something differed: where, and how.
    case failed(String)
    /// The scenario has a step that is not supported here.
    case unsupported(String)
}

/// Runs one scenario.
public actor ScenarioRunner {
    let scenario: Scenario
    private var disk = MemoryStorage(granularity: .sector)
    private var opened: SyncDatabase?
    let server: SimulatedServer
    /// The exchanges that are still expected; nil if the simulated server answers.
    private(set) var script: [ScenarioExchange]?
    private var names = ScenarioNames()
    /// List and row requests of the current step.
    private(set) var requestCount = 0
    private var failure: (any Error)?
    /// Whether the process died during the current step.
    private var hasCrashed = false

    /// Runs a scenario on a simulated disk with a simulated server.
    public static func run(_ scenario: Scenario) async -> ScenarioOutcome {
        let unknown = scenario.steps.first { !ScenarioRunner.steps.contains($0.kind) }
        if let unknown { return .unsupported(unknown.kind) }
        let runner = ScenarioRunner(scenario)
        do {
            try await runner.open()
            for (index, step) in scenario.steps.enumerated() {
                do {
                    try await runner.run(step)
                } catch {
                    return .failed("step \(index + 1), \(step.kind): \(error)")
                }
            }
            try await runner.database.close()
            return .passed
        } catch {
            return .failed("\(error)")
        }
    }

    private static let steps: Set<String> = [
        "insert", "update", "delete", "transaction", "get", "rows", "pending", "conflicts", "cursors", "push", "pull",
        "server", "resolve", "purge", "reset-cursor", "undo", "reopen", "crash",
        "columns", "aggregate",
    ]

    private init(_ scenario: Scenario) {
        self.scenario = scenario
        server = SimulatedServer(scenario.serverProtocol)
    }

    var database: SyncDatabase {
        guard let opened else { preconditionFailure("a scenario begins by opening its store") }
        return opened
    }

    private func open() async throws {
        var configuration = SyncConfiguration()
        configuration.ids = scenario.ignoresCase ? .ignoreCase : .exact
        configuration.serverProtocol = scenario.serverProtocol
        configuration.transport = ScenarioNetwork(runner: self)
        opened = try await SyncDatabase.open(disk, configuration)
    }

    // MARK: Server

    /// Runs code that uses the server; returns nil if the process died in the meantime.
    func talking<Report: Sendable>(
        _ value: Value, _ body: @Sendable () async throws -> Report
    ) async throws -> Report? {
        script = try value[member: "exchanges"].map { try $0.elements.map { try ScenarioExchange($0) } }
        requestCount = 0
        hasCrashed = false
        failure = nil
        let result: Result<Report, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        if let failure { throw failure }
        if let left = script, !left.isEmpty, !hasCrashed {
            throw ScenarioFailure("\(left.count) more requests were expected")
        }
        script = nil
        return hasCrashed ? nil : try result.get()
    }

    func nextExchange() -> ScenarioExchange? {
        script?.isEmpty ?? true ? nil : script?.removeFirst()
    }

    func check(_ exchange: ScenarioExchange, _ request: HTTPRequest) throws {
        try exchange.check(request, &names)
    }

    func countRequest(_ request: HTTPRequest) {
        if request.method == "GET" { requestCount += 1 }
    }

    func fail(_ error: any Error) { failure = failure ?? error }

    // MARK: Steps

    func run(_ step: Scenario.Step) async throws {
        let value = step.value
        switch step.kind {
        case "insert", "update", "delete", "transaction", "purge", "reset-cursor", "undo", "resolve", "columns":
            try await change(step)
        case "get":
            let row = try await database.rows(of: table(value)).get(id: text(value, "id"))
            let expected = value[member: "row"] ?? .null
            let found = row.map { Value($0) } ?? .null
            guard found.isNull == expected.isNull, found.hasFields(of: expected) else {
                throw ScenarioFailure("found \(found.json), expected \(expected.json)")
            }
        case "rows": try await rows(value)
        case "aggregate": try await aggregate(value)
        case "pending":
            var found: [Value] = []
            for operation in try await database.pending() {
                found.append(Value(operation, fields: try await database.fields(of: operation)))
            }
            try expect(found, value.elements, inOrder: true)
        case "cursors":
            let found = try await database.cursors().map { cursor in
                Value.object([.init("table", .string(cursor.table)), .init("queryId", .string(cursor.queryID))])
            }
            try expect(found, value.elements, inOrder: false)
        case "conflicts":
            let found = try await database.conflicts().map { Value($0) }
            try expect(found, value.elements, inOrder: false)
        case "push": try await push(value)
        case "pull": try await pull(value)
        case "server": try setTable(value)
        case "reopen":
            try await database.close()
            try await open()
        case "crash":
            hasCrashed = true
            disk = disk.processKill()
            try await open()
        default: throw ScenarioFailure("there is no step \(step.kind)")
        }
    }

    /// Runs a step that changes the store, or that must fail and leave it unchanged.
    private func change(_ step: Scenario.Step) async throws {
        guard let code = step.value[member: "error"]?.text else { return try await perform(step) }
        let before = (database.lastEvent, database.totals)
        do {
            try await perform(step)
        } catch let error as SyncError {
            guard error.code.rawValue == code else { throw ScenarioFailure("failed with \(error), expected \(code)") }
            guard before == (database.lastEvent, database.totals) else {
                throw ScenarioFailure("failed with \(code), but changed the store")
            }
            return
        }
        throw ScenarioFailure("succeeded, expected \(code)")
    }

    private func perform(_ step: Scenario.Step) async throws {
        let value = step.value
        switch step.kind {
        case "insert": try await database.rows(of: table(value)).insert(value[member: "item"] ?? .null)
        case "update": try await database.rows(of: table(value)).update(value[member: "item"] ?? .null)
        case "delete": try await database.rows(of: table(value)).delete(id: text(value, "id"))
        case "undo": try await database.undo()
        case "columns": try await declareColumns(value)
        case "resolve": try await resolve(value)
        case "reset-cursor":
            try await database.resetCursor(table: table(value), queryID: text(value, "queryId"))
        case "purge":
            let report = try await database.purge(
                table: table(value), filter: filter(value), force: value[member: "force"] == .bool(true))
            try expectCounts(value, ["removed": report.removed, "dropped": report.dropped])
        default:
            let operations = value[member: "operations"]?.elements ?? []
            try await database.transaction { transaction in
                for operation in operations { try ScenarioRunner.perform(operation, transaction) }
            }
        }
    }

    private static func perform(_ operation: Value, _ transaction: SyncTransaction) throws {
        guard case .object(let members) = operation, let member = members.first,
            let table = member.value[member: "table"]?.text
        else { throw ScenarioFailure("an operation is an object with one member that names a table") }
        switch member.name {
        case "insert": try transaction.insert(table, member.value[member: "item"] ?? .null)
        case "update": try transaction.update(table, member.value[member: "item"] ?? .null)
        case "delete": try transaction.delete(table, id: member.value[member: "id"]?.text ?? "")
        default: throw ScenarioFailure("there is no operation \(member.name)")
        }
    }

    private func rows(_ value: Value) async throws {
        var query = RowQuery(table: try table(value))
        let code = value[member: "error"]?.text
        do {
            query.filter = try filter(value)
            if let order = value[member: "orderby"]?.text { query.order = try RowQuery.Key.list(parsing: order) }
        } catch let error as FilterError {
            if code == "invalid-query" { return }
            throw error
        }
        if let code { throw ScenarioFailure("succeeded, expected \(code)") }
        query.top = number(value, "top")
        query.skip = number(value, "skip") ?? 0
        query.select = value[member: "select"]?.elements.compactMap(\.text)
        let found = try await database.rows(of: query.table).query(query).rows.map {
            Value($0, selecting: query.select)
        }
        if let select = query.select {
            for row in found {
                guard case .object(let members) = row, members.allSatisfy({ select.contains($0.name) }) else {
                    throw ScenarioFailure("the returned columns are not the requested ones: \(row.json)")
                }
            }
        }
        try expect(found, value[member: "rows"]?.elements ?? [], inOrder: !query.order.isEmpty)
    }

    // MARK: Parts

    func expect(_ found: [Value], _ expected: [Value], inOrder: Bool) throws {
        if Value.match(found, expected, inOrder: inOrder) { return }
        throw ScenarioFailure("found \(Value.array(found).json), expected \(Value.array(expected).json)")
    }

    func expectCounts(_ value: Value, _ found: KeyValuePairs<String, Int>) throws {
        for (name, found) in found {
            guard let expected = value[member: name], expected != .integer(Int64(found)) else { continue }
            throw ScenarioFailure("\(name) \(found), expected \(expected.json)")
        }
    }

    func table(_ value: Value) throws -> String { try text(value, "table") }

    func text(_ value: Value, _ name: String) throws -> String {
        guard let text = value[member: name]?.text else { throw ScenarioFailure("the step names no \(name)") }
        return text
    }

    func number(_ value: Value, _ name: String) -> Int? {
        guard case .integer(let number)? = value[member: name] else { return nil }
        return Int(number)
    }

    func filter(_ value: Value) throws -> FilterExpression? {
        try value[member: "filter"]?.text.map { try FilterExpression(parsing: $0) }
    }
}

extension Value {
    /// Creates an object of a row, with its id before its columns.
    init(_ row: StoredRow, selecting columns: [String]? = nil) {
        var members: [Member] = []
        if columns?.contains("id") ?? true { members.append(.init("id", .string(row.id))) }
        self = .object(members + row.columns.members)
    }

    init(_ operation: PlannedOperation, fields: [String]) {
        self = .object([
            .init("table", .string(operation.table)), .init("id", .string(operation.id)),
            .init("kind", .string("\(operation.kind)")), .init("state", .string(operation.state.rawValue)),
            .init("maybeSent", .bool(operation.maybeSent)), .init("fields", .array(fields.map { .string($0) })),
        ])
    }
}
