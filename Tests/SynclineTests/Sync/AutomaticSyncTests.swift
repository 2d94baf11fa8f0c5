// Automatic sync with a simulated server and the test's own clock.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite(.timeLimit(.minutes(10))) struct AutomaticSyncTests {
    private let clock = ManualEnvironment()
    private let server = SimulatedServer(.zumo2)
    private let network: SimulatedNetwork

    init() {
        network = SimulatedNetwork(server)
    }

    private func open() async throws -> SyncDatabase {
        var configuration = SyncConfiguration()
        configuration.environment = clock
        configuration.connect(to: network)
        return try await SyncDatabase.open(MemoryStorage(), configuration)
    }

    /// Reads statuses until one is as expected.
    private func status(
        of sync: AutomaticSync, where isWanted: (SyncStatus) -> Bool
    ) async -> SyncStatus? {
        for await status in sync.statuses() where isWanted(status) { return status }
        return nil
    }

    @Test func `a change is pushed after the delay, and the server's rows come`() async throws {
        server.setTable("t", rows: [.object([.init("id", .string("theirs"))])])
        let database = try await open()
        let sync = try database.startAutomaticSync(AutomaticSyncSettings(tables: ["t"]))
        #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != nil } != nil)
        #expect(try await database.rows(of: "t").get(id: "theirs") != nil)
        let first = sync.status.lastRound
        try await database.rows(of: "t").insert(.object([.init("id", .string("mine"))]))
        while clock.nextWaking?.milliseconds != clock.milliseconds() + 500 { await Task.yield() }
        clock.advance(by: .milliseconds(500))
        #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != first } != nil)
        #expect(server.rows(of: "t").count == 2)
        #expect(try await database.pending().isEmpty)
        await sync.stop()
        #expect(sync.status.phase == .stopped)
        try await database.close()
    }

    @Test func `without a network it retries, and nothing is lost`() async throws {
        server.setTable("t", rows: [])
        let database = try await open()
        try await database.rows(of: "t").insert(.object([.init("id", .string("mine"))]))
        network.setOffline(true)
        let sync = try database.startAutomaticSync(AutomaticSyncSettings(tables: ["t"]))
        let offline = await status(of: sync) { if case .offline = $0.phase { true } else { false } }
        #expect(offline?.pending == 1)
        network.setOffline(false)
        sync.networkIsBack()
        #expect(await status(of: sync) { $0.phase == .idle } != nil)
        #expect(server.rows(of: "t").count == 1)
        await sync.stop()
        try await database.close()
    }

    @Test func `closing the store ends what syncs by itself`() async throws {
        server.setTable("t", rows: [])
        let database = try await open()
        let sync = try database.startAutomaticSync(AutomaticSyncSettings(tables: ["t"]))
        #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != nil } != nil)
        try await database.close()
        #expect(sync.status.phase == .stopped)
        let requests = network.requestCount
        sync.syncNow()
        #expect(clock.nextWaking == nil, "nothing waits for the next round")
        #expect(network.requestCount == requests)
    }

    @Test func `closing in the middle of a request waits until it has ended`() async throws {
        let held = HeldNetwork(network)
        var configuration = SyncConfiguration()
        configuration.environment = clock
        configuration.transport = held
        let database = try await SyncDatabase.open(MemoryStorage(), configuration)
        let sync = try database.startAutomaticSync(AutomaticSyncSettings(tables: ["t"]))
        while held.running == 0 { await Task.yield() }
        try await database.close()
        #expect(held.running == 0)
        #expect(sync.status.phase == .stopped)
    }

    @Test func `there is at most one automatic sync, and it can be found`() async throws {
        server.setTable("t", rows: [])
        let database = try await open()
        #expect(database.automaticSync == nil)
        try database.startAutomaticSync(AutomaticSyncSettings(tables: ["t"]))
        let sync = try #require(database.automaticSync)
        let error = #expect(throws: SyncError.self) { try database.startAutomaticSync() }
        #expect(error?.code == .invalidConfiguration)
        await sync.stop()
        #expect(database.automaticSync == nil)
        let second = try database.startAutomaticSync(AutomaticSyncSettings(tables: ["t"]))
        #expect(database.automaticSync === second)
        try await database.close()
        #expect(database.automaticSync == nil)
        #expect(throws: SyncError.self) { try database.startAutomaticSync() }
    }

    @Test func `a closed store sends nothing`() async throws {
        server.setTable("t", rows: [])
        let database = try await open()
        try await database.close()
        await #expect(throws: SyncError.self) { try await database.push() }
        await #expect(throws: SyncError.self) { try await database.pull("t") }
        await #expect(throws: SyncError.self) { try await database.backend() }
        #expect(network.requestCount == 0)
    }

    @Test func `conflicts are counted, and a decision about one is sent`() async throws {
        server.setTable("t", rows: [.item("r", ["a": .integer(1)])])
        let database = try await open()
        var settings = AutomaticSyncSettings(tables: ["t"])
        settings.interval = nil
        let sync = try database.startAutomaticSync(settings)
        #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != nil }?.conflicts == 0)
        server.upsert([.item("r", ["a": .integer(8)])], in: "t")
        let first = sync.status.lastRound
        try await database.rows(of: "t").update(.item("r", ["a": .integer(9)]))
        await skip()
        #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != first }?.conflicts == 1)
        let second = sync.status.lastRound
        try await database.resolve(table: "t", id: "r", .keepMine)
        await skip()
        #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != second }?.conflicts == 0)
        #expect(server.rows(of: "t").first?[member: "a"] == .integer(9))
        try await database.close()
    }

    // MARK: A server with an event stream

    private func open(_ network: TellingNetwork) async throws -> SyncDatabase {
        var configuration = SyncConfiguration()
        configuration.environment = clock
        configuration.credentials = TwoTokens()
        configuration.transport = network
        return try await SyncDatabase.open(MemoryStorage(), configuration)
    }

    private func settings() -> AutomaticSyncSettings {
        var settings = AutomaticSyncSettings(tables: ["t"])
        settings.interval = nil
        return settings
    }

    /// Advances the clock to what is waited for.
    private func skip() async {
        while true {
            if let moment = clock.nextWaking?.milliseconds {
                return clock.advance(by: .milliseconds(moment - clock.milliseconds()))
            }
            await Task.yield()
        }
    }

    @Test func `announced changes arrive, also through a stream after one that ended`() async throws {
        server.setTable("t", rows: [])
        let telling = TellingNetwork(network)
        let database = try await open(telling)
        let sync = try database.startAutomaticSync(settings())
        for number in 1...3 {
            await telling.waitForStream(number)
            let last = sync.status.lastRound
            server.setTable("t", rows: [.object([.init("id", .string("r\(number)"))])])
            telling.tell("cursor-\(number)")
            await skip()
            #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != last } != nil)
            #expect(try await database.rows(of: "t").get(id: "r\(number)") != nil)
            telling.endStream()
            // It pauses, and makes a round to check whether the server is there.
            await skip()
            await skip()
        }
        await telling.waitForStream(4)
        await sync.stop()
        try await database.close()
    }

    @Test func `only the tables that an announcement names are pulled`() async throws {
        for table in ["t", "U"] { server.setTable(table, rows: []) }
        let telling = TellingNetwork(network)
        let database = try await open(telling)
        var settings = AutomaticSyncSettings(tables: ["t", "U"])
        settings.interval = nil
        let sync = try database.startAutomaticSync(settings)
        await telling.waitForStream(1)
        #expect(telling.asked == "U,t")
        func round(_ begin: () async throws -> Void) async throws -> Set<String> {
            let last = sync.status.lastRound
            _ = telling.takePaths()
            try await begin()
            await skip()
            #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != last } != nil)
            return Set(telling.takePaths())
        }
        #expect(try await round { telling.tell("1", tables: "T,x") } == ["/tables/t"])
        #expect(try await round { telling.tell("2", tables: "u") } == ["/tables/U"])
        #expect(try await round { telling.tell("3") } == ["/tables/t", "/tables/U"])
        await sync.stop()
        try await database.close()
    }

    @Test func `a caller waits for a whole round`() async throws {
        for table in ["t", "u"] { server.setTable(table, rows: []) }
        let telling = TellingNetwork(network)
        let database = try await open(telling)
        var settings = AutomaticSyncSettings(tables: ["t", "u"])
        settings.interval = nil
        let sync = try database.startAutomaticSync(settings)
        await telling.waitForStream(1)
        server.setTable("u", rows: [.object([.init("id", .string("theirs"))])])
        telling.tell("1", tables: "t")
        try await database.caughtUp()
        #expect(try await database.rows(of: "u").get(id: "theirs") != nil)
        await sync.stop()
        try await database.close()
    }

    @Test func `a stream whose token was refused is requested with another token`() async throws {
        server.setTable("t", rows: [])
        let telling = TellingNetwork(network, refusing: "first")
        let database = try await open(telling)
        let sync = try database.startAutomaticSync(settings())
        await telling.waitForStream(1)
        await sync.stop()
        try await database.close()
    }

    @Test func `a store that is set not to listen does not`() async throws {
        server.setTable("t", rows: [])
        let telling = TellingNetwork(network)
        let database = try await open(telling)
        var settings = settings()
        settings.listens = false
        let sync = try database.startAutomaticSync(settings)
        #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != nil } != nil)
        // What it had started would be over after this.
        await sync.stop()
        #expect(telling.streams == 0)
        try await database.close()
    }
}

private struct TwoTokens: CredentialProvider {
    func token(insteadOf refused: String?) async throws -> AccessToken? { refused == nil ? "first" : "second" }
}

/// A network in which every request lasts until it is cancelled.
private final class HeldNetwork: HTTPTransport {
    private let network: SimulatedNetwork
    private let count = Mutex(0)

    init(_ network: SimulatedNetwork) {
        self.network = network
    }

    /// Requests in flight.
    var running: Int { count.withLock { $0 } }

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        count.withLock { $0 += 1 }
        let (stream, end) = AsyncStream<Void>.makeStream()
        await withTaskCancellationHandler {
            for await _ in stream {}
        } onCancel: {
            end.finish()
        }
        count.withLock { $0 -= 1 }
        throw .cancelled
    }
}

/// A network whose server announces changes when the test wants it to.
private final class TellingNetwork: HTTPTransport {
    private struct State: Sendable {
        var streams = 0
        var asked: String?
        var paths: [String] = []
        var hear: (@Sendable ([UInt8]) -> Void)?
        var end: AsyncStream<Void>.Continuation?
    }

    private let network: SimulatedNetwork
    private let refused: String?
    private let state = Mutex(State())

    /// - Parameter refused: A token for which no stream is opened.
    init(_ network: SimulatedNetwork, refusing refused: String? = nil) {
        self.network = network
        self.refused = refused
    }

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
        state.withLock { $0.paths.append(request.path) }
        var response = try await network.send(request)
        response.headers.append(HTTPHeader(WireHeader.capabilities, "events"))
        return response
    }

    func listen(
        _ request: HTTPRequest, _ hear: @escaping @Sendable ([UInt8]) -> Void
    ) async throws(NetworkFailure) -> HTTPResponse {
        if let refused, request.headers.contains(where: { $0.value.contains(refused) }) {
            return HTTPResponse(status: 401)
        }
        let (stream, end) = AsyncStream<Void>.makeStream()
        state.withLock { state in
            state.streams += 1
            state.asked = request.query.first?.value
            (state.hear, state.end) = (hear, end)
        }
        for await _ in stream {}
        return HTTPResponse(status: 200)
    }

    /// The number of streams so far.
    var streams: Int { state.withLock { $0.streams } }

    func waitForStream(_ number: Int) async {
        while streams < number { await Task.yield() }
    }

    func tell(_ cursor: String, tables: String? = nil) {
        let hear = state.withLock { $0.hear }
        hear?(Array("event: change\n\(tables.map { "tables: \($0)\n" } ?? "")data: \(cursor)\n\n".utf8))
    }

    /// The tables that the stream was asked for.
    var asked: String? { state.withLock { $0.asked } }

    /// The paths of requests since the last call.
    func takePaths() -> [String] {
        state.withLock { state in
            defer { state.paths = [] }
            return state.paths
        }
    }

    func endStream() { state.withLock { $0.end }?.finish() }
}
