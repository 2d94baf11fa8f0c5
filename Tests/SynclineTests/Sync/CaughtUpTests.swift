// Waiting until automatic sync has sent what the caller changed and fetched what the server had.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite(.timeLimit(.minutes(10))) struct CaughtUpTests {
    private let clock = ManualEnvironment()
    private let server = SimulatedServer(.datasync3)
    private let network: SimulatedNetwork
    private let gate = RequestGate()

    init() {
        network = SimulatedNetwork(server) { [gate] _ in await gate.wait() }
        server.setTable("t", rows: [])
        server.setTable("u", rows: [])
    }

    /// A store with automatic sync that makes rounds on request only.
    private func open(_ tables: [String]? = ["t", "u"]) async throws -> SyncDatabase {
        var configuration = SyncConfiguration.test()
        configuration.environment = clock
        configuration.serverProtocol = .datasync3
        configuration.connect(to: network)
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        var settings = SyncSettings(tables: tables)
        settings.push.retries = 0
        for index in (settings.pulls ?? []).indices { settings.pulls?[index].settings.retries = 0 }
        try await start(settings, database)
        return database
    }

    /// Starts automatic sync, and returns when its first round is over.
    private func start(_ settings: SyncSettings, _ database: SyncDatabase) async throws {
        let settings = AutomaticSyncSettings(sync: settings, delay: nil, interval: nil)
        for await status in try database.startAutomaticSync(settings).statuses()
        where status.phase == .idle && status.lastRound != nil { return }
    }

    private func code(_ body: () async throws -> Void) async -> SyncError.Code? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? SyncError)?.code
        }
    }

    /// Returns when automatic sync is in a phase.
    private func wait(_ database: SyncDatabase, _ isWanted: (SyncStatus.Phase) -> Bool) async throws {
        let sync = try #require(database.automaticSync)
        for await status in sync.statuses() where isWanted(status.phase) { return }
    }

    /// Returns when a number of callers wait.
    private func waitForCallers(_ count: Int, _ database: SyncDatabase) async throws {
        let sync = try #require(database.automaticSync)
        while sync.callers.count < count { await Task.yield() }
    }

    @Test func `own changes are on the server and its rows are here`() async throws {
        let database = try await open()
        try await database.rows(of: "t").insert(.item("mine", ["n": 1]))
        server.upsert([.item("theirs", ["n": 1])], in: "u")
        try await database.caughtUp()
        #expect(server.rows(of: "t").count == 1)
        #expect(try await database.rows(of: "u").get(id: "theirs") != nil)
        server.upsert([.item("more", ["n": 1])], in: "u")
        try await database.caughtUp(including: ["u"])
        #expect(try await database.rows(of: "u").get(id: "more") != nil)
        let requests = network.requestCount
        try await database.caughtUp(including: [])
        #expect(network.requestCount == requests, "there is nothing to wait for")
        try await database.close()
    }

    @Test func `without a network it waits, and so does another caller`() async throws {
        let database = try await open()
        network.setOffline(true)
        try await database.rows(of: "t").insert(.item("a", ["n": 1]))
        async let first: Void = database.caughtUp()
        try await waitForCallers(1, database)
        async let second: Void = database.caughtUp(including: [])
        try await waitForCallers(2, database)
        try await wait(database) { if case .offline = $0 { true } else { false } }
        #expect(try #require(database.automaticSync).callers.count == 2)
        network.setOffline(false)
        database.automaticSync?.networkIsBack()
        _ = try await (first, second)
        #expect(server.rows(of: "t").count == 1)
        try await database.close()
    }

    @Test func `a change made during the wait is not waited for`() async throws {
        let database = try await open()
        try await database.rows(of: "t").insert(.item("a", ["n": 1]))
        network.script([.delay])
        async let caught: Void = database.caughtUp(including: [])
        await gate.arrived()
        // The push has its operations.
        try await database.rows(of: "t").insert(.item("b", ["n": 1]))
        try await database.hold(table: "t", id: "b")
        await gate.open()
        try await caught
        #expect(try await database.pending().map(\.id) == ["b"])
        try await database.close()
    }

    @Test func `a call during a round waits for the one after it`() async throws {
        let database = try await open(["t"])
        network.script([.delay])
        database.automaticSync?.syncNow()
        await gate.arrived()
        server.upsert([.item("late", ["n": 1])], in: "t")
        let requests = network.requestCount
        async let caught: Void = database.caughtUp()
        try await waitForCallers(1, database)
        await gate.open()
        try await caught
        #expect(network.requestCount > requests)
        #expect(try await database.rows(of: "t").get(id: "late") != nil)
        #expect(clock.nextWaking == nil, "the next round began at once")
        try await database.close()
    }

    @Test func `a change that awaits a decision or is held is reported`() async throws {
        server.setTable("t", rows: [.item("a", ["n": 1]), .item("b", ["n": 1])])
        let database = try await open()
        try await database.rows(of: "t").update(.item("a", ["n": 2]))
        server.upsert([.item("a", ["n": 3])], in: "t")
        let error = await #expect(throws: SyncError.self) { try await database.caughtUp() }
        #expect(error?.code == .pushIncomplete && error?.address == "t/a")
        #expect(error?.message == "the change of t/a awaits a decision")
        try await database.resolve(try #require(try await database.issues().first), .decide(.keepMine))
        try await database.caughtUp()
        #expect(try await database.pending().isEmpty)

        try await database.rows(of: "t").update(.item("b", ["n": 2]))
        try await database.hold(table: "t", id: "b")
        #expect(await code { try await database.caughtUp(including: ["t"]) } == .pushIncomplete)
        try await wait(database) { $0 == .idle }
        try await database.release(table: "t", id: "b")
        network.script([.answer(status: 400)])
        #expect(await code { try await database.caughtUp() } == .pushIncomplete)
        #expect(try await database.issues().map(\.kind) == [.refused])
        try await database.close()
    }

    @Test func `what stops a round is reported, and what stops only other tables is not`() async throws {
        let database = try await open()
        network.script([.answer(status: 500)])
        #expect(await code { try await database.caughtUp(including: ["t"]) } == .serverError)
        network.script([nil, .answer(status: 500)])
        try await database.caughtUp(including: ["t"])
        try await wait(database) { if case .waiting = $0 { true } else { false } }
        network.script([.answer(status: 401), .answer(status: 401)])
        #expect(await code { try await database.caughtUp(including: ["u"]) } == .unauthorized)
        try await database.close()
    }

    @Test func `a table that is not pulled, and a sync that does not run, are errors`() async throws {
        let database = try await open(["t"])
        #expect(await code { try await database.caughtUp(including: ["u"]) } == .invalidConfiguration)
        await database.automaticSync?.stop()
        #expect(await code { try await database.caughtUp() } == .invalidConfiguration)
        try await database.close()
        #expect(await code { try await database.caughtUp() } == .closed)
        let other = try await open(nil)
        #expect(await code { try await other.caughtUp(including: ["u"]) } == .invalidConfiguration)
        try await other.rows(of: "u").insert(.item("a", ["n": 1]))
        try await other.caughtUp(including: ["u"])
        try await other.suspend()
        #expect(await code { try await other.caughtUp() } == .suspended)
        try await other.close()
    }

    @Test func `a push that leaves tables out leaves the change`() async throws {
        let database = try await open()
        await database.automaticSync?.stop()
        var settings = SyncSettings(tables: ["u"])
        settings.push.tables = ["u"]
        try await start(settings, database)
        try await database.rows(of: "t").insert(.item("a", ["n": 1]))
        let error = await #expect(throws: SyncError.self) { try await database.caughtUp() }
        #expect(error?.code == .pushIncomplete && error?.message == "the change of t/a was not sent")
        try await database.close()
    }

    @Test(arguments: [true, false]) func `closing or stopping ends the wait`(closes: Bool) async throws {
        let database = try await open()
        network.setOffline(true)
        let waiting = Task { await code { try await database.caughtUp() } }
        try await waitForCallers(1, database)
        if closes { try await database.close() } else { await database.automaticSync?.stop() }
        #expect(await waiting.value == (closes ? .closed : .invalidConfiguration))
        if !closes { try await database.close() }
    }

    @Test func `a cancelled call ends, and automatic sync continues`() async throws {
        let database = try await open()
        network.setOffline(true)
        try await database.rows(of: "t").insert(.item("a", ["n": 1]))
        let cancelled = Task { await code { try await database.caughtUp() } }
        try await waitForCallers(1, database)
        async let other: Void = database.caughtUp()
        try await waitForCallers(2, database)
        cancelled.cancel()
        #expect(await cancelled.value == .cancelled)
        network.setOffline(false)
        database.automaticSync?.networkIsBack()
        try await other
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return await code { try await database.caughtUp() }
        }
        #expect(await early.value == .cancelled)
        #expect(try #require(database.automaticSync).callers.count == 0)
        try await database.close()
    }
}

/// Holds a request until it is opened.
private actor RequestGate {
    private var held: CheckedContinuation<Void, Never>?
    private var waiting: CheckedContinuation<Void, Never>?

    func wait() async {
        await withCheckedContinuation { continuation in
            held = continuation
            waiting?.resume()
            waiting = nil
        }
    }

    /// Returns when a request is held.
    func arrived() async {
        if held != nil { return }
        await withCheckedContinuation { waiting = $0 }
    }

    func open() {
        held?.resume()
        held = nil
    }
}
