// A store serves one user: what waits in it is never sent with the token of another, and no rows of two are mixed.

import Foundation
import SegmentLog
import SynclineCore
import SynclineGround
import SynclineTesting
import SynclineWire
import Testing

@testable import Syncline

/// A provider whose token a test changes.
private final class Login: CredentialProvider {
    private let current: Mutex<AccessToken?>
    init(_ token: AccessToken?) { current = Mutex(token) }

    func use(_ token: AccessToken?) { current.withLock { $0 = token } }

    func token(insteadOf refused: String?) async throws -> AccessToken? {
        let token = current.withLock { $0 }
        return token?.text == refused ? nil : token
    }
}

private func token(_ claims: String) -> AccessToken {
    let text = Base64.encode(Array(claims.utf8)).filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 }
    return AccessToken("e30.\(String(text)).c2ln")
}

private func user(_ name: String, _ more: String = "") -> AccessToken { token(#"{"sub":"\#(name)"\#(more)}"#) }

@Suite struct StoreUserTests {
    private let server: SimulatedServer
    private let network: SimulatedNetwork
    private let storage = MemoryStorage()

    init() {
        server = SimulatedServer(.zumo2)
        server.setTable("t", rows: [.item("theirs", [:])])
        server.setTable("empty", rows: [])
        network = SimulatedNetwork(server)
    }

    private func open(_ login: Login, _ storage: MemoryStorage? = nil) async throws -> SyncDatabase {
        var configuration = SyncConfiguration.test()
        configuration.credentials = login
        configuration.transport = network
        return try await SyncDatabase.open(storage ?? self.storage, configuration)
    }

    @Test func `a token's subject is read from a JSON Web Token, and otherwise only the app knows it`() {
        #expect(user("ann").user == "ann" && AccessToken("opaque").user == nil && AccessToken.anonymous.user == nil)
        #expect(AccessToken("opaque", user: "ann").user == "ann" && user("\\u00e9").user == user("é").user)
        let others = [#"{}"#, #"{"sub":7}"#, #"{"sub":""}"#, #"["sub"]"#, "", #"{"sub":"ann""#, "\u{0}"]
        for claims in others { #expect(token(claims).user == nil, "\(claims)") }
        for text in ["a.b", "..", "a.eyJzdWIiOiJhIn0.b.c", "e30.eyJzdWIiOiJhIn0=.x"] {
            #expect(AccessToken(text).user == nil, "\(text)")
        }
    }

    @Test func `what waits is sent by its user only, whatever the form of the other's name`() async throws {
        let login = Login(user("Ann\\u00e9"))
        let store = try await open(login)
        try await store.rows(of: "t").insert(.item("1", [:]))
        #expect(try await store.push().outcome == .complete)
        try await store.rows(of: "t").insert(.item("2", [:]))
        try await store.close()
        let before = network.requests.count
        for other in [user("annÉ"), user("Anne\u{301}"), user("Ann"), AccessToken("opaque", user: "bob")] {
            login.use(other)
            let store = try await open(login)
            let last = try await store.setting(StoreUser.setting)
            let end = store.lastEvent
            let pushed = try await store.push()
            #expect(pushed.reason?.code == .otherUser && pushed.operations.map(\.outcome) == [.pending])
            #expect(try await store.pull("t").reason?.code == .otherUser)
            #expect(try await store.sync(["t", "empty"]).pulls.isEmpty)
            #expect(try await store.pending().map(\.isFrozen) == [false])
            await #expect(throws: SyncError.self) { try await store.erase() }
            // Nothing is recorded, however often it is tried: no event, and no opening.
            #expect(try await store.setting(StoreUser.setting) == last && store.lastEvent == end)
            try await store.close()
        }
        #expect(network.requests.count == before)
        // The same user's next token, with other claims and another spelling.
        login.use(user("Ann\\u00E9", #","iat":7"#))
        let again = try await open(login)
        #expect(try await again.push().outcome == .complete)
        try await again.close()
    }

    @Test func `a refused push says of each operation why it stays`() async throws {
        let login = Login(user("ann"))
        let store = try await open(login)
        #expect(try await store.pull("t").reason == nil)
        for id in ["1", "2"] { try await store.rows(of: "t").insert(.item(id, [:])) }
        try await store.hold(table: "t", id: "1")
        login.use(user("bob"))
        store.forgetServer()
        #expect(try await store.push().operations.map(\.reason) == [.held, .stopped(.otherUser)])
        try await store.close()
    }

    @Test func `a token without a name changes nothing`() async throws {
        let login = Login(user("ann"))
        let store = try await open(login)
        #expect(try await store.pull("t").reason == nil)
        login.use("opaque")
        store.forgetServer()
        try await store.rows(of: "t").insert(.item("1", [:]))
        #expect(try await store.push().outcome == .complete)
        login.use(user("bob"))
        store.forgetServer()
        #expect(try await store.pull("t").reason?.code == .otherUser)
        try await store.close()
    }

    @Test func `a token that is renewed for another user ends the push before anything is sent with it`() async throws {
        let login = Login(user("ann"))
        let store = try await open(login)
        try await store.rows(of: "t").insert(.item("1", [:]))
        network.script([.answer(status: 401)])
        let asked = try await store.push()
        #expect(asked.reason?.code == .unauthorized)
        login.use(user("ann"))
        network.script([.answer(status: 401)])
        login.use(user("bob"))
        let report = try await store.push()
        #expect(report.reason?.code == .otherUser)
        #expect(network.requests.allSatisfy { $0.headers.value("X-ZUMO-AUTH") != user("bob").text })
        login.use(user("ann"))
        store.forgetServer()
        #expect(try await store.push().outcome == .complete)
        try await store.close()
    }

    @Test func `a store without rows and changes becomes another user's, and reads from the beginning`() async throws {
        let login = Login(user("ann"))
        let store = try await open(login)
        var settings = PullSettings(queryID: "all")
        #expect(try await store.pull("t", settings).reason == nil)
        try await store.purge(table: "t")
        #expect(try await store.pull("empty", settings).reason == nil)
        let reader = try store.reader
        #expect(try reader.cursors().count == 1)
        login.use(user("bob"))
        store.forgetServer()
        // A push has nothing to send, and decides nothing.
        #expect(try await store.push().outcome == .complete)
        settings.queryID = "all"
        #expect(try await store.pull("t", settings).reason == nil)
        #expect(try store.reader.cursors().map(\.table) == ["t"])
        login.use(user("ann"))
        store.forgetServer()
        #expect(try await store.pull("t", settings).reason?.code == .otherUser)
        try await store.close()
    }

    @Test func `the cursors are reset before the store is another user's, whenever the process is killed`() async throws
    {
        let store = try await open(Login(user("ann")))
        #expect(try await store.pull("empty", PullSettings(queryID: "all")).reason == nil)
        let events = try store.reader.admission(of: StoreUser("bob"), mayTakeOver: true)
        #expect(events.count == 2)
        guard case .cursorReset? = events.first, case .configured(StoreUser.setting, _)? = events.last else {
            Issue.record("\(events)")
            return
        }
        try await store.close()
    }

    @Test func `a store with a branch is not another user's, and a copy is its user's`() async throws {
        let login = Login(user("ann"))
        let path = NSTemporaryDirectory() + "syncline-user-\(UUID().uuidString)"
        defer { try? FileManager.default.removeItem(atPath: path) }
        var configuration = SyncConfiguration.test()
        (configuration.credentials, configuration.transport) = (login, network)
        let store = try await SyncDatabase.open(at: path, configuration)
        #expect(try await store.pull("empty").reason == nil)
        try await store.makeBranch("idea")
        login.use(user("bob"))
        store.forgetServer()
        #expect(try await store.pull("empty").reason?.code == .otherUser)
        try await store.close()
        let mine = try await open(Login(user("ann")))
        #expect(try await mine.pull("t").reason == nil)
        try await mine.close()
        let copy = try await open(login, storage.copy())
        #expect(try await copy.pull("empty").reason?.code == .otherUser)
        try await copy.close()
    }

    @Test func `direct calls are not the store's`() async throws {
        let login = Login(user("ann"))
        let store = try await open(login)
        #expect(try await store.pull("t").reason == nil)
        login.use(user("bob"))
        store.forgetServer()
        #expect(try await store.backend().rows(of: "t").get(id: "theirs") != nil)
        #expect(try await store.pull("t").reason?.code == .otherUser)
        try await store.close()
    }
}
