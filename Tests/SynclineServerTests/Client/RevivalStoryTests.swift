// Random stories of rows that are deleted and restored: two stores change the same few ids, lose responses, meet
// conflicts and decide them randomly, with this project's server and the simulated one. Every story ends with store
// and server equal. SYNCLINE_SEED=n repeats one, SYNCLINE_SEEDS=n runs more, SYNCLINE_LONG=1 runs a night's worth.

import Foundation
import Syncline
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

/// The line from one store to a server, which loses some requests or responses.
private final class LossyLine: HTTPTransport {
    private struct State {
        var chance: Chance
        var losses = 0
        var requests = 0
    }

    private let answer: @Sendable (HTTPRequest) -> HTTPResponse
    private let state: Mutex<State>

    init(_ seed: UInt64, _ answer: @escaping @Sendable (HTTPRequest) -> HTTPResponse) {
        self.answer = answer
        state = Mutex(State(chance: Chance(seed: seed)))
    }

    /// How many requests in a hundred are lost, in either direction.
    func lose(_ perHundred: Int) { state.withLock { $0.losses = perHundred } }

    /// The number of requests since the last call.
    func takeCount() -> Int {
        state.withLock { state in
            defer { state.requests = 0 }
            return state.requests
        }
    }

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        let (isLost, arrives) = state.withLock { state in
            state.requests += 1
            return (state.chance.below(100) < state.losses, state.chance.once(in: 2))
        }
        if !isLost { return answer(request) }
        if arrives { _ = answer(request) }
        throw .offline("it was lost")
    }
}

/// One story.
private final class RevivalStory {
    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private var chance: Chance
    private let table: String
    private let own: ServiceDesk?
    private let simulated: SimulatedServer?
    private var lines: [LossyLine] = []
    private var stores: [SyncDatabase] = []
    private(set) var trace: [String] = []

    init(_ seed: UInt64) async throws {
        chance = Chance(seed: seed)
        let protocolVersion = chance.pick(ServerProtocol.allCases)
        let deletesForGood = chance.once(in: 3)
        let undeletes = !chance.once(in: 5)
        let answer: @Sendable (HTTPRequest) -> HTTPResponse
        if chance.once(in: 2) {
            let desk = try ServiceDesk(
                tables: #"{"t":{"softDelete":\#(!deletesForGood)\#(undeletes ? "" : #","undelete":"disabled""#)}}"#)
            let service = desk.service
            (own, simulated, table) = (desk, nil, "t")
            answer = { service.answer($0, url: "http://server") }
        } else {
            var options = SimulatedServer.Options()
            options.deletesForGood = deletesForGood
            options.undeletes = undeletes
            options.recognizesOperations = chance.once(in: 2)
            options.takesBatches = chance.once(in: 3)
            let server = SimulatedServer(protocolVersion, options: options)
            server.setTable("t", rows: [])
            (own, simulated, table) = (nil, server, "t")
            answer = { server.handle($0) }
        }
        trace.append("\(protocolVersion), own \(own != nil), for good \(deletesForGood), undeletes \(undeletes)")
        for _ in 0..<2 {
            let line = LossyLine(chance.next(), answer)
            var configuration = SyncConfiguration()
            configuration.transport = line
            configuration.serverProtocol = protocolVersion
            lines.append(line)
            stores.append(try await SyncDatabase.open(MemoryStorage(granularity: .sector), configuration))
        }
    }

    func run() async throws {
        for _ in 0..<(12 + chance.below(24)) {
            let client = chance.below(2)
            lines[client].lose(chance.pick([0, 0, 20, 60]))
            switch chance.below(10) {
            case 0..<4: try await change(client)
            case 4..<7: try await push(client, chance.pick([.fail, .serverWins, .clientWins, .merge]))
            case 7: try await pull(client, reconciles: false)
            case 8: try await decide(client, isLast: false)
            default: try await drop(client)
            }
        }
        for line in lines { line.lose(0) }
        for round in 0..<12 {
            var isDone = true
            for client in 0..<2 {
                try await push(client, .fail)
                if try await !stores[client].pending().isEmpty { isDone = false }
                try await decide(client, isLast: round >= 4)
            }
            if isDone { return try await compare() }
        }
        throw Failure(description: "twelve rounds left something to be pushed")
    }

    private func change(_ client: Int) async throws {
        let id = "r\(chance.below(3))"
        let rows = stores[client].rows(of: table)
        let isThere = try await rows.get(id: id) != nil
        var item: [Value.Member] = [.init("id", .string(id))]
        for name in ["a", "b"] where chance.once(in: 2) {
            item.append(.init(name, .integer(Int64(chance.below(1000)))))
        }
        let kind: OperationKind = isThere ? chance.pick([.update, .delete, .delete]) : .insert
        trace.append("\(client): \(kind) \(Value.object(item).json)")
        do throws(SyncError) {
            switch kind {
            case .insert: _ = try await rows.insert(.object(item))
            case .update: _ = try await rows.update(.object(item))
            case .delete: try await rows.delete(id: id)
            }
        } catch {
            guard [.rowExists, .rowDeleted].contains(error.code) else { throw error }
            trace.append("  \(error.code)")
        }
    }

    private func push(_ client: Int, _ policy: ConflictPolicy) async throws {
        var settings = PushSettings()
        settings.policy = policy
        settings.retries = 0
        _ = lines[client].takeCount()
        let report = try await stores[client].push(settings)
        trace.append(
            "\(client): push \(report.operations.map { "\($0.id) \($0.kind) \($0.reason?.code ?? $0.outcome.rawValue)" })"
        )
        guard lines[client].takeCount() <= 16 * max(1, report.operations.count) else {
            throw Failure(description: "a push went in a loop")
        }
    }

    private func pull(_ client: Int, reconciles: Bool) async throws {
        var settings = PullSettings()
        settings.queryID = "q"
        settings.retries = 0
        settings.pushesFirst = false
        settings.reconciles = reconciles
        let report = try await stores[client].pull(table, settings)
        trace.append("\(client): pull \(report)")
    }

    private func decide(_ client: Int, isLast: Bool) async throws {
        for conflict in try await stores[client].conflicts() {
            let decisions: [ConflictDecision] = [
                .takeServer, .keepMine, .merge, .row(Row([.init("a", .integer(-1))])),
                .row(.empty, as: .delete), .row(Row([.init("b", .integer(-2))]), as: .update),
            ]
            let decision = isLast ? .takeServer : chance.pick(decisions)
            trace.append("\(client): \(conflict.id) \(conflict.reason.rawValue) \(decision)")
            do throws(SyncError) {
                try await stores[client].resolve(table: table, id: conflict.id, decision)
            } catch {
                guard error.code == .mergeConflict else { throw error }
                trace.append("  \(error.code)")
            }
        }
    }

    private func drop(_ client: Int) async throws {
        guard let operation = try await stores[client].pending().first, chance.once(in: 3) else { return }
        trace.append("\(client): drop \(operation.id)")
        try await stores[client].discard(table: table, id: operation.id, force: true)
    }

    private func compare() async throws {
        let truth = try truth()
        for client in 0..<2 {
            try await pull(client, reconciles: true)
            var rows: [String: [String: Value]] = [:]
            for row in try await stores[client].rows(of: table).query(RowQuery(table: table)).rows {
                rows[row.id] = ["a": row.columns["a"] ?? .null, "b": row.columns["b"] ?? .null]
            }
            guard rows == truth else { throw Failure(description: "client \(client) has \(rows), the server \(truth)") }
            try await stores[client].close()
        }
    }

    private func truth() throws -> [String: [String: Value]] {
        var rows: [String: [String: Value]] = [:]
        for row in try own?.store.list(ListPlan(table: table, limit: 100)).rows ?? [] {
            rows[row.id] = ["a": row.columns["a"] ?? .null, "b": row.columns["b"] ?? .null]
        }
        for row in simulated?.rows(of: table) ?? [] where row[member: "deleted"] != .bool(true) {
            guard let id = row[member: "id"]?.text else { continue }
            rows[id] = ["a": row[member: "a"] ?? .null, "b": row[member: "b"] ?? .null]
        }
        return rows
    }
}

@Suite struct RevivalStoryTests {
    @Test func `deleted rows are restored or decided, and every story ends`() async throws {
        for seed in Seeds.some(200, night: 10_000) {
            let story = try await RevivalStory(seed)
            do {
                try await story.run()
            } catch {
                Issue.record("seed \(seed): \(error)\n\(story.trace.joined(separator: "\n"))")
                return
            }
        }
    }
}
