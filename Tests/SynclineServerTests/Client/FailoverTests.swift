// Failovers to a database that lacks a random number of writes: the epoch changes, no version stands for two states, every
// client ends with the server's rows, and nothing that was pending is lost. SYNCLINE_SEED=n repeats one story,
// SYNCLINE_ROUNDS=n fails over as often.

import Foundation
import Syncline
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import SynclineServer
@testable import SynclineTables

/// A story: one database, a server, three clients.
private final class FailoverStory {
    private struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    private static let tables = ["t", "h"]
    private var chance: Chance
    private let place: any FailoverDatabase
    private var store: SQLStore
    private var service: TableAnswers
    private let line: DeskLine
    private var clients: [SyncDatabase] = []
    /// What each version stands for.
    private var meanings: [String: String] = [:]
    private var count = 0
    private(set) var trace: [String] = []

    init(_ seed: UInt64, _ place: any FailoverDatabase) async throws {
        chance = Chance(seed: seed)
        self.place = place
        (store, service) = try FailoverStory.open(place.database)
        line = DeskLine(service)
        for _ in 0..<3 {
            var configuration = SyncConfiguration()
            configuration.transport = line
            let client = try await SyncDatabase.open(MemoryStorage(granularity: .sector), configuration)
            for table in Self.tables { _ = try await client.pullAll(table) }
            clients.append(client)
        }
    }

    private static func open(_ database: any SQLDatabase) throws -> (SQLStore, TableAnswers) {
        let column = #""columns":{"text":"string"}"#
        let settings = try configuration(#"{"tables":{"t":{\#(column)},"h":{"softDelete":false,\#(column)}}}"#)
        let environment = PatientEnvironment()
        let store = try SQLStore(database, settings.tables, environment)
        return (store, TableAnswers(settings, store, environment))
    }

    func run(rounds: Int) async throws {
        for round in 0..<rounds {
            for _ in 0..<(3 + chance.below(8)) { try await step() }
            try noteVersions()
            try place.copy()
            let copied = try store.mark().change
            for _ in 0..<chance.below(9) { try await step() }
            try noteVersions()
            let lost = try store.mark().change - copied
            line.lose(0)
            let kept = try await makePending(round)
            let before = service.answer(HTTPRequest("GET", "/tables/t"), url: "").headers.value(WireHeader.epoch)
            try place.failOver()
            let restarts = place.isNoticedAtStart && chance.once(in: 2)
            if restarts {
                (store, service) = try FailoverStory.open(place.database)
                line.turn(to: service)
            }
            trace.append("round \(round): \(lost) writes lost, restarts \(restarts)")
            let after = try await settle(kept)
            // Without a lost write, a copy can't be told from the original if it has no origin.
            if lost > 0 || place.isNoticedAtStart, after == before { throw Failure(description: "the epoch stayed") }
        }
        for client in clients { try await client.close() }
    }

    /// Something that a client does, or someone without a store.
    private func step() async throws {
        let (number, table, kind) = (chance.below(3), chance.pick(Self.tables), chance.below(8))
        let client = clients[number]
        count += 1
        trace.append("\(count): client \(number), \(table), kind \(kind)")
        switch kind {
        case 0...1: try await client.insert("r\(count)", "text \(count)", into: table)
        case 2...3:
            let ids = try await client.column("text", of: table).keys.sorted()
            if !ids.isEmpty { try await client.update(chance.pick(ids), "text \(count)", in: table) }
        case 4:
            let ids = try await client.column("text", of: table).keys.sorted()
            if !ids.isEmpty { try await client.rows(of: table).delete(id: chance.pick(ids)) }
        case 5:
            line.lose(chance.below(2))
            _ = try? await client.pushOnce()
            line.lose(0)
        case 6: _ = try await client.pullAll(table)
        default:
            var request = HTTPRequest("POST", "/tables/\(table)")
            request.body = Array(#"{"id":"o\#(count)","text":"text \#(count)"}"#.utf8)
            _ = service.answer(request, url: "")
        }
    }

    /// Each client inserts and updates a row that no other one touches.
    private func makePending(_ round: Int) async throws -> [(client: Int, table: String, id: String, text: String)] {
        var kept: [(client: Int, table: String, id: String, text: String)] = []
        for (number, client) in clients.enumerated() {
            let table = chance.pick(Self.tables)
            let id = "pending-\(round)-\(number)"
            try await client.insert(id, "kept \(id)", into: table)
            kept.append((number, table, id, "kept \(id)"))
            let free = try await client.column("text", of: table).keys.sorted().filter { name in
                name != id && !kept.contains { $0.id == name }
            }
            guard !free.isEmpty else { continue }
            let other = chance.pick(free)
            try await client.update(other, "updated \(id)", in: table)
            kept.append((number, table, other, "updated \(id)"))
            trace.append("client \(number): updates \(table)/\(other)")
        }
        return kept
    }

    /// Syncs until nothing is pending, checks what was, and compares; returns the epoch.
    private func settle(_ kept: [(client: Int, table: String, id: String, text: String)]) async throws -> String? {
        try await reachServer()
        var asked: Set<String> = []
        for round in 0..<12 {
            var isDone = true
            for (number, client) in clients.enumerated() {
                for table in Self.tables { _ = try await client.pullAll(table) }
                try await client.pushOnce()
                for conflict in try await client.conflicts() {
                    trace.append("client \(number): \(conflict)")
                    asked.insert("\(number) \(conflict.table)/\(conflict.id)")
                    let decision: ConflictDecision = round > 3 || chance.once(in: 2) ? .takeServer : .keepMine
                    try await client.resolve(table: conflict.table, id: conflict.id, decision)
                }
                if try await !client.pending().isEmpty { isDone = false }
            }
            if !isDone { continue }
            try noteVersions()
            try await compare()
            for mine in kept where !asked.contains("\(mine.client) \(mine.table)/\(mine.id)") {
                // Another client may have had a conflict about it, and decided.
                if asked.contains(where: { $0.hasSuffix(" \(mine.table)/\(mine.id)") }) { continue }
                let there = try store.row(mine.table, id: mine.id)
                guard there?.columns["text"] == .string(mine.text) || kept.count(where: { $0.id == mine.id }) > 1 else {
                    throw Failure(description: "\(mine) is lost; the server has \(String(describing: there))")
                }
            }
            return service.answer(HTTPRequest("GET", "/tables/t"), url: "").headers.value(WireHeader.epoch)
        }
        throw Failure(description: "twelve rounds left something to be pushed")
    }

    /// Connections to the old database are lost; the server finds the new one by itself.
    private func reachServer() async throws {
        guard let request = HTTPRequest("GET", target: "/tables/t/changes?since=") else { return }
        for _ in 0..<100 where service.answer(request, url: "").status == 200 { return }
        throw Failure(description: "the server does not recover: \(service.answer(request, url: "").text)")
    }

    private func rows(_ table: String) throws -> [TableRow] {
        try store.list(ListPlan(table: table, limit: 100_000, includesDeleted: true)).rows
    }

    private func noteVersions() throws {
        for table in Self.tables {
            for row in try rows(table) {
                let meaning = "\(table)/\(row.id) \(row.columns["text"] ?? .null) \(row.isDeleted)"
                if let other = meanings.updateValue(meaning, forKey: row.version), other != meaning {
                    throw Failure(description: "version \(row.version) stands for \(other) and \(meaning)")
                }
            }
        }
    }

    private func compare() async throws {
        for table in Self.tables {
            let truth = Dictionary(
                try rows(table).filter { !$0.isDeleted }.map { ($0.id, [$0.columns["text"], .string($0.version)]) }
            ) { $1 }
            for (number, client) in clients.enumerated() {
                _ = try await client.pullAll(table)
                let (texts, versions) = try await (
                    client.column("text", of: table), client.column("version", of: table)
                )
                let mine = texts.mapValues { [Optional($0)] }.merging(versions.mapValues { [$0] }) { $0 + $1 }
                if mine != truth {
                    throw Failure(description: "client \(number) has \(mine) in \(table), the server \(truth)")
                }
            }
        }
    }
}

@Suite struct FailoverTests {
    private static let environment = ProcessInfo.processInfo.environment
    private static let seed = Seeds.one()
    private static let rounds = environment["SYNCLINE_ROUNDS"].flatMap(Int.init)

    private func play(_ place: any FailoverDatabase, rounds: Int) async throws {
        let story = try await FailoverStory(Self.seed, place)
        do {
            try await story.run(rounds: rounds)
        } catch {
            Issue.record("seed \(Self.seed): \(error)\n\(story.trace.joined(separator: "\n"))")
        }
    }

    @Test(arguments: TestBackend.available)
    func `a copy that lacks writes begins a new epoch, and clients end with its rows`(_ backend: TestBackend)
        async throws
    {
        try await play(try CopiedDatabase(backend), rounds: Self.rounds ?? (backend == .sqlite ? 20 : 5))
    }

    @Test(.enabled(if: PrivatePostgres.shared != nil, "PostgreSQL is not installed here, or can't be run"))
    func `a promoted standby that lacks writes begins a new epoch, and clients end with its rows`() async throws {
        try await play(try ReplicatedPostgres(), rounds: Self.rounds ?? 2)
    }

    @Test func `a state is judged by its origin and by what was committed`() {
        var known = Continuity()
        func state(_ epoch: String, _ change: Int64, _ origin: DatabaseState.Origin) -> DatabaseState {
            DatabaseState(epoch: epoch, change: change, origin: origin)
        }
        func isOlder(_ state: DatabaseState) -> Bool { if case .older = known.judge(state) { true } else { false } }
        #expect(known.judge(state("e", 5, .same)) == .continues && isOlder(state("e", 5, .other)))
        known.note(state("e", 7, .same))
        known.note(state("e", 6, .same))
        #expect(isOlder(state("e", 6, .same)) && known.judge(state("e", 7, .same)) == .continues)
        #expect(known.judge(state("e", 6, .standby)) == .lagging && known.judge(state("e", 7, .standby)) == .continues)
        #expect(known.judge(state("f", 1, .same)) == .continues)
        known.note(state("f", 1, .same))
        #expect(known.judge(state("f", 1, .same)) == .continues && isOlder(state("f", 0, .same)))
    }
}
