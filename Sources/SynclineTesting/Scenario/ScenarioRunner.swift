// Runs scenarios on a store of its own, over a simulated disk that can lose its process at any step.

import SegmentLog
import Syncline
import SynclineCore
import SynclineWire

/// How a scenario ended.
public enum ScenarioOutcome: Hashable, Sendable {
    case passed
    case failed(String)
    /// It has a step that can't be run here.
    case unsupported(String)
}

/// Runs one scenario.
public struct ScenarioRunner {
    private let scenario: Scenario
    private var disk = FaultyStorage()
    private var database: SyncDatabase

    public static func run(_ scenario: Scenario) async -> ScenarioOutcome {
        let unknown = scenario.steps.first { !ScenarioRunner.steps.contains($0.kind) }
        if let unknown { return .unsupported(unknown.kind) }
        do {
            var runner = try await ScenarioRunner(scenario)
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
        "insert", "update", "delete", "transaction", "get", "rows", "pending", "cursors", "purge", "reset-cursor",
        "undo", "reopen", "crash",
    ]

    private init(_ scenario: Scenario) async throws {
        self.scenario = scenario
        database = try await ScenarioRunner.open(disk, scenario)
    }

    private static func open(_ disk: FaultyStorage, _ scenario: Scenario) async throws -> SyncDatabase {
        var configuration = SyncConfiguration()
        configuration.ids = scenario.ignoresCase ? .ignoreCase : .exact
        configuration.wireProtocol = scenario.wireProtocol
        return try await SyncDatabase.open(disk, configuration)
    }

    // MARK: Steps

    private mutating func run(_ step: Scenario.Step) async throws {
        let value = step.value
        switch step.kind {
        case "insert", "update", "delete", "transaction", "purge", "reset-cursor", "undo":
            try await change(step)
        case "get":
            let row = try await database.table(table(value)).get(id: text(value, "id"))
            let expected = value.member("row") ?? .null
            let found = row.map { Value($0) } ?? .null
            guard found.isNull == expected.isNull, found.hasFields(of: expected) else {
                throw ScenarioFailure("found \(found.json), expected \(expected.json)")
            }
        case "rows": try await rows(value)
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
        case "reopen":
            try await database.close()
            database = try await ScenarioRunner.open(disk, scenario)
        case "crash":
            disk = disk.processKill()
            database = try await ScenarioRunner.open(disk, scenario)
        default: throw ScenarioFailure("there is no step \(step.kind)")
        }
    }

    /// A step that changes the store, or must fail and leave it as it was.
    private func change(_ step: Scenario.Step) async throws {
        guard let code = step.value.member("error")?.text else { return try await perform(step) }
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
        case "insert": try await database.table(table(value)).insert(value.member("item") ?? .null)
        case "update": try await database.table(table(value)).update(value.member("item") ?? .null)
        case "delete": try await database.table(table(value)).delete(id: text(value, "id"))
        case "undo": try await database.undo()
        case "reset-cursor":
            try await database.resetCursor(table: table(value), queryID: text(value, "queryId"))
        case "purge":
            let report = try await database.purge(
                table: table(value), filter: filter(value), force: value.member("force") == .bool(true))
            for (name, found) in [("removed", report.removed), ("dropped", report.dropped)] {
                guard let expected = value.member(name), expected != .integer(Int64(found)) else { continue }
                throw ScenarioFailure("\(name) \(found), expected \(expected.json)")
            }
        default:
            let operations = value.member("operations")?.elements ?? []
            try await database.transaction { transaction in
                for operation in operations { try ScenarioRunner.perform(operation, transaction) }
            }
        }
    }

    private static func perform(_ operation: Value, _ transaction: Transaction) throws {
        guard case .object(let members) = operation, let member = members.first,
            let table = member.value.member("table")?.text
        else { throw ScenarioFailure("an operation is an object with one member that names a table") }
        switch member.name {
        case "insert": try transaction.insert(table, member.value.member("item") ?? .null)
        case "update": try transaction.update(table, member.value.member("item") ?? .null)
        case "delete": try transaction.delete(table, id: member.value.member("id")?.text ?? "")
        default: throw ScenarioFailure("there is no operation \(member.name)")
        }
    }

    private func rows(_ value: Value) async throws {
        var query = Query(table: try table(value))
        let code = value.member("error")?.text
        do {
            query.filter = try filter(value)
            if let order = value.member("orderby")?.text { query.order = try Query.Key.list(parsing: order) }
        } catch let error as FilterError {
            if code == "invalid-query" { return }
            throw error
        }
        if let code { throw ScenarioFailure("succeeded, expected \(code)") }
        if case .integer(let top)? = value.member("top") { query.top = Int(top) }
        if case .integer(let skip)? = value.member("skip") { query.skip = Int(skip) }
        query.select = value.member("select")?.elements.compactMap(\.text)
        let found = try await database.table(query.table).query(query).rows.map { Value($0, selecting: query.select) }
        if let select = query.select {
            for row in found {
                guard case .object(let members) = row, members.allSatisfy({ select.contains($0.name) }) else {
                    throw ScenarioFailure("other columns came back than were asked for: \(row.json)")
                }
            }
        }
        try expect(found, value.member("rows")?.elements ?? [], inOrder: !query.order.isEmpty)
    }

    // MARK: Parts

    private func expect(_ found: [Value], _ expected: [Value], inOrder: Bool) throws {
        if Value.match(found, expected, inOrder: inOrder) { return }
        throw ScenarioFailure("found \(Value.array(found).json), expected \(Value.array(expected).json)")
    }

    private func table(_ value: Value) throws -> String { try text(value, "table") }

    private func text(_ value: Value, _ name: String) throws -> String {
        guard let text = value.member(name)?.text else { throw ScenarioFailure("the step names no \(name)") }
        return text
    }

    private func filter(_ value: Value) throws -> Expression? {
        try value.member("filter")?.text.map { try Expression(parsing: $0) }
    }
}

extension Value {
    /// A row with its id before its columns.
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
