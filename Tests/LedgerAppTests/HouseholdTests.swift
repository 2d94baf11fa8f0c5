// The ledger of households at the real server: three users, two households, and every recipe of the guide "Sharing between
// users", with devices that are offline when their rights change.

import Foundation
import Syncline
import SynclineCore
import SynclineGround
import SynclineWire
import Testing

@testable import LedgerApp
@testable import SynclineServer

/// The server of the sample's configuration, at a free port.
private final class World {
    let server: Server
    let folder: String
    private static let secret = "a secret of the tests, long enough to be one"
    static let root = URL(filePath: #filePath).deletingLastPathComponent().appending(path: "../..")

    init() throws {
        folder = FileManager.default.temporaryDirectory.appending(path: "ledger-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        server = try Server(try World.configuration(folder))
    }

    deinit {
        server.stop()
        try? FileManager.default.removeItem(atPath: folder)
    }

    private static func configuration(_ folder: String) throws -> ServerConfiguration {
        let file = try Data(contentsOf: root.appending(path: "tools/ledger/server.json"))
        guard case .object(var members) = try Value(json: Array(file)) else { throw CocoaError(.fileReadCorruptFile) }
        let own: [String: Value] = [
            "store": .string("sqlite:\(folder)/ledger.db"), "listen": "127.0.0.1:0",
        ]
        for place in members.indices { members[place].value = own[members[place].name] ?? members[place].value }
        members.append(.init("log", "none"))
        return try ServerConfiguration(.object(members)) { _ in Array(secret.utf8) }
    }

    static func token(_ user: String) -> String {
        func part(_ bytes: [UInt8]) -> String {
            String(Base64.encode(bytes).filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
        }
        let claims = Value.object([.init("sub", .string(user)), .init("exp", .integer(4_000_000_000))]).json
        let signed = part(Array(#"{"alg":"HS256"}"#.utf8)) + "." + part(Array(claims.utf8))
        return signed + "." + part(TokenSignature.keyedHash(of: Array(signed.utf8), key: Array(secret.utf8)))
    }

    /// The ledger in a store, with a user's token.
    func ledger(_ user: String, in store: String? = nil, _ kind: ServerProtocol) async throws -> Ledger {
        var configuration = SyncConfiguration(
            serverProtocol: kind, backend: server.url, credentials: FixedToken(World.token(user)))
        configuration.log.segmentSize = .mebibytes(1)
        let database = try await SyncDatabase.open(at: "\(folder)/\(store ?? user)", configuration)
        return try await Ledger(database, in: .gmt)
    }
}

extension Ledger {
    @discardableResult
    fileprivate func sync() async throws -> SyncReport { try await database.sync(Ledger.tables) }

    fileprivate func texts() async throws -> [String] { try await entries.all().map(\.text).sorted() }

    fileprivate func names() async throws -> [String] { try await households.all().map(\.name).sorted() }

    fileprivate func add(_ text: String, to account: Account.ID) async throws -> Entry {
        try await entries.insert(
            Entry(accountID: account, date: Date(timeIntervalSince1970: 0), amount: -1, text: text))
    }
}

@Suite(.timeLimit(.minutes(10))) struct HouseholdTests {
    private let world: World

    init() throws { world = try World() }

    /// A household with an account and entries.
    private func household(
        _ name: String, of ledger: Ledger, _ user: String, with texts: [String]
    ) async throws -> (home: Household.ID, account: Account.ID) {
        let home = try await ledger.begin(name, as: user)
        let account = try await ledger.accounts.insert(Account(householdID: home.id, name: "Giro"))
        for text in texts { _ = try await ledger.add(text, to: account.id) }
        #expect(try await ledger.sync().reason == nil)
        return (home.id, account.id)
    }

    @Test(arguments: ServerProtocol.allCases)
    func `three users share two households, and each sees what is theirs`(_ kind: ServerProtocol) async throws {
        let (ann, bob) = (try await world.ledger("ann", kind), try await world.ledger("bob", kind))
        let eve = try await world.ledger("eve", kind)
        let home = try await household("Home", of: ann, "ann", with: ["rent"])
        let office = try await household("Office", of: bob, "bob", with: ["paper"])
        for ledger in [ann, bob, eve] { #expect(try await ledger.sync().reason == nil) }
        #expect(try await [ann.texts(), bob.texts(), eve.texts()] == [["rent"], ["paper"], []])

        try await ann.invite("bob", to: home.home)
        try await bob.invite("eve", to: office.home)
        for ledger in [ann, bob, eve, bob] { #expect(try await ledger.sync().reason == nil) }
        #expect(try await [bob.texts(), bob.names()] == [["paper", "rent"], ["Home", "Office"]])
        #expect(try await [eve.texts(), eve.names()] == [["paper"], ["Office"]])
        #expect(try await ann.texts() == ["rent"])

        _ = try await bob.add("coffee", to: home.account)
        #expect(try await bob.sync().reason == nil)
        #expect(try await ann.sync().reason == nil)
        #expect(try await ann.texts() == ["coffee", "rent"])
        // A user can't invite himself, and nothing of the attempt is lost silently.
        try await eve.invite("eve", to: home.home)
        #expect(try await eve.sync().reason?.code == .pushIncomplete)
        #expect(try await eve.database.issues().map(\.kind) == [.refused])
        for ledger in [ann, bob, eve] { try await ledger.database.close() }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a member who is removed while offline keeps only their own edits, in front of them`(
        _ kind: ServerProtocol
    ) async throws {
        let (ann, bob) = (try await world.ledger("ann", kind), try await world.ledger("bob", kind))
        let home = try await household("Home", of: ann, "ann", with: ["rent", "food", "fuel"])
        try await ann.invite("bob", to: home.home)
        #expect(try await ann.sync().reason == nil)
        #expect(try await bob.sync().reason == nil)
        let rows = Dictionary(uniqueKeysWithValues: try await bob.entries.all().map { ($0.text, $0.id) })
        let (rent, food) = (try #require(rows["rent"]), try #require(rows["food"]))

        // Offline, Bob edits, deletes and adds; meanwhile Ann removes him.
        try await bob.entries.update(id: rent) { $0.text = "rent!" }
        try await bob.entries.delete(id: food)
        let new = try await bob.add("new", to: home.account)
        try await ann.remove("bob", from: home.home)
        #expect(try await ann.sync().reason == nil)

        var lists = try bob.newest().observe().makeAsyncIterator()
        #expect(try await lists.next()?.count == 3)
        #expect(try await bob.sync().reason?.code == .pushIncomplete)
        let issues = try await bob.database.issues()
        #expect(Set(issues.compactMap(\.rowID)) == Set([rent, food, new.id].map(\.uuidString)))
        let conflicts = try await bob.entries.conflicts()
        for (id, reason) in [(rent, ConflictReason.rightLost), (food, .rightLost), (new.id, .rejected)] {
            #expect(conflicts.first { $0.id == id.uuidString }?.conflict.reason == reason)
        }
        #expect(issues.allSatisfy { $0.kind == .refused })
        let fuel = try #require(rows["fuel"]).uuidString
        #expect(try await bob.database.absence(Entry.table, id: fuel) == .rightLost)
        // The rest is gone at once, also from lists that are shown.
        #expect(try await bob.texts() == ["new", "rent!"])
        #expect(try await lists.next()?.map(\.model.text).sorted() == ["new", "rent!"])
        #expect(try await [bob.names().count, bob.accounts.all().count] == [0, 0])

        // Nothing of it reaches Ann, however often it is pushed.
        #expect(try await bob.sync().reason?.code == .pushIncomplete)
        #expect(try await ann.sync().reason == nil)
        #expect(try await ann.texts() == ["food", "fuel", "rent"])

        // Bob gives them up, or Ann lets him in again.
        for issue in issues where issue.rowID == new.id.uuidString {
            try await bob.database.resolve(issue, .discard)
        }
        try await ann.invite("bob", to: home.home, as: .owner)
        #expect(try await ann.sync().reason == nil)
        _ = try await bob.sync()
        for issue in try await bob.database.issues() {
            try await bob.database.resolve(issue, issue.kind == .refused ? .retry : .decide(.keepMine))
        }
        #expect(try await bob.sync().reason == nil)
        #expect(try await ann.sync().reason == nil)
        for ledger in [ann, bob] { #expect(try await ledger.texts() == ["fuel", "rent!"]) }
        for ledger in [ann, bob] { try await ledger.database.close() }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `members add and change what is in a household, and owners delete it`(_ kind: ServerProtocol) async throws {
        let (ann, bob) = (try await world.ledger("ann", kind), try await world.ledger("bob", kind))
        let home = try await household("Home", of: ann, "ann", with: ["rent"])
        let category = try await ann.categories.insert(Category(householdID: home.home, name: "Food"))
        try await ann.invite("bob", to: home.home)
        for ledger in [ann, bob] { #expect(try await ledger.sync().reason == nil) }
        let rent = try #require(try await bob.entries.all().first).id
        try await bob.entries.update(id: rent) { $0.text = "rent 2" }
        let own = try await bob.add("own", to: home.account)
        #expect(try await bob.sync().reason == nil)

        try await bob.entries.where { $0.accountID == home.account }.delete()
        try await bob.accounts.delete(id: home.account)
        try await bob.categories.delete(id: category.id)
        #expect(try await bob.sync().reason?.code == .pushIncomplete)
        let issues = try await bob.database.issues()
        #expect(issues.count == 4 && issues.allSatisfy { $0.kind == .refused && $0.conflict?.status == 403 })
        // A member can't make himself an owner, either.
        let member = try #require(try await bob.members.all().first { $0.user == "bob" })
        try await bob.members.update(id: member.id) { $0.role = .owner }
        #expect(try await bob.sync().reason?.code == .pushIncomplete)
        for issue in try await bob.database.issues() where issue.rowID == member.id.uuidString {
            try await bob.database.resolve(issue, .discard)
        }
        try await ann.members.update(id: member.id) { $0.role = .owner }
        #expect(try await ann.sync().reason == nil)
        for issue in try await bob.database.issues() where issue.rowID == own.id.uuidString {
            try await bob.database.resolve(issue, .retry)
        }
        for issue in try await bob.database.issues() { try await bob.database.resolve(issue, .discard) }
        #expect(try await bob.sync().reason == nil)
        #expect(try await ann.sync().reason == nil)
        for ledger in [ann, bob] { #expect(try await ledger.texts() == ["rent 2"]) }
        for ledger in [ann, bob] { try await ledger.database.close() }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a household is handed over, and the former owner leaves`(_ kind: ServerProtocol) async throws {
        let (ann, bob) = (try await world.ledger("ann", kind), try await world.ledger("bob", kind))
        let home = try await household("Home", of: ann, "ann", with: ["rent"])
        await #expect(throws: SyncError.self) { try await ann.handOver(home.home, to: "bob") }
        try await ann.invite("bob", to: home.home)
        #expect(try await ann.sync().reason == nil)
        #expect(try await bob.sync().reason == nil)
        // Only the owner can.
        try await bob.handOver(home.home, to: "bob")
        #expect(try await bob.sync().reason?.code == .pushIncomplete)
        for issue in try await bob.database.issues() { try await bob.database.resolve(issue, .discard) }

        try await ann.handOver(home.home, to: "bob")
        try await ann.remove("ann", from: home.home)
        #expect(try await ann.sync().reason == nil)
        #expect(try await [ann.texts().count, ann.names().count, ann.members.all().count] == [0, 0, 0])
        #expect(try await bob.sync().reason == nil)
        #expect(try await [bob.texts(), bob.members.all().map(\.user)] == [["rent"], ["bob"]])
        #expect(try await bob.households.all().map(\.owner) == ["bob"])
        try await bob.invite("eve", to: home.home)
        #expect(try await bob.sync().reason == nil)
        for ledger in [ann, bob] { try await ledger.database.close() }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a member leaves, and a household is deleted with everything in it`(_ kind: ServerProtocol) async throws {
        let (ann, bob) = (try await world.ledger("ann", kind), try await world.ledger("bob", kind))
        let eve = try await world.ledger("eve", kind)
        let home = try await household("Home", of: ann, "ann", with: ["rent", "food"])
        let category = try await ann.categories.insert(Category(householdID: home.home, name: "Food"))
        try await ann.budgets.insert(
            Budget(categoryID: category.id, month: try #require(CalendarDay("2026-01-01")), limit: 9))
        // Ann's own row is hardly ever the last one by its id.
        for user in ["bob", "eve", "c", "d", "e", "f"] { try await ann.invite(user, to: home.home) }
        for ledger in [ann, bob, eve] { #expect(try await ledger.sync().reason == nil) }
        try await eve.remove("eve", from: home.home)
        #expect(try await eve.sync().reason == nil)
        #expect(try await [eve.texts(), eve.names()] == [[], []])

        try await ann.delete(home.home)
        for ledger in [ann, bob] {
            #expect(try await ledger.sync().reason == nil)
            let tables = try await ledger.database.tables()
            for table in tables {
                let rows = try await ledger.database.rows(of: table).query(RowQuery(table: table)).rows
                #expect(rows.isEmpty, "\(table)")
            }
            #expect(try await ledger.database.issues().isEmpty)
        }
        for ledger in [ann, bob, eve] { try await ledger.database.close() }
    }

    @Test(arguments: ServerProtocol.allCases)
    func `a device that changes its user sends nothing of the former's, and keeps nothing`(
        _ kind: ServerProtocol
    ) async throws {
        var device = try await world.ledger("ann", in: "device", kind)
        let home = try await household("Home", of: device, "ann", with: ["rent"])
        _ = try await device.add("waits", to: home.account)
        try await device.database.close()

        // Bob signs in without a sign-out.
        device = try await world.ledger("bob", in: "device", kind)
        let pushed = try await device.sync()
        #expect(pushed.reason?.code == .otherUser && pushed.pulls.isEmpty)
        #expect(try await device.database.pull(Entry.table).reason?.code == .otherUser)
        await #expect(throws: SyncError.self) { try await device.signOut() }
        #expect(try await device.texts() == ["rent", "waits"])
        try await device.database.close()

        // What waits is Ann's, and her token sends it.
        device = try await world.ledger("ann", in: "device", kind)
        try await device.signOut()
        device = try await world.ledger("bob", in: "device", kind)
        #expect(try await device.sync().reason == nil)
        #expect(try await [device.texts().count, device.database.pending().count] == [0, 0])
        try await device.database.close()
        let other = try await world.ledger("ann", in: "other", kind)
        #expect(try await other.sync().reason == nil)
        #expect(try await other.texts() == ["rent", "waits"])
        try await other.database.close()
    }

    @Test func `the guide has the rules of the sample`() throws {
        func bare(_ file: String) throws -> String {
            try String(contentsOf: World.root.appending(path: file), encoding: .utf8).filter { !$0.isWhitespace }
        }
        let (guide, server) = (
            try bare("Sources/Syncline/Syncline.docc/Sharing-between-users.md"), try bare("tools/ledger/server.json")
        )
        let block = try #require(guide.split(separator: "```json").dropFirst().first?.split(separator: "```").first)
        #expect(server.contains(block.dropFirst().dropLast()))
    }
}
