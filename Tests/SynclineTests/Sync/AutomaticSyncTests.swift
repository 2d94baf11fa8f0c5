// A store that syncs by itself against a simulated server, on a clock of the test's own.

import SegmentLog
import Synchronization
import SynclineCore
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

@Suite struct AutomaticSyncTests {
    private let clock = ManualSurroundings()
    private let server = SimulatedServer(.zumo2)
    private let network: SimulatedNetwork

    init() {
        network = SimulatedNetwork(server)
    }

    private func open() async throws -> SyncDatabase {
        var configuration = SyncConfiguration()
        configuration.surroundings = clock
        configuration.connect(to: network)
        return try await SyncDatabase.open(MemoryStorage(), configuration)
    }

    /// Reads statuses until one is as wanted.
    private func status(
        of sync: AutomaticSync, where isWanted: (SyncStatus) -> Bool
    ) async -> SyncStatus? {
        for await status in sync.statuses() where isWanted(status) { return status }
        return nil
    }

    @Test func `a change is pushed after the delay, and the server's rows come`() async throws {
        server.setTable("t", rows: [.object([.init("id", .string("theirs"))])])
        let database = try await open()
        let sync = database.startAutomaticSync(AutomaticSyncSettings(tables: ["t"]))
        #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != nil } != nil)
        #expect(try await database.table("t").get(id: "theirs") != nil)
        let first = sync.status.lastRound
        try await database.table("t").insert(.object([.init("id", .string("mine"))]))
        while clock.nextWaking != clock.now() + 500 { await Task.yield() }
        clock.advance(milliseconds: 500)
        #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != first } != nil)
        #expect(server.rows(of: "t").count == 2)
        #expect(try await database.pending().isEmpty)
        await sync.stop()
        #expect(sync.status.phase == .stopped)
        try await database.close()
    }

    @Test func `without a network it tries again, and nothing is lost`() async throws {
        server.setTable("t", rows: [])
        let database = try await open()
        try await database.table("t").insert(.object([.init("id", .string("mine"))]))
        network.setOffline(true)
        let sync = database.startAutomaticSync(AutomaticSyncSettings(tables: ["t"]))
        let offline = await status(of: sync) { if case .offline = $0.phase { true } else { false } }
        #expect(offline?.pending == 1)
        network.setOffline(false)
        sync.networkIsBack()
        #expect(await status(of: sync) { $0.phase == .idle } != nil)
        #expect(server.rows(of: "t").count == 1)
        await sync.stop()
        try await database.close()
    }

    // MARK: A server that tells

    private func open(_ network: TellingNetwork) async throws -> SyncDatabase {
        var configuration = SyncConfiguration()
        configuration.surroundings = clock
        configuration.credentials = TwoTokens()
        configuration.transport = network
        return try await SyncDatabase.open(MemoryStorage(), configuration)
    }

    private func settings() -> AutomaticSyncSettings {
        var settings = AutomaticSyncSettings(tables: ["t"])
        settings.interval = nil
        return settings
    }

    /// Lets the time pass that somebody waits for.
    private func skip() async {
        while true {
            if let moment = clock.nextWaking { return clock.advance(milliseconds: moment - clock.now()) }
            await Task.yield()
        }
    }

    @Test func `what the server tells comes, also from a stream that follows one that ended`() async throws {
        server.setTable("t", rows: [])
        let telling = TellingNetwork(network)
        let database = try await open(telling)
        let sync = database.startAutomaticSync(settings())
        for number in 1...3 {
            await telling.waitForStream(number)
            let last = sync.status.lastRound
            server.setTable("t", rows: [.object([.init("id", .string("r\(number)"))])])
            telling.tell("cursor-\(number)")
            await skip()
            #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != last } != nil)
            #expect(try await database.table("t").get(id: "r\(number)") != nil)
            telling.endStream()
            // It rests, and makes a round to see whether the server is there.
            await skip()
            await skip()
        }
        await telling.waitForStream(4)
        await sync.stop()
        try await database.close()
    }

    @Test func `a stream whose token was refused is asked for with another`() async throws {
        server.setTable("t", rows: [])
        let telling = TellingNetwork(network, refusing: "first")
        let database = try await open(telling)
        let sync = database.startAutomaticSync(settings())
        await telling.waitForStream(1)
        await sync.stop()
        try await database.close()
    }

    @Test func `who does not want to listen does not`() async throws {
        server.setTable("t", rows: [])
        let telling = TellingNetwork(network)
        let database = try await open(telling)
        var settings = settings()
        settings.listens = false
        let sync = database.startAutomaticSync(settings)
        #expect(await status(of: sync) { $0.phase == .idle && $0.lastRound != nil } != nil)
        // What it had started would be over behind this.
        await sync.stop()
        #expect(telling.streams == 0)
        try await database.close()
    }
}

private struct TwoTokens: CredentialProvider {
    func token(insteadOf refused: String?) async throws -> String? { refused == nil ? "first" : "second" }
}

/// A network whose server tells of changes when the test wants it to.
private final class TellingNetwork: HTTPTransport {
    private struct State: Sendable {
        var streams = 0
        var hear: (@Sendable ([UInt8]) -> Void)?
        var end: AsyncStream<Void>.Continuation?
    }

    private let network: SimulatedNetwork
    private let refused: String?
    private let state = Mutex(State())

    /// - Parameter refused: A token with which no stream is given.
    init(_ network: SimulatedNetwork, refusing refused: String? = nil) {
        self.network = network
        self.refused = refused
    }

    func send(_ request: HTTPRequest) async throws(NetworkFailure) -> HTTPResponse {
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
            (state.hear, state.end) = (hear, end)
        }
        for await _ in stream {}
        return HTTPResponse(status: 200)
    }

    /// How many streams there were.
    var streams: Int { state.withLock { $0.streams } }

    func waitForStream(_ number: Int) async {
        while streams < number { await Task.yield() }
    }

    func tell(_ cursor: String) {
        let hear = state.withLock { $0.hear }
        hear?(Array("event: change\ndata: \(cursor)\n\n".utf8))
    }

    func endStream() { state.withLock { $0.end }?.finish() }
}
