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
final class Login: CredentialProvider {
    private let current: Mutex<AccessToken?>
    init(_ token: AccessToken?) { current = Mutex(token) }

    func use(_ token: AccessToken?) { current.withLock { $0 = token } }

    func token(insteadOf refused: String?) async throws -> AccessToken? {
        let token = current.withLock { $0 }
        return refused != nil && token?.text == refused ? nil : token
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

    @Test func `a token without a name sends nothing of a user, and serves a store without one`() async throws {
        let login = Login("opaque")
        let store = try await open(login)
        try await store.rows(of: "t").insert(.item("1", [:]))
        #expect(try await store.push().outcome == .complete)
        #expect(try await store.pull("t").reason == nil)
        // The first user who is named has what was made before.
        for token in [user("ann"), user("ann", #","iat":7"#)] {
            login.use(token)
            store.forgetServer()
            #expect(try await store.pull("t").reason == nil)
        }
        try await store.rows(of: "t").insert(.item("2", [:]))
        let before = network.requests.count
        for token in ["opaque", "", .anonymous, AccessToken("opaque", user: "bob")] as [AccessToken] {
            login.use(token)
            store.forgetServer()
            #expect(try await store.push().reason?.code == .otherUser)
            #expect(try await store.pull("t").reason?.code == .otherUser)
            #expect(try await store.sync(["t"]).reason?.code == .otherUser)
        }
        #expect(network.requests.count == before)
        login.use(AccessToken("opaque", user: "ann"))
        store.forgetServer()
        #expect(try await store.push().outcome == .complete)
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

    @Test func `a store without rows and changes is not another user's, because its history is not`() async throws {
        let login = Login(user("ann"))
        let store = try await open(login)
        #expect(try await store.pull("t", PullSettings(queryID: "all")).reason == nil)
        try await store.purge(table: "t")
        login.use(user("bob"))
        store.forgetServer()
        // A push has nothing to send, and decides nothing.
        #expect(try await store.push().outcome == .complete)
        #expect(try await store.pull("t").reason?.code == .otherUser)
        try await store.erase()
        let next = try await open(login)
        #expect(try await next.pull("t").reason == nil)
        try await next.close()
    }

    @Test func `a copy of a store is its user's`() async throws {
        let mine = try await open(Login(user("ann")))
        #expect(try await mine.pull("t").reason == nil)
        try await mine.close()
        let copy = try await open(Login(user("bob")), storage.copy())
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
