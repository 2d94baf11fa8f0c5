// What a push and a pull do when the app's credentials are unavailable, and how often the app is asked for them.

import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

/// A provider whose responses a test sets.
private final class Session: CredentialProvider {
    private struct State {
        var tokens: [Result<String?, any Error>] = []
        var headers = 0
    }

    private let state = Mutex(State())

    init(_ tokens: [Result<String?, any Error>]) {
        state.withLock { $0.tokens = tokens }
    }

    /// The next response; the last one is repeated.
    func token(insteadOf refused: String?) async throws -> AccessToken? {
        try state.withLock { state in
            if state.tokens.count > 1 { return state.tokens.removeFirst() }
            return state.tokens.first ?? .success(nil)
        }.get().map { AccessToken($0) }
    }

    func headers() async -> [String: String] {
        let number = state.withLock { state in
            state.headers += 1
            return state.headers
        }
        return ["X-Request": "\(number)"]
    }
}

/// An error as a URL request of the system's throws it.
private struct LostConnection: Error {
    var _domain: String { "NSURLErrorDomain" }
    var _code: Int { -1009 }
}

private struct LoginExpired: Error, CustomStringConvertible {
    var description: String { "the login has expired" }
}

@Suite struct CredentialTests {
    private let server = SimulatedServer(.zumo2)
    private let network: SimulatedNetwork

    init() {
        server.setTable("t", rows: [.item("theirs", [:])])
        network = SimulatedNetwork(server)
    }

    private func open(_ session: Session) async throws -> SyncDatabase {
        var configuration = SyncConfiguration.test()
        configuration.credentials = session
        configuration.transport = network
        return try await SyncDatabase.open(MemoryStorage(), configuration)
    }

    @Test func `without credentials nothing is sent, and the operation thaws`() async throws {
        let database = try await open(Session([.failure(LoginExpired()), .success("t")]))
        try await database.rows(of: "t").insert(.item("1", ["a": .integer(1)]))
        let report = try await database.push()
        #expect(report.reason?.code == .unauthorized)
        #expect(report.reason?.message.contains("the login has expired") == true)
        #expect(report.operations.map(\.outcome) == [.pending])
        #expect(network.requests.isEmpty)
        let operation = try #require(try await database.pending().first)
        #expect(!operation.isFrozen)
        #expect(try await database.push().outcome == .complete)
        #expect(network.requests.map { $0.headers.value("X-ZUMO-AUTH") } == ["t"])
    }

    private struct Anonymous: CredentialProvider {
        func token(insteadOf refused: String?) async throws -> AccessToken? { refused == nil ? .anonymous : nil }
    }

    @Test func `no token stops with unauthorized and sends nothing, and an explicit decision sends none`() async throws
    {
        let database = try await open(Session([.success(nil)]))
        try await database.rows(of: "t").insert(.item("1", ["a": .integer(1)]))
        #expect(try await database.push().reason?.code == .unauthorized)
        #expect(try await database.pull("t").reason?.code == .unauthorized)
        #expect(network.requests.isEmpty)
        var configuration = SyncConfiguration.test()
        configuration.credentials = Anonymous()
        configuration.transport = network
        let open = try await SyncDatabase.open(MemoryStorage(), configuration)
        try await open.rows(of: "t").insert(.item("1", ["a": .integer(1)]))
        #expect(try await open.push().outcome == .complete)
        #expect(network.requests.map { $0.headers.value("X-ZUMO-AUTH") } == [nil])
    }

    @Test func `if the provider is offline, the push stops with offline`() async throws {
        let ownWords = SyncError(.offline, "the login server can't be reached")
        for error in [ownWords, LostConnection()] as [any Error] {
            let database = try await open(Session([.failure(error)]))
            try await database.rows(of: "t").insert(.item("1", ["a": .integer(1)]))
            #expect(try await database.push().reason?.code == .offline)
            #expect(try await database.pull("t").reason?.code == .offline)
            let direct = await #expect(throws: SyncError.self) {
                try await database.backend().rows(of: "t").get(id: "theirs")
            }
            #expect(direct?.code == .offline)
        }
        #expect(network.requests.isEmpty)
    }

    @Test func `credentials that can't be read from a disk stop with io-error and its place`() async throws {
        let unreadable = SyncError(.ioError, "read failed: Input/output error", address: "secrets.json")
        let database = try await open(Session([.failure(unreadable)]))
        try await database.rows(of: "t").insert(.item("1", ["a": .integer(1)]))
        let reason = try #require(try await database.push().reason)
        #expect(reason.code == .ioError && reason.address == "secrets.json")
        #expect(reason.message == "the credentials can't be read: read failed: Input/output error")
        #expect(reason.cause as? SyncError == unreadable)
        #expect(network.requests.isEmpty)
    }

    @Test func `a renewal that fails says why, and the refused operation thaws`() async throws {
        let offline = SyncError(.offline, "the login server can't be reached")
        for (error, code) in [(offline, .offline), (LoginExpired(), .unauthorized)]
            as [(any Error, SyncError.Code)]
        {
            let database = try await open(Session([.success("old"), .failure(error)]))
            try await database.rows(of: "t").insert(.item("1", ["a": .integer(1)]))
            network.script([.answer(status: 401)])
            let report = try await database.push()
            #expect(report.reason?.code == code)
            #expect(report.reason?.message.contains("\(error)") == true || code == .offline)
            #expect(try await database.pending().first?.isFrozen == false)
            network.script([.answer(status: 401)])
            var settings = PullSettings()
            settings.pushesFirst = false
            #expect(try await database.pull("t", settings).reason?.code == code)
        }
        #expect(server.rows(of: "t").count == 1)
    }

    @Test func `an operation that may have arrived stays frozen if there are no credentials later`() async throws {
        let database = try await open(Session([.success("t"), .failure(LoginExpired()), .success("t")]))
        try await database.rows(of: "t").insert(.item("1", ["a": .integer(1)]))
        network.script([.dropAnswer])
        #expect(try await database.push().reason?.code == .offline)
        database.forgetServer()
        #expect(try await database.push().reason?.code == .unauthorized)
        #expect(try await database.pending().first?.isFrozen == true)
        #expect(try await database.push().outcome == .complete)
        let ids = network.requests.filter { $0.method == "POST" }.map { $0.headers.value("X-Syncline-Operation-Id") }
        #expect(ids.count == 2 && ids[0] == ids[1])
    }

    @Test func `the provider's own error is the cause`() async throws {
        let database = try await open(Session([.failure(LoginExpired())]))
        #expect(try await database.pull("t").reason?.cause is LoginExpired)
        let cancelled = try await open(Session([.failure(CancellationError())]))
        #expect(try await cancelled.pull("t").reason?.code == .cancelled)
    }

    @Test func `headers are asked for with each request`() async throws {
        let database = try await open(Session([.success("t")]))
        for _ in 0..<3 { _ = try await database.pull("t") }
        #expect(network.requests.map { $0.headers.value("X-Request") } == ["1", "2", "3"])
    }

    @Test func `progress counts what was decided, not what was given up`() async throws {
        let database = try await open(Session([.success("t")]))
        for number in 0..<5 { try await database.rows(of: "t").insert(.item("\(number)", [:])) }
        let told = Mutex<[SyncProgress]>([])
        network.setOffline(true)
        _ = try await database.push { progress in told.withLock { $0.append(progress) } }
        #expect(told.withLock { Set($0) } == [.pushing(done: 0, total: 5)])
        network.setOffline(false)
        _ = try await database.push { progress in told.withLock { $0.append(progress) } }
        #expect(told.withLock { $0.last } == .pushing(done: 5, total: 5))
    }
}
